from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.files import csv_records, json_records, records
from quarry.files.csv_records import DELIMITERS, CsvRows, delimiter_of
from quarry.files.json_records import json_lines, json_values
from quarry.files.reading import files_in, format_of, open_records, read_records
from quarry.files.records import RECORD_MAX_BYTES, Record, RecordFile, UnreadableFile
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
            CSV.replace(b"\n", b"\r\n"),
            LINES,
            b"\n" + LINES,
            json.dumps(ROWS).encode(),
            b"\xef\xbb\xbf" + json.dumps(ROWS, indent=2).encode(),
            "\n".join(json.dumps(row, indent=2) for row in ROWS).encode(),
        ],
    )
    def test_it_is_known_by_content_packed_or_not(self, content: bytes) -> None:
        assert fields(content) == fields(gzip.compress(content)) == ROWS

    def test_parquet_is_known_by_content_packed_or_not(self) -> None:
        assert fields(parquet(ROWS)) == fields(gzip.compress(parquet(ROWS))) == ROWS

    @pytest.mark.parametrize(
        ("name", "head", "format"),
        [
            ("a.csv", b"{", "csv"),
            ("a.TSV.gz", b"[", "csv"),
            ("a.jsonl", b"[", "jsonl"),
            ("a.ndjson", b"id,title", "jsonl"),
            ("a.json", b"[", "json"),
            ("a.json", LINES, "jsonl"),
            ("a.json", b'{\n "id": 1}', "json"),
            ("a.json", b"id,title", "json"),
            ("a.parquet", b"", "parquet"),
            ("a.txt", b"id|title", "csv"),
            ("a", b"PAR1", "parquet"),
        ],
    )
    def test_an_ending_that_tells_it_decides(self, name: str, head: bytes, format: Format) -> None:
        assert format_of(name, head) == format

    def test_the_one_that_is_asked_for_decides_over_all(self) -> None:
        assert fields(b"{a}\n1\n", "a.json", "csv") == [{"{a}": "1"}]

    def test_a_pipe_is_read_to_its_end_though_it_comes_piece_by_piece(self) -> None:
        reading, writing = os.pipe()

        def write() -> None:
            with open(writing, "wb", buffering=0) as pipe:  # noqa: PTH123 -- a descriptor has no path
                pipe.writelines(bytes([byte]) for byte in CSV)

        writer = threading.Thread(target=write)
        writer.start()
        with open(reading, "rb") as pipe, read_records(pipe, "standard input") as file:  # noqa: PTH123
            assert [record.fields for record in file.records] == ROWS
            assert file.bytes_read() == len(CSV)
        writer.join()

    def test_damaged_gzip_is_told(self) -> None:
        whole = gzip.compress(os.urandom(10_000))
        for content in (whole[:-9], whole[:5000] + b"\0" * 100 + whole[5100:], b"\x1f\x8b"):
            with pytest.raises(UnreadableFile, match=r"^a\.csv: its gzip data is damaged or cut off"):
                read(content, "a.csv")

    def test_the_files_of_a_folder_are_those_of_known_endings_in_order(self, tmp_path: Path) -> None:
        for name in ("b.csv", "a.JSONL", "c.json.gz", "notes.md", ".d.csv", "e.gz"):
            (tmp_path / name).touch()
        (tmp_path / "f.csv").mkdir()
        found, outside = files_in(tmp_path)
        assert ([path.name for path in found], outside) == (["a.JSONL", "b.csv", "c.json.gz"], [])
        with pytest.raises(UnreadableFile, match=r"f\.csv: holds no file that ends in \.csv, "):
            files_in(tmp_path / "f.csv")

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
    def test_empty_cells_are_left_out_and_so_is_the_space_around_others(self) -> None:
        assert fields(b'id,title,body\n a ,"","  "\n\n,b,\n') == [{"id": "a"}, {"title": "b"}]

    def test_rows_are_numbered_by_the_line_they_begin_on(self) -> None:
        found = read(b'\nid,title\r\na,"one\r\ntwo"\r\n\r\nb,"say ""hi"""\r\n')
        assert found == [
            Record(3, {"id": "a", "title": "one\r\ntwo"}),
            Record(6, {"id": "b", "title": 'say "hi"'}),
        ]

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
            (b'c,"say ""hi""\n""twice"" and\nd,Fir', 4),
            (b'c,"one\ntwo","","Ash', 5),
        ],
    )
    def test_a_quote_that_is_never_closed_is_named_by_the_line_it_opens_on(self, rows: bytes, line: int) -> None:
        with pytest.raises(UnreadableFile, match=rf"^a\.csv: the quote that opens on line {line} is not closed: "):
            read(CSV + rows, "a.csv")

    def test_a_quote_that_swallows_the_next_row_is_named_by_the_line_it_opens_on(self) -> None:
        [(line, problem), *_] = problems(CSV + b'c,"Ash\nd,"Fir"\n')
        assert (line, problem) == (
            4,
            "has text behind a closing quote: double each quote that belongs to a text; a quote was open since line 4",
        )

    def test_nothing_is_read_behind_a_quote_that_is_never_closed(self) -> None:
        rest = io.BytesIO(b'id,title\n1,"open\n' + b"2,Elm\n" * (4 * RECORD_MAX_BYTES // 6))
        with (
            read_records(rest, "a.csv") as file,
            pytest.raises(UnreadableFile, match=rf"line 2 is not closed within {RECORD_MAX_BYTES} bytes"),
        ):
            next(file.records)
        assert file.bytes_read() < 1.1 * RECORD_MAX_BYTES

    def test_a_line_that_is_too_long_is_one_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in (records, csv_records):
            monkeypatch.setattr(module, "RECORD_MAX_BYTES", 50)
        content = b"id\na\n" + b"x" * 200 + b"\nb\n"
        assert problems(content, "a.csv") == [(3, "is longer than 50 bytes; is a quote not closed?")]
        assert [record.fields for record in read(content, "a.csv")][-1] == {"id": "b"}

    def test_long_cells_are_read(self) -> None:
        assert fields(b"id,title\na," + b"x" * 200_000 + b"\n") == [{"id": "a", "title": "x" * 200_000}]

    def test_columns_without_a_name_of_their_own_get_one(self) -> None:
        with read_records(io.BytesIO(b"id,,id,id_2,,id\n1,2,3,4,5,6\n"), "a.csv") as file:
            assert [record.fields for record in file.records] == [
                {"id": "1", "column_2": "2", "id_3": "3", "id_2": "4", "column_5": "5", "id_4": "6"}
            ]
            assert file.columns == ["id", "id_3", "id_2", "id_4"]

    def test_a_header_that_cannot_be_read_is_told(self) -> None:
        with pytest.raises(UnreadableFile, match=r"^a\.csv: the header has text behind a closing quote"):
            read(b'id,"a"b', "a.csv")
        with pytest.raises(UnreadableFile, match=r"^a\.csv: the quote that opens on line 1 is not closed"):
            read(b'id,"title', "a.csv")

    def test_a_header_of_more_columns_than_postgres_takes_is_refused(self) -> None:
        with pytest.raises(UnreadableFile, match=r"^a\.csv: the header has more than 1600 cells"):
            read(b"x," * 1600 + b"x\n", "a.csv")

    def test_nothing_and_a_header_alone_have_no_rows(self) -> None:
        assert read(b"", "a.csv") == read(b"\n \n", "a.csv") == read(b"id,title", "a.csv") == []

    @pytest.mark.parametrize("delimiter", DELIMITERS)
    def test_the_delimiter_is_found_among_prose(self, delimiter: str) -> None:
        text = f"id{delimiter}title, and more{delimiter}body\n"
        text += "".join(f'{n}{delimiter}"a, b; c"{delimiter}"one, two; three | four\tfive"\n' for n in range(9))
        assert delimiter_of(text) == delimiter

    def test_a_single_column_needs_no_delimiter(self) -> None:
        assert delimiter_of("id\na\n") == delimiter_of("") == ","
        assert delimiter_of("tag|kind, or type\na|b, c\n") == "|"

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

    def test_a_value_that_is_too_long_is_not_gathered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(json_records, "RECORD_MAX_BYTES", 1 << 17)
        long = b'[{"id": "' + b"x" * (1 << 20) + b'"}]'
        with read_records(io.BytesIO(long), "a.json") as file:
            [record] = file.records
            assert file.bytes_read() < len(long)
        assert "or longer than 131072 bytes" in record.problem


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

    def test_times_finer_than_microseconds_lose_what_is_finer(self) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table({"at": pyarrow.array([1_000_000_001], pyarrow.timestamp("ns", tz="UTC"))})
        assert fields(packed(table)) == [{"at": datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.UTC)}]

    def test_what_is_not_parquet_is_told(self) -> None:
        pytest.importorskip("pyarrow")
        for content in (b"", b"PAR1", parquet(ROWS)[:-20]):
            with pytest.raises(UnreadableFile, match=r"^a\.parquet: is not Parquet, or is damaged"):
                read(content, "a.parquet")

    def test_without_pyarrow_the_package_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(UnreadableFile, match=r"a\.parquet: Parquet is read by pyarrow, .* pip install pyarrow"):
            read(b"PAR1", "a.parquet")


def test_a_file_on_disk_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(CSV))
    with open_records(path) as file:
        assert isinstance(file, RecordFile)
        assert (file.name, file.unit, file.columns, file.cells_are_text) == (
            "rows.csv.gz",
            "line",
            ["id", "title"],
            True,
        )
        assert [record.fields for record in file.records] == ROWS
        assert file.bytes_read() == path.stat().st_size
