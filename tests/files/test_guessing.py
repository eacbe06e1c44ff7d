from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import pytest

from quarry.files.forms import ColumnType
from quarry.files.guessing import GuessedTable, TableGuesser
from quarry.files.reading import read_records
from quarry.files.records import Record, RecordFile


def file_of(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = (), *, cells: bool = False) -> RecordFile:
    records = (Record(number, dict(row)) for number, row in enumerate(rows, start=1))
    return RecordFile("rows", "record", records, lambda: 0, columns, cells_are_text=cells)


def guess(*files: RecordFile) -> GuessedTable:
    """The table of all records of these files."""
    guesser = TableGuesser()
    for file in files:
        assert all(guesser.name(header, file) for header in file.columns)
        for record in file.records:
            if isinstance(record.fields, dict):
                guesser.add(record.fields, file, record.number)
    return guesser.guessed()


def guessed(*values: object, cells: bool = False) -> ColumnType:
    """The type of a column with these values."""
    [column] = guess(file_of([{"x": value} for value in values], ["x"], cells=cells)).columns
    return column.type


def keys(text: str) -> tuple[str, ...]:
    with read_records(io.BytesIO(text.encode()), "rows.csv") as file:
        return guess(file).keys


class TestTypes:
    @pytest.mark.parametrize(
        ("cells", "type"),
        [
            (["1", "-20", "0", "9223372036854775807"], "bigint"),
            (["1", "9223372036854775808"], "numeric"),
            (["1", "2.50", ".5", "5.", "-1e6"], "numeric"),
            (["1", "007"], "text"),
            (["yes", "No"], "boolean"),
            (["t", "F"], "boolean"),
            (["yes", "false"], "text"),
            (["no", "se"], "text"),
            (["2024-02-29", "1999-12-31"], "date"),
            (["2023-02-29"], "text"),
            (["2024-02-29 10:00", "2024-02-29T10:00:00.25+0530"], "timestamptz"),
            (["20240229"], "bigint"),
            ([], "text"),
        ],
    )
    def test_cells_are_what_all_of_them_can_be(self, cells: list[str], type: str) -> None:
        assert guessed(*cells, cells=True) == type


class TestRemarks:
    @pytest.mark.parametrize(
        ("cells", "remark"),
        [
            (
                ["12,50", "1.250,00", "-3,5"],
                "3 numbers with a decimal comma (first 12,50 in record 1 of rows): --decimal , reads them as numbers",
            ),
            (
                ["31.12.2024", "1.1.25", "2024-01-31"],
                "1 date as day, month, year (first 31.12.2024 in record 1 of rows); 1 date in one of two orders (first 1.1.25"
                " in record 2 of rows); 1 date as YYYY-MM-DD (first 2024-01-31 in record 3 of rows):"
                " --dates dmy reads them as dates",
            ),
            (
                ["03/04/2024"],
                "1 date in one of two orders (first 03/04/2024 in record 1 of rows):"
                " --dates mdy or dmy reads them as dates",
            ),
            (
                [*"123", "n/a"],
                "3 numbers without decimals (first 1 in record 1 of rows); 1 text (first n/a in record 4 of rows):"
                " --empty 'n/a' reads them as numbers",
            ),
            (["12,50", "x"], ""),
            (["007", "8"], ""),
        ],
    )
    def test_what_keeps_text_from_being_numbers_or_dates_is_told_with_its_place(
        self, cells: list[str], remark: str
    ) -> None:
        [column] = guess(file_of([{"x": cell} for cell in cells], cells=True)).columns
        assert column.remark == remark


class TestKeys:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("code,ID\nx,1\ny,2\n", ("id", "code")),
            ("Ticket No,x\nA-1,1\nA-2,2\n", ("ticket_no",)),
            ("name,email\nAnn Lee,a@b.example\nBo,b@b.example\n", ()),
            ("id,code\n,x\n1,y\n", ()),
            ("id\n", ()),
        ],
    )
    def test_it_is_what_is_named_as_one_and_never_what_is_only_unique(
        self, text: str, expected: tuple[str, ...]
    ) -> None:
        assert keys(text) == expected
