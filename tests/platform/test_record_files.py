from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.files import json_records
from quarry.files.csv_records import DELIMITERS, CsvRows
from quarry.files.json_records import json_lines, json_values
from quarry.files.reading import files_in, read_records
from quarry.files.records import Record, UnreadableFile
from quarry.files.rows import HeadedRows
from quarry.files.writing import Format, ReadOptions

ROWS = [{"id": "a", "title": "Elm"}, {"id": "b", "title": "Oak"}]
CSV = b"id,title\na,Elm\nb,Oak\n"
LINES = b'{"id": "a", "title": "Elm"}\n{"id": "b", "title": "Oak"}\n'


AS_GIVEN = ReadOptions(header=1, total=False)


def read(content: bytes, name: str = "rows", format: Format | None = None) -> list[Record]:
    with read_records(io.BytesIO(content), name, ReadOptions(format)) as file:
        return list(file.records)


def fields(content: bytes, name: str = "rows", format: Format | None = None) -> list[object]:
    found = read(content, name, format)
    assert [record.problem for record in found] == [""] * len(found)
    return [record.fields for record in found]


def problems(content: bytes, name: str = "rows") -> list[tuple[int, str]]:
    return [(record.number, record.problem) for record in read(content, name) if record.problem]


def parquet(rows: Sequence[Mapping[str, object]]) -> bytes:
    return packed(pytest.importorskip("pyarrow").Table.from_pylist(rows))


def packed(table: Any) -> bytes:
    file = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(table, file)
    return file.getvalue()


class TestFormat:
    @pytest.mark.parametrize(
        "content",
        [
            CSV,
            b"\xef\xbb\xbf" + CSV,
            CSV.replace(b",", b"\t"),
            LINES,
            json.dumps(ROWS).encode(),
            "\n".join(json.dumps(row, indent=2) for row in ROWS).encode(),
        ],
    )
    def test_it_is_known_by_content_packed_or_not(self, content: bytes) -> None:
        assert fields(content) == fields(gzip.compress(content)) == ROWS

    def test_a_link_that_leads_out_of_the_folder_is_left_out(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        (tmp_path / "secret.csv").write_bytes(CSV)
        (folder / "own.csv").write_bytes(CSV)
        (folder / "again.csv").symlink_to("own.csv")
        (folder / "inner.csv").symlink_to(folder / "own.csv")
        (folder / "leads-out.csv").symlink_to("../secret.csv")
        (folder / "via.csv").symlink_to("leads-out.csv")
        found, outside = files_in(folder)
        assert [path.name for path in found] == ["again.csv", "inner.csv", "own.csv"]
        assert [path.name for path in outside] == ["leads-out.csv", "via.csv"]
        # a folder that is a link itself is the one that was named
        (tmp_path / "link").symlink_to(folder)
        assert len(files_in(tmp_path / "link")[0]) == 3


class TestCsv:
    @pytest.mark.parametrize(
        ("row", "problem"),
        [
            (b"x", "has 1 cells, the header 2"),
            (b"x,y,z", "has 3 cells, the header 2"),
            (b'x,"y"z', "has text behind a closing quote: double each quote that belongs to a text"),
        ],
    )
    def test_a_wrong_row_is_named_and_the_others_are_read(self, row: bytes, problem: str) -> None:
        found = read(b"id,title\na,Elm\n" + row + b"\nb,Oak\n", "a.csv")
        assert found == [Record(2, ROWS[0]), Record(3, problem=problem), Record(4, ROWS[1])]

    @pytest.mark.parametrize(
        ("rows", "line"),
        [
            (b'c,"Ash\nd,Fir\n', 4),
            (b'c,"two\nlines","Ash\nd,Fir\n', 5),
        ],
    )
    def test_a_quote_that_is_never_closed_is_named_by_the_line_it_opens_on(self, rows: bytes, line: int) -> None:
        with pytest.raises(UnreadableFile, match=rf"^a\.csv: the quote that opens on line {line} is not closed: "):
            read(CSV + rows, "a.csv")

    @given(
        st.sampled_from(DELIMITERS),
        st.integers(1, 4).flatmap(
            lambda width: st.lists(st.lists(st.text(max_size=8), min_size=width, max_size=width), max_size=8)
        ),
    )
    def test_what_was_written_is_read(self, delimiter: str, rows: list[list[str]]) -> None:
        written = io.StringIO(newline="")
        names = [f"c{n}" for n in range(len(rows[0]) if rows else 1)]
        csv.writer(written, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([names, *rows])
        content = io.BytesIO(written.getvalue().encode(errors="replace"))
        found = list(HeadedRows(iter(CsvRows(content, delimiter, "rows")), "rows", "line", AS_GIVEN, []))
        rows = [row for row in rows if any(_encodable(cell).strip() for cell in row)]
        expected = [
            {name: text for name, cell in zip(names, row, strict=True) if (text := _encodable(cell).strip())}
            for row in rows
        ]
        assert [record.fields for record in found] == expected


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


class TestJson:
    @given(st.lists(JSON, max_size=6), st.sampled_from([None, 2]), st.booleans(), st.integers(1, 7))
    def test_values_are_read_however_they_are_laid_out(
        self, values: list[Any], indent: int | None, ascii: bool, chunk: int
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_records, "_READ_BYTES", chunk)
            array = json.dumps(values, indent=indent, ensure_ascii=ascii).encode(errors="replace")
            assert [record.fields for record in json_values(io.BytesIO(array))] == json.loads(array)
            objects = [{"value": value} for value in values]
            lines = "\n".join(json.dumps(each) for each in objects).encode()
            assert [record.fields for record in json_lines(io.BytesIO(lines))] == objects
            assert [record.fields for record in json_values(io.BytesIO(lines))] == objects

    @pytest.mark.parametrize(
        "rest",
        ['{"id":', "nonsense]", '{"id": "a"} {"id": "b"}]', "]]", '{"id": "b"}', "[" * 100_000, '{"id": "b"}] 5'],
    )
    def test_what_is_malformed_is_named_and_ends_the_file(self, rest: str) -> None:
        content = f'[{{"id": "a"}}, {rest}'.encode()
        assert problems(content)[-1][1] == "is not valid JSON in UTF-8; what follows was not read"
        assert read(content)[0].fields == {"id": "a"}


class TestParquet:
    def test_types_are_kept_and_nulls_left_out(self) -> None:
        noon = datetime.datetime(2031, 4, 7, 12, tzinfo=datetime.UTC)
        rows: list[dict[str, Any]] = [
            {
                "id": "a",
                "n": 3,
                "date": datetime.date(2031, 4, 7),
                "at": noon,
                "tags": ["x", "y"],
                "props": {"deep": 1.5},
            },
            {"id": "b", "n": None, "date": None, "at": None, "tags": [], "props": None},
        ]
        assert fields(parquet(rows), "a.parquet") == [rows[0], {"id": "b", "tags": []}]
