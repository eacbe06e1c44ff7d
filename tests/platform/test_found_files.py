"""Files as people have them: each is read right, or one line says what to do."""

from __future__ import annotations

import datetime
import gzip
import io
import json

import pytest

from quarry.files import json_records
from quarry.files.reading import read_records
from quarry.files.records import UnreadableFile
from quarry.files.writing import GUESSED, ReadOptions
from tests.platform.sheets import xlsx

Read = tuple[list[object], list[str]]


def read(content: bytes, name: str = "a.csv", options: ReadOptions = GUESSED) -> Read:
    """The records of a file, of which none is malformed, and what was said of it."""
    with read_records(io.BytesIO(content), name, options) as file:
        records = list(file.records)
        assert [record.problem for record in records] == [""] * len(records)
        return [record.fields for record in records], file.notes


def refused(content: bytes, name: str = "a.csv", options: ReadOptions = GUESSED) -> str:
    with pytest.raises(UnreadableFile) as refusal, read_records(io.BytesIO(content), name, options) as file:
        list(file.records)
    assert "\n" not in refusal.value.message
    return refusal.value.message


class TestEncodings:
    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            ("id,name\n1,Jürgen Müller\n2,Café\n", "windows-1252"),
            ("id,nazwa\n1,Łódź\n2,Kraków\n3,Gdańsk\n", "windows-1250"),
            ("id,имя\n1,Мария\n2,Иван Петров\n", "windows-1251"),
            ("编号,名称\n1,北京市\n2,上海\n", "gb18030"),
            ("id,name\n1,Müller\n2,Café\n", "utf-16-le"),
            ("id,name\r1,Müller\r2,Café\r", "mac-roman"),
        ],
    )
    def test_what_text_is_in_is_found_and_told(self, text: str, encoding: str) -> None:
        expected = read(text.replace("\r", "\n").encode())[0]
        rows, notes = read(text.encode(encoding))
        assert rows == expected
        assert notes == [f"a.csv: read as {encoding}, which is a guess: --encoding NAME reads it as another"]
        assert read(gzip.compress(text.encode(encoding))) == (rows, notes)

    def test_a_line_that_is_not_in_the_encoding_of_the_others_is_named(self) -> None:
        for content, options, encoding in (
            ("id,name\n1,Müller\n2,x\n3,Köln\n".encode().replace(b"x", b"\xff"), GUESSED, "UTF-8"),
            (b"id,name\n1,M\n2,\x81\n", ReadOptions(encoding="cp1252"), "cp1252"),
        ):
            with read_records(io.BytesIO(content), "a.csv", options) as file:
                assert [(record.number, record.problem) for record in file.records if record.problem] == [
                    (3, f"is not {encoding}")
                ]


class TestCsv:
    @pytest.mark.parametrize("hint", ["sep=;", '"sep=;"', "SEP=;", "\ufeffsep=;"])
    def test_the_delimiter_that_the_first_line_says_is_taken(self, hint: str) -> None:
        assert read(f"{hint}\r\na;b, c, d\r\n1;2, 3, 4\r\n".encode()) == ([{"a": "1", "b, c, d": "2, 3, 4"}], [])

    @pytest.mark.parametrize(
        ("above", "said"),
        [("Sales 2031\n", "Sales 2031"), ("Sales,,,\n\n", "Sales"), ("Report:,Sales\n", "Report:, Sales")],
    )
    def test_a_title_above_the_header_is_left_out_and_told(self, above: str, said: str) -> None:
        rows, notes = read(f"{above}id,name,amount,kind\n1,Elm,3,x\n2,Oak,4,y\n".encode())
        assert rows[0] == {"id": "1", "name": "Elm", "amount": "3", "kind": "x"}
        assert notes == [f"a.csv: left out line 1, above the header: {said}"]

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ("1,Elm\n2,Oak\n", "'1' over '2'"),
            ("Elm,2031-04-07\nOak,2031-04-08\n", "'2031-04-07' over '2031-04-08'"),
            ("Elm,tree\nOak,tree\n", "'tree' over 'tree'"),
        ],
    )
    def test_a_first_line_that_may_be_a_row_is_asked_about(self, content: str, why: str) -> None:
        assert refused(content.encode()) == (
            f"a.csv: line 1 may be a row instead of names of columns ({why}):"
            " --no-header if it is a row, --header 1 if it is not"
        )
        first = content.splitlines()[0].split(",")[0]
        rows, notes = read(content.encode(), options=ReadOptions(header=0))
        assert isinstance(rows[0], dict)
        assert rows[0]["column_1"] == first
        assert notes == ["a.csv: its columns have no names: they are called column_1 to column_2"]
        assert len(read(content.encode(), options=ReadOptions(header=1))[0]) == 1

    def test_a_header_that_comes_again_is_left_out_and_told(self) -> None:
        rows, notes = read(b"id,name\n1,Elm\nid,name\n2,Oak\nid,name\n")
        assert rows == [{"id": "1", "name": "Elm"}, {"id": "2", "name": "Oak"}]
        assert notes == ["a.csv: left out line 3, 5, which repeats the names of the columns"]


class TestTotals:
    ROWS = "id,name,amount\n1,Elm,10.50\n2,Oak,4.00\n3,Ash,0.50\n"

    @pytest.mark.parametrize("total", [",,15.00", "Total,,15", ",Summe,15.0", "Total,all of them,15.00"])
    def test_a_last_row_that_sums_up_the_others_is_left_out_and_told(self, total: str) -> None:
        amount = total.rpartition(",")[2]
        rows, notes = read(f"{self.ROWS}{total}\n".encode())
        assert len(rows) == 3
        assert notes == [f"a.csv: left out line 5, which sums up those above (amount {amount}): --no-total keeps it"]
        assert len(read(f"{self.ROWS}{total}\n".encode(), options=ReadOptions(total=False))[0]) == 4


class TestJson:
    ROWS = [{"id": n} for n in range(1, 4)]

    @pytest.mark.parametrize("indent", [None, 2])
    @pytest.mark.parametrize("is_long", [False, True])
    def test_an_object_around_the_records_is_taken_off_and_told(
        self, monkeypatch: pytest.MonkeyPatch, indent: int | None, is_long: bool
    ) -> None:
        envelope = {"count": 3, "data": self.ROWS, "next": None, "meta": {"a": [1]}}
        if is_long:
            monkeypatch.setattr(json_records, "RECORD_MAX_BYTES", 20)
        rows, notes = read(json.dumps(envelope, indent=indent).encode(), "a.json")
        assert (rows, notes) == (self.ROWS, ["a.json: its records are those of 'data'; left out count, next, meta"])
        assert read(json.dumps(envelope, indent=indent).encode(), "response")[0] == self.ROWS


DAY = datetime.date(2031, 4, 7)


class TestSheets:
    ROWS: list[list[object]] = [
        ["id", "name", "amount", "on", "paid"],
        [1, "Elm", 10.5, DAY, True],
        [2, "007", 4, None, False],
    ]
    RECORDS: list[dict[str, object]] = [
        {"id": 1, "name": "Elm", "amount": 10.5, "on": DAY, "paid": True},
        {"id": 2, "name": "007", "amount": 4, "paid": False},
    ]

    def test_values_are_what_they_are_in_the_sheet(self) -> None:
        assert read(xlsx({"A": self.ROWS}), "a.xlsx") == (self.RECORDS, [])
        assert read(gzip.compress(xlsx({"A": self.ROWS})), "a")[0] == self.RECORDS

    @pytest.mark.parametrize(
        "content", [b"", b"PK\x03\x04", xlsx({"A": ROWS})[:-40], b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]
    )
    def test_what_is_no_spreadsheet_is_told(self, content: bytes) -> None:
        assert (
            refused(content, "a.xlsx")
            == "a.xlsx: is not a spreadsheet, or is damaged: .xlsx, .xls and .ods are read, a zip archive is not"
        )
