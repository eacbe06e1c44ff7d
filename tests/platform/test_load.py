from __future__ import annotations

import csv
import datetime
import gzip
import json
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.rows import dict_row

from quarry import catalog
from quarry.files import json_records, records
from quarry.files.reading import open_records
from quarry.files.records import UnreadableFile
from quarry.platform.errors import DatabaseUnavailable
from quarry.platform.tables import LoadableTable
from quarry.postgres.load import Loaded, LoadError, load_file, load_records

MEETING = {"id": "m1", "body": "City Council", "title": "Regular meeting", "date": "2024-03-05"}
SEGMENT = {"id": "s1", "meeting_id": "m1", "text_content": "Good evening."}

SEGMENTS = 8000
EXTRA_MEMORY_MAX_KIB = 10 * 1024


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


def test_a_field_that_is_left_out_is_emptied(loader: Loader) -> None:
    loader("meetings", MEETING | {"location": "Hall", "attendees": ["Lee"]})
    assert counts(loader("meetings", MEETING)) == (1, 1, 0)
    assert loader.rows("select location, attendees from meetings") == [{"location": None, "attendees": []}]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "m1",', "line 2, line: is not valid JSON in UTF-8"),
        ("[" * 100_000, "line 2, line: is not valid JSON in UTF-8"),
        ("9" * 5000, "line 2, line: is not valid JSON in UTF-8"),
        ("[]", "line 2, line: should be an object"),
        (MEETING | {"date": "2024-02-30"}, "line 2, date: should be a valid date"),
        (MEETING | {"title": " "}, "line 2, title: "),
        (MEETING | {"id": "m" * 65}, "line 2, id: should have at most 64 characters"),
        (MEETING | {"titel": "typo"}, "line 2, titel: is no field here"),
        (MEETING | {"title": "a\x00b"}, "line 2, title: must not contain the NUL character"),
        (MEETING | {"attendees": ["Lee", "a\x00b"]}, "line 2, attendees.1: must not contain the NUL character"),
        (MEETING | {"title": "\ud800"}, "line 2, title: is not valid Unicode"),
        (MEETING | {"\ud800": 1}, "line 2, line: is not valid Unicode"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("line") else "",
)
def test_a_wrong_row_is_named_by_line_and_field_and_nothing_is_kept(loader: Loader, line: Line, problem: str) -> None:
    [found] = loader.refused("meetings", MEETING, line, MEETING | {"id": "m3"})
    assert found.startswith(problem)
    assert loader.rows("select id from meetings") == []


def test_every_wrong_field_is_named(loader: Loader) -> None:
    problems = loader.refused("meetings", {"id": "m1", "date": "soon", "extra": 1})
    assert [problem.split(":")[0] for problem in problems] == [
        f"line 1, {field}" for field in ("body", "title", "date", "extra")
    ]


def test_numbers_out_of_range_and_not_finite_are_refused(loader: Loader) -> None:
    problems = loader.refused(
        "transcript_segments",
        SEGMENT | {"start_seconds": -1},
        SEGMENT | {"start_seconds": float("inf")},
        SEGMENT | {"end_seconds": float("nan")},
        SEGMENT | {"start_seconds": 10**400},
    )
    assert [problem.split(",")[0] for problem in problems] == ["line 1", "line 2", "line 3", "line 4"]


def test_a_reference_to_nothing_is_refused(loader: Loader) -> None:
    loader("meetings", MEETING)
    assert loader.refused("transcript_segments", SEGMENT, SEGMENT | {"id": "s2", "meeting_id": "m9"}) == [
        "line 2, meeting_id: meetings has no id 'm9'; load it first"
    ]
    assert loader.rows("select id from transcript_segments") == []


def test_an_id_that_comes_twice_is_refused(loader: Loader) -> None:
    assert loader.refused("meetings", MEETING, MEETING | {"id": "m2"}, MEETING, MEETING) == [
        "line 3, id: is also on line 1",
        "line 4, id: is also on line 1",
    ]


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


def test_an_error_names_twenty_problems_and_the_number_of_the_rest(loader: Loader) -> None:
    with pytest.raises(LoadError, match=r"line 20, line: .* \(and 5 more\)$"):
        loader("meetings", *["{"] * 25)


def test_a_line_that_is_too_long_is_one_problem_and_keeps_the_count_of_lines(
    loader: Loader, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (records, json_records):
        monkeypatch.setattr(module, "RECORD_MAX_BYTES", 200)
    exact = _encoded(MEETING).ljust(199)
    for long in (b"x" * 201, b"x" * 402, b"x" * 1000, _encoded(MEETING | {"id": "m2"}).ljust(201)):
        assert loader.refused("meetings", exact, long, "{") == [
            "line 2, line: is longer than 200 bytes",
            "line 3, line: is not valid JSON in UTF-8",
        ]


def test_a_date_is_inherited_from_the_meeting_where_there_is_none(loader: Loader) -> None:
    loader("meetings", MEETING)
    loader(
        "matters", {"id": "a", "title": "Park", "meeting_id": "m1"}, {"id": "b", "title": "Road", "date": "2020-01-01"}
    )
    loader("motions", {"id": "c", "text_content": "Move it.", "meeting_id": "m1", "date": "2020-01-02"})
    dates = loader.rows("select id, date::text from matters union all select id, date::text from motions order by id")
    assert [row["date"] for row in dates] == ["2024-03-05", "2020-01-01", "2020-01-02"]
    assert counts(loader("matters", {"id": "a", "title": "Park", "meeting_id": "m1"})) == (1, 0, 0)


def test_progress_is_told_in_bytes_to_the_end_of_the_file(url: str, tmp_path: Path) -> None:
    path = tmp_path / "meetings.jsonl"
    path.write_text(json.dumps(MEETING) + "\n\n" + json.dumps(MEETING | {"id": "m2"}) + "\n")
    progress: list[int] = []
    with open_records(path) as file:
        load_records(url, catalog.LOADABLE["meetings"], file, on_progress=progress.append)
    assert progress == sorted(progress)
    assert progress[-1] == path.stat().st_size


def test_a_file_of_nothing_loads_nothing(loader: Loader) -> None:
    assert counts(loader("meetings")) == (0, 0, 0)
    assert counts(loader("meetings", "", "  ")) == (0, 0, 0)


def test_a_byte_order_mark_and_windows_line_ends_are_no_problem(loader: Loader) -> None:
    lines = b"\xef\xbb\xbf" + _encoded(MEETING) + b"\r", _encoded(MEETING | {"id": "m2"}) + b"\r\n"
    assert counts(loader("meetings", *lines)) == (2, 2, 0)


def test_a_missing_file_and_an_unreachable_database_say_so(url: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_file(url, catalog.LOADABLE["meetings"], tmp_path / "none.jsonl")
    path = tmp_path / "meetings.jsonl"
    path.touch()
    with pytest.raises(DatabaseUnavailable):
        load_file("postgresql://127.0.0.1:1/none", catalog.LOADABLE["meetings"], path)


def test_cells_of_csv_are_read_as_what_their_fields_are(url: str, loader: Loader, tmp_path: Path) -> None:
    files = {
        "people": "id,name,open_to_work,work_preferred_salary_min,links,work_preferred_locations\n"
        'p1,Ann Lee,yes,1200000.5,https://a.example; https://b.example ;,"[""Bonn; Beuel"", ""Ulm""]"\n'
        "p2,,,,,[Köln]\n",
        "meetings": "id;body;title;date\nm1;Council;Regular; 2024-03-05 \n",
        "onto_projects": "id\tcreated_by\tname\nx\tann\tDoors\n",
        "onto_tasks": 'id,project_id,title,props,created_at\nt,x,Oak,"{""size"": [1, 2]}",2024-03-05T10:00:00+02:00\n',
    }
    for table, text in files.items():
        path = tmp_path / f"{table}.csv"
        path.write_text(text)
        load_file(url, catalog.LOADABLE[table], path)
    ann, other = loader.rows("select * from people order by id")
    assert (ann["open_to_work"], ann["work_preferred_salary_min"]) == (True, Decimal("1200000.5"))
    assert ann["links"] == ["https://a.example", "https://b.example"]
    assert ann["work_preferred_locations"] == ["Bonn; Beuel", "Ulm"]
    assert (other["name"], other["open_to_work"], other["links"]) == (None, False, [])
    assert other["work_preferred_locations"] == ["[Köln]"]
    assert loader.rows("select date::text from meetings") == [{"date": "2024-03-05"}]
    assert loader.rows("select props, created_at = '2024-03-05T08:00Z' as at_eight from onto_tasks") == [
        {"props": {"size": [1, 2]}, "at_eight": True}
    ]


def test_wrong_cells_of_csv_are_named_by_line_and_field(url: str, tmp_path: Path) -> None:
    path = tmp_path / "cards.csv"
    path.write_text(
        "id,person_id,title,intent_primary,start_date,is_current,skills\n"
        'c1,p1,"Two\nlines",work,05.03.2024,perhaps,\n'
        "c2,p1,Short\n"
        f"c3,p1,Title,work,,,a;{'x' * 201}\n"
    )
    with pytest.raises(LoadError) as raised:
        load_file(url, catalog.LOADABLE["experience_cards"], path)
    assert [str(problem).split(":")[0] for problem in raised.value.problems] == [
        "line 2, start_date", "line 2, is_current", "line 4, line", "line 5, skills.1",
    ]  # fmt: skip


def test_columns_that_a_table_does_not_have_are_named_once(url: str, tmp_path: Path) -> None:
    path = tmp_path / "meetings.csv"
    path.write_text("id,titel,date,date\n" + "m1,x,2024-03-05,\n" * 30)
    with pytest.raises(UnreadableFile, match=r"^meetings\.csv: meetings has no field titel, date_2; it has id, body, "):
        load_file(url, catalog.LOADABLE["meetings"], path, skip_invalid=True)


def test_records_of_an_array_are_named_by_their_number(url: str, loader: Loader, tmp_path: Path) -> None:
    path = tmp_path / "meetings.json"
    path.write_text(json.dumps([MEETING, MEETING | {"id": "m2", "date": "soon"}, 5, MEETING], indent=1))
    with pytest.raises(LoadError) as raised:
        load_file(url, catalog.LOADABLE["meetings"], path)
    assert [str(problem).split(":")[0] for problem in raised.value.problems] == [
        "record 2, date", "record 3, record", "record 4, id",
    ]  # fmt: skip
    assert "is also in record 1" in str(raised.value.problems[-1])
    path.write_text(json.dumps([MEETING]) + "x")
    assert load_file(url, catalog.LOADABLE["meetings"], path, skip_invalid=True).skipped == 1
    assert len(loader.rows("select id from meetings")) == 1


def test_parquet_is_loaded_with_its_own_types(url: str, loader: Loader, tmp_path: Path) -> None:
    table = pytest.importorskip("pyarrow").Table.from_pylist(
        [MEETING | {"date": datetime.date(2024, 3, 5), "attendees": ["Lee"], "location": None}]
    )
    path = tmp_path / "meetings.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(table, path)
    assert counts(load_file(url, catalog.LOADABLE["meetings"], path)) == (1, 1, 0)
    assert loader.rows("select date::text, attendees, location from meetings") == [
        {"date": "2024-03-05", "attendees": ["Lee"], "location": None}
    ]


def test_damage_in_the_middle_of_a_file_keeps_nothing_of_it(url: str, loader: Loader, tmp_path: Path) -> None:
    path = tmp_path / "meetings.jsonl.gz"
    lines = "".join(json.dumps(MEETING | {"id": f"m{n}", "title": secrets.token_hex(200)}) + "\n" for n in range(2000))
    path.write_bytes(gzip.compress(lines.encode())[:-100])
    with pytest.raises(UnreadableFile):
        load_file(url, catalog.LOADABLE["meetings"], path, skip_invalid=True)
    assert loader.rows("select id from meetings") == []


@pytest.mark.parametrize("table", catalog.LOADABLE.values(), ids=lambda table: table.name)
def test_every_loadable_table_has_the_columns_of_its_rows(url: str, table: LoadableTable) -> None:
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "select column_name from information_schema.columns where table_name = %s and is_generated = 'NEVER'",
            [table.name],
        ).fetchall()
    kept_by_triggers = {"embedded_hash", "refused_hash", "refusals", "experience_days", "experience_since"}
    assert {name for (name,) in columns} - kept_by_triggers == set(table.columns)


_MEASURE = """
import re, sys
from pathlib import Path
from quarry import catalog
from quarry.files.reading import open_records
from quarry.postgres.load import load_file

def peak_kib():
    # getrusage would tell the peak of the process that started this one
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

def read(path):
    with open_records(path) as file:
        return sum(1 for record in file.records)

def load(path):
    return load_file(sys.argv[3], catalog.LOADABLE["transcript_segments"], path).changed

before = peak_kib()
count = globals()[sys.argv[1]](Path(sys.argv[2]))
print(count, peak_kib() - before)
"""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")


@pytest.fixture(scope="module")
def segments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A large file of segments."""
    return write_segments(tmp_path_factory.mktemp("large") / "segments.jsonl", SEGMENTS)


@on_linux
@pytest.mark.parametrize("format", ["csv", "json", "jsonl.gz"])
def test_a_large_file_of_another_format_is_read_in_bounded_memory(segments: Path, format: str) -> None:
    assert_bounded(segments.stat().st_size, "read", str(converted(segments, format)))


@on_linux
def test_a_large_file_is_loaded_in_bounded_memory(loader: Loader, url: str, segments: Path) -> None:
    loader("meetings", MEETING)
    assert_bounded(segments.stat().st_size, "load", str(segments), url)


def assert_bounded(size: int, *arguments: str) -> None:
    """All segments of a file of `size` bytes of lines are read, in a small part of that memory."""
    run = subprocess.run([sys.executable, "-c", _MEASURE, *arguments], check=True, capture_output=True, text=True)
    count, extra_kib = map(int, run.stdout.split())
    assert count == SEGMENTS
    assert extra_kib < EXTRA_MEMORY_MAX_KIB < size // 1024


def converted(path: Path, format: str) -> Path:
    """The JSON Lines at `path` as another format, in a file beside it."""
    target = path.with_suffix(f".{format}")
    lines = path.read_text().splitlines()
    if format == "csv":
        rows = [json.loads(line) for line in lines]
        with target.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif format == "json":
        target.write_text("[" + ",\n".join(lines) + "]")
    elif format == "jsonl.gz":
        target.write_bytes(gzip.compress(path.read_bytes(), 1))
    return target


def write_segments(path: Path, number: int) -> Path:
    """A file of transcript segments, some 2 kB each: the bytes are the matter, and the database's time goes by the row."""
    text = "We have heard from the residents of the harbour district that the crossing is not safe after dark. " * 20
    with path.open("w") as file:
        for n in range(number):
            file.write(json.dumps(SEGMENT | {"id": f"s{n}", "text_content": f"{n} {text}", "start_seconds": n}) + "\n")
    return path
