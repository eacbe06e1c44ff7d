"""Files as people have them: each is read right, or one line says what to do."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.files import encodings, json_records
from quarry.files.encodings import known_encoding
from quarry.files.reading import read_records
from quarry.files.records import UnreadableFile
from quarry.files.writing import GUESSED, ReadOptions
from tests.platform.sheets import ods, xlsx

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
            ("id,name\n1,José Muñoz\n2,Peña\n", "windows-1252"),
            ("id,price\n1,£12\n2,£3\n", "windows-1252"),
            ("id,price\n1,12 €\n2,3 €\n", "windows-1252"),
            ("id,note\n1,It’s “fine” – really\n", "windows-1252"),
            ("id,nazwa\n1,Łódź\n2,Kraków\n3,Gdańsk\n", "windows-1250"),
            ("id,имя\n1,Мария\n2,Иван Петров\n", "windows-1251"),
            ("id,isim\n1,Şükrü Yılmaz\n2,Ağaoğlu\n", "windows-1254"),
            ("id,名前\n1,山田太郎\n2,東京都\n", "cp932"),
            ("编号,名称\n1,北京市\n2,上海\n", "gb18030"),
            ("번호,이름\n1,김철수\n2,서울\n", "cp949"),
            ("id,name\n1,Müller\n2,Café\n", "utf-16-le"),
            ("id,name\n1,Müller\n2,Café\n", "utf-16-be"),
            ("id,name\r1,Müller\r2,Café\r", "mac-roman"),
        ],
    )
    def test_what_text_is_in_is_found_and_told(self, text: str, encoding: str) -> None:
        expected = read(text.replace("\r", "\n").encode())[0]
        rows, notes = read(text.encode(encoding))
        assert rows == expected
        assert notes == [f"a.csv: read as {encoding}, which is a guess: --encoding NAME reads it as another"]
        assert read(gzip.compress(text.encode(encoding))) == (rows, notes)

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_a_byte_order_mark_leaves_nothing_to_guess(self, encoding: str) -> None:
        assert read("id,name\n1,Müller\n".encode(encoding)) == ([{"id": "1", "name": "Müller"}], [])
        assert read('[{"id": "é"}]'.encode(encoding), "a.json") == ([{"id": "é"}], [])

    def test_the_encoding_that_is_said_is_taken(self) -> None:
        content = "id,name\n1,Ж\n".encode("koi8-r")
        assert read(content, options=ReadOptions(encoding="koi8-r")) == ([{"id": "1", "name": "Ж"}], [])

    @given(st.integers(0, 40), st.sampled_from(["windows-1252", "utf-8"]))
    def test_it_is_found_wherever_the_first_letter_that_tells_it_stands(self, plain: int, encoding: str) -> None:
        text = "id,name\n" + "1,Elm\n" * plain + "2,Jürgen Müller\n3,Grün & Söhne\n"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encodings, "_CHUNK_BYTES", 7)
            assert read(text.encode(encoding))[0] == read(text.encode())[0]

    def test_a_line_that_is_not_in_the_encoding_of_the_others_is_named(self) -> None:
        for content, options, encoding in (
            ("id,name\n1,Müller\n2,x\n3,Köln\n".encode().replace(b"x", b"\xff"), GUESSED, "UTF-8"),
            (b"id,name\n1,M\n2,\x81\n", ReadOptions(encoding="cp1252"), "cp1252"),
        ):
            with read_records(io.BytesIO(content), "a.csv", options) as file:
                assert [(record.number, record.problem) for record in file.records if record.problem] == [
                    (3, f"is not {encoding}")
                ]

    def test_text_that_cannot_be_in_what_was_said_is_refused(self) -> None:
        assert refused(b"id\n\xff", options=ReadOptions(encoding="utf-16")).startswith("a.csv: is not in utf-16: ")

    @pytest.mark.parametrize("name", ["klingon", "base64"])
    def test_an_encoding_that_does_not_exist_is_told(self, name: str) -> None:
        with pytest.raises(ValueError, match=f"there is no encoding '{name}'; common ones are utf-8, "):
            known_encoding(name)


class TestCsv:
    def test_lines_may_end_as_on_an_old_mac(self) -> None:
        assert read(b'id,name\r1,"two\rlines"\r2,Oak\r')[0] == [
            {"id": "1", "name": "two\nlines"},
            {"id": "2", "name": "Oak"},
        ]

    def test_a_line_end_within_a_cell_is_told(self) -> None:
        with read_records(io.BytesIO(b"id,name\n1,a\rb\n2,c\n"), "a.csv") as file:
            assert [record.problem for record in file.records] == [
                "has a line end (CR) within a cell: put the cell in quotes",
                "",
            ]

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

    def test_a_header_with_few_names_is_no_title(self) -> None:
        assert read(b"id,,,,\n1,a,b,c,d\n") == (
            [{"id": "1", "column_2": "a", "column_3": "b", "column_4": "c", "column_5": "d"}],
            [],
        )

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ("1,Elm\n2,Oak\n", "'1' over '2'"),
            ("Elm,2031-04-07\nOak,2031-04-08\n", "'2031-04-07' over '2031-04-08'"),
            ("Elm,31.12.2030\nOak,1.1.2031\n", "'31.12.2030' over '1.1.2031'"),
            ('Elm,"12,50"\nOak,"9,00"\n', "'12,50' over '9,00'"),
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

    @pytest.mark.parametrize(
        "content", ["country,2030,2031\nOmo,67,68\n", "name,2031\nElm,\n", "a,b\n", "2031,2032\n5,7\n"]
    )
    def test_years_over_other_numbers_are_names(self, content: str) -> None:
        assert read(content.encode())[1] == []

    def test_the_line_of_the_header_may_be_said(self) -> None:
        content = b"Plan,2031\nx,1\nid,n\n1,2\n"
        rows, notes = read(content, options=ReadOptions(header=3))
        assert rows == [{"id": "1", "n": "2"}]
        assert notes == [
            "a.csv: left out line 1, above the header: Plan, 2031",
            "a.csv: left out line 2, above the header: x, 1",
        ]
        assert refused(content, options=ReadOptions(header=9)) == "a.csv: no row begins on line 9 near its beginning"

    def test_a_header_that_comes_again_is_left_out_and_told(self) -> None:
        rows, notes = read(b"id,name\n1,Elm\nid,name\n2,Oak\nid,name\n")
        assert rows == [{"id": "1", "name": "Elm"}, {"id": "2", "name": "Oak"}]
        assert notes == ["a.csv: left out line 3, 5, which repeats the names of the columns"]

    def test_empty_cells_behind_the_last_column_are_no_fault(self) -> None:
        assert read(b"id,name,\n1,Elm,\n2,Oak,,\n")[0] == [{"id": "1", "name": "Elm"}, {"id": "2", "name": "Oak"}]

    @pytest.mark.parametrize("content", [bytes(range(256)) * 9, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\n\xff"])
    def test_a_file_that_is_no_text_is_told(self, content: bytes) -> None:
        assert refused(content) == "a.csv: is no text, and no spreadsheet that is read: save it as CSV or .xlsx"

    def test_text_that_is_called_a_spreadsheet_is_read(self) -> None:
        assert read(b"id\tname\n1\tElm\n", "a.xls")[0] == [{"id": "1", "name": "Elm"}]

    @pytest.mark.parametrize(("content", "called"), [(b"%PDF-1.7\n", "a PDF"), (b"\n<html><table>", "HTML or XML")])
    def test_a_file_without_rows_is_told_what_it_is(self, content: bytes, called: str) -> None:
        assert refused(content) == f"a.csv: is {called}, which has no rows to read: save it as CSV or as a spreadsheet"


class TestTotals:
    ROWS = "id,name,amount\n1,Elm,10.50\n2,Oak,4.00\n3,Ash,0.50\n"

    @pytest.mark.parametrize("total", [",,15.00", "Total,,15", ",Summe,15.0", "Total,all of them,15.00"])
    def test_a_last_row_that_sums_up_the_others_is_left_out_and_told(self, total: str) -> None:
        amount = total.rpartition(",")[2]
        rows, notes = read(f"{self.ROWS}{total}\n".encode())
        assert len(rows) == 3
        assert notes == [f"a.csv: left out line 5, which sums up those above (amount {amount}): --no-total keeps it"]
        assert len(read(f"{self.ROWS}{total}\n".encode(), options=ReadOptions(total=False))[0]) == 4

    def test_numbers_are_summed_as_they_are_written(self) -> None:
        rows, _ = read(b'id,amount\n1,"1.000,50"\n2,"2,00"\n3,"0,50"\nTotal,"1.003,00"\n')
        assert len(rows) == 3

    @pytest.mark.parametrize("last", ["4,Fir,15.00", "4,,16.00", "4,,", "Total,,16"])
    def test_a_row_of_its_own_is_kept(self, last: str) -> None:
        assert (len(rows := read(f"{self.ROWS}{last}\n".encode())[0])) == 4, rows

    def test_a_sum_that_may_be_chance_is_kept_and_told(self) -> None:
        content = b"tree,count\nElm,1\nOak,2\nAsh,3\nFir,6\n"
        rows, notes = read(content)
        assert (len(rows), notes) == (4, ["a.csv: line 5 may sum up those above (count 6): --total leaves it out"])
        assert len(read(content, options=ReadOptions(total=True))[0]) == 3


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

    def test_records_may_lie_deeper(self) -> None:
        envelope = {"status": "ok", "response": {"total": 3, "docs": self.ROWS}}
        rows, notes = read(json.dumps(envelope).encode(), "a.json")
        assert (rows, notes) == (self.ROWS, ["a.json: its records are those of 'response.docs'; left out status"])

    @pytest.mark.parametrize("is_long", [False, True])
    def test_of_several_lists_none_is_chosen(self, monkeypatch: pytest.MonkeyPatch, is_long: bool) -> None:
        if is_long:
            monkeypatch.setattr(json_records, "RECORD_MAX_BYTES", 20)
        content = json.dumps({"users": self.ROWS, "orders": self.ROWS}).encode()
        assert refused(content, "a.json") == "a.json: holds several lists, users, orders: make each a file of its own"

    def test_records_with_lists_are_records(self) -> None:
        orders: list[dict[str, Any]] = [{"id": n, "lines": [{"n": 1}]} for n in (1, 2)]
        lines = [*map(json.dumps, orders)]
        for text in (json.dumps(orders), "\n".join(lines), "".join(lines), json.dumps(orders[0], indent=1) + lines[1]):
            assert read(text.encode(), "a.json")[0] == orders
        assert read(b'{"id": 1, "tags": ["a"]}', "a.json")[0] == [{"id": 1, "tags": ["a"]}]


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
        plain = [row[:4] for row in self.ROWS]
        assert read(ods(plain), "a.ods")[0] == [{k: v for k, v in each.items() if k != "paid"} for each in self.RECORDS]

    def test_titles_and_totals_are_no_records(self) -> None:
        rows: list[list[object]] = [["Trees of 2031"], [], *self.ROWS, [3, "Ash", 1, DAY, True], [None, None, 15.5]]
        found, notes = read(xlsx({"A": rows}), "a.xlsx")
        assert [each["id"] for each in found if isinstance(each, dict)] == [1, 2, 3]
        assert notes == [
            "a.xlsx: left out row 1, above the header: Trees of 2031",
            "a.xlsx: left out row 7, which sums up those above (amount 15.5): --no-total keeps it",
        ]

    def test_of_several_sheets_one_is_named(self) -> None:
        content = xlsx({"Trees": self.ROWS, "Shrubs": self.ROWS[:2], "Empty": []})
        assert refused(content, "a.xlsx") == "a.xlsx: has 2 sheets, Trees, Shrubs: --sheet 'Trees' takes that one"
        assert read(content, "a.xlsx", ReadOptions(sheet="Shrubs"))[0] == self.RECORDS[:1]
        assert (
            refused(content, "a.xlsx", ReadOptions(sheet="Herbs"))
            == "a.xlsx: has no sheet 'Herbs', but Trees, Shrubs, Empty"
        )
        assert refused(xlsx({"Empty": []}), "a.xlsx") == "a.xlsx: holds no rows"

    @pytest.mark.parametrize(
        "content", [b"", b"PK\x03\x04", xlsx({"A": ROWS})[:-40], b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]
    )
    def test_what_is_no_spreadsheet_is_told(self, content: bytes) -> None:
        assert (
            refused(content, "a.xlsx")
            == "a.xlsx: is not a spreadsheet, or is damaged: .xlsx, .xls and .ods are read, a zip archive is not"
        )

    def test_without_its_library_the_package_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "python_calamine", None)
        assert refused(b"PK\x03\x04").endswith("which is not installed: pip install 'quarry-search[sheets]'")
