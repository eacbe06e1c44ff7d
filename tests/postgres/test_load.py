from __future__ import annotations

import gzip
import json
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.rows import dict_row

from quarry import catalog
from quarry.files.records import UnreadableFile
from quarry.postgres.load import Loaded, LoadError, load_file

MEETING = {"id": "m1", "body": "City Council", "title": "Regular meeting", "date": "2024-03-05"}
SEGMENT = {"id": "s1", "meeting_id": "m1", "text_content": "Good evening."}


@pytest.fixture
def url(shared_url: str) -> Iterator[str]:
    """An empty database: the module's own, emptied after each test."""
    yield shared_url
    with psycopg.connect(shared_url, autocommit=True) as connection:
        connection.execute("truncate meetings, people, onto_projects cascade")


Line = Mapping[str, object] | str | bytes


class Loader:
    """Writes a file of lines and loads it into a table."""

    def __init__(self, url: str, directory: Path) -> None:
        self._url = url
        self._path = directory / "rows.jsonl"

    def __call__(self, table: str, *lines: Line, skip_invalid: bool = False) -> Loaded:
        self._path.write_bytes(b"\n".join(_encoded(line) for line in lines))
        return load_file(self._url, catalog.LOADABLE[table], self._path, skip_invalid=skip_invalid)

    def refused(self, table: str, *lines: Line) -> list[str]:
        """The problems for which the file is refused."""
        with pytest.raises(LoadError) as raised:
            self(table, *lines)
        return [str(problem) for problem in raised.value.problems]

    def rows(self, query: LiteralString) -> list[dict[str, Any]]:
        with psycopg.connect(self._url, row_factory=dict_row) as connection:
            return connection.execute(query).fetchall()


def _encoded(line: Line) -> bytes:
    if isinstance(line, bytes):
        return line
    return (line if isinstance(line, str) else json.dumps(line)).encode()


@pytest.fixture
def loader(url: str, tmp_path: Path) -> Loader:
    return Loader(url, tmp_path)


def counts(loaded: Loaded) -> tuple[int, int, int]:
    return loaded.rows, loaded.changed, loaded.skipped


def test_a_good_file_is_loaded_as_it_is(loader: Loader) -> None:
    whole = MEETING | {
        "attendees": ["Lee, Ann", 'Bo "Bob" {Ortiz}', "\\N", "Zoë\t"],
        "summary": "Line one.\nLine two.\ttab \\ backslash “quoted”",
    }
    assert counts(loader("meetings", whole, "", MEETING | {"id": "m2"})) == (2, 2, 0)
    [row] = loader.rows("select * from meetings where id = 'm1'")
    assert row["attendees"] == ["Lee, Ann", 'Bo "Bob" {Ortiz}', "\\N", "Zoë"]
    assert row["summary"] == whole["summary"]
    assert str(row["date"]) == "2024-03-05"


def test_a_second_load_writes_only_what_changed(loader: Loader) -> None:
    rows = [MEETING | {"id": f"m{number}"} for number in range(10)]
    loader("meetings", *rows)
    before = loader.rows("select id, ctid::text from meetings order by id")
    assert counts(loader("meetings", *rows)) == (10, 0, 0)
    assert loader.rows("select id, ctid::text from meetings order by id") == before
    rows[3] = rows[3] | {"title": "Special meeting"}
    rows[4] = rows[4] | {"location": "Hall"}
    assert counts(loader("meetings", *rows)) == (10, 2, 0)
    assert [row["id"] for row in loader.rows("select id from meetings where title ~ 'Special' or location = 'Hall'")] == [
        "m3", "m4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "m1",', "line 2, line: is not valid JSON in UTF-8"),
        (MEETING | {"date": "2024-02-30"}, "line 2, date: should be a valid date"),
        (MEETING | {"title": " "}, "line 2, title: "),
        (MEETING | {"titel": "typo"}, "line 2, titel: is not a known field"),
        (MEETING | {"title": "a\x00b"}, "line 2, title: must not contain the NUL character"),
        (MEETING | {"title": "\ud800"}, "line 2, title: is not valid Unicode"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("line") else "",
)
def test_a_wrong_row_is_named_by_line_and_field_and_nothing_is_kept(loader: Loader, line: Line, problem: str) -> None:
    [found] = loader.refused("meetings", MEETING, line, MEETING | {"id": "m3"})
    assert found.startswith(problem)
    assert loader.rows("select id from meetings") == []


def test_skip_invalid_keeps_the_valid_rows_and_reports_the_others(loader: Loader) -> None:
    loader("meetings", MEETING)
    loaded = loader(
        "transcript_segments",
        SEGMENT,
        "{",
        SEGMENT | {"text_content": "A duplicate."},
        SEGMENT | {"id": "s2", "meeting_id": "m9"},
        SEGMENT | {"id": "s3", "date": 5.5, "extra": 1},
        SEGMENT | {"id": "s4"},
        skip_invalid=True,
    )
    assert counts(loaded) == (6, 2, 4)
    assert {(problem.line, problem.field) for problem in loaded.problems} == {
        (2, "line"), (3, "id"), (4, "meeting_id"), (5, "date"), (5, "extra"),
    }  # fmt: skip
    assert loader.rows("select id, text_content from transcript_segments order by id") == [
        {"id": "s1", "text_content": "Good evening."},
        {"id": "s4", "text_content": "Good evening."},
    ]


def test_damage_in_the_middle_of_a_file_keeps_nothing_of_it(url: str, loader: Loader, tmp_path: Path) -> None:
    path = tmp_path / "meetings.jsonl.gz"
    lines = "".join(json.dumps(MEETING | {"id": f"m{n}", "title": secrets.token_hex(200)}) + "\n" for n in range(2000))
    path.write_bytes(gzip.compress(lines.encode())[:-100])
    with pytest.raises(UnreadableFile):
        load_file(url, catalog.LOADABLE["meetings"], path, skip_invalid=True)
    assert loader.rows("select id from meetings") == []
