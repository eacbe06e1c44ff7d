"""Files as people have them: each is read right, or one line says what to do."""

from __future__ import annotations

import datetime
import gzip
import io
import json
from pathlib import Path

import pytest

from quarry.files import reading
from quarry.files.forms import GUESSED, ReadOptions
from quarry.files.reading import files_in, read_records
from quarry.files.records import Record, UnreadableFile
from tests.files.sheets import xlsx

Read = tuple[list[object], list[str]]

ROWS = [{"id": "a", "title": "Elm"}, {"id": "b", "title": "Oak"}]
CSV = b"id,title\na,Elm\nb,Oak\n"


def records(content: bytes, name: str = "a.csv", options: ReadOptions = GUESSED) -> tuple[list[Record], list[str]]:
    """The records of a file, and what was said of it."""
    with read_records(io.BytesIO(content), name, options) as file:
        return list(file.records), file.notes


def read(content: bytes, name: str = "a.csv", options: ReadOptions = GUESSED) -> Read:
    """The fields of a file's records, of which none is malformed, and what was said of it."""
    found, notes = records(content, name, options)
    assert [record.problem for record in found] == [""] * len(found)
    return [record.fields for record in found], notes


def refused(content: bytes, name: str = "a.csv", options: ReadOptions = GUESSED) -> str:
    with pytest.raises(UnreadableFile) as refusal:
        records(content, name, options)
    assert "\n" not in refusal.value.message
    return refusal.value.message


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        b"\xef\xbb\xbf" + CSV,
        CSV.replace(b",", b"\t"),
        json.dumps(ROWS).encode(),
        "\n".join(json.dumps(row) for row in ROWS).encode(),
        "\n".join(json.dumps(row, indent=2) for row in ROWS).encode(),
    ],
)
def test_the_format_is_known_by_content_packed_or_not(content: bytes) -> None:
    assert read(content, "rows")[0] == read(gzip.compress(content), "rows")[0] == ROWS


def test_a_link_that_leads_out_of_the_folder_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret.csv").write_bytes(CSV)
    (folder / "own.csv").write_bytes(CSV)
    (folder / "inner.csv").symlink_to(folder / "own.csv")
    (folder / "leads-out.csv").symlink_to("../secret.csv")
    (folder / "via.csv").symlink_to("leads-out.csv")
    found, outside = files_in(folder)
    assert [path.name for path in found] == ["inner.csv", "own.csv"]
    assert [path.name for path in outside] == ["leads-out.csv", "via.csv"]


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
def test_the_encoding_is_found_and_told(text: str, encoding: str) -> None:
    expected = read(text.replace("\r", "\n").encode())[0]
    rows, notes = read(text.encode(encoding))
    assert rows == expected
    assert notes == [f"a.csv: read as {encoding}, which is a guess: use --encoding NAME for another"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"x", "has 1 cells, the header 2"),
        (b"x,y,z", "has 3 cells, the header 2"),
        (b'x,"y"z', "has text after a closing quote: double each quote that belongs to a text"),
    ],
)
def test_a_wrong_row_is_named_and_the_others_are_read(row: bytes, problem: str) -> None:
    found, _ = records(b"id,title\na,Elm\n" + row + b"\nb,Oak\n")
    assert found == [Record(2, ROWS[0]), Record(3, problem=problem), Record(4, ROWS[1])]


@pytest.mark.parametrize(("above", "said"), [("Sales 2031\n", "Sales 2031"), ("Report:,Sales\n", "Report:, Sales")])
def test_a_title_above_the_header_is_left_out_and_told(above: str, said: str) -> None:
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
def test_a_first_line_that_may_be_a_row_is_asked_about(content: str, why: str) -> None:
    assert refused(content.encode()) == (
        f"a.csv: line 1 may be a row of data instead of column names ({why}):"
        " use --no-header if it is, --header 1 if it is not"
    )
    rows, notes = read(content.encode(), options=ReadOptions(header=0))
    assert isinstance(rows[0], dict)
    assert rows[0]["column_1"] == content.splitlines()[0].split(",")[0]
    assert notes == ["a.csv: its columns have no names and become column_1 to column_2"]
    assert len(read(content.encode(), options=ReadOptions(header=1))[0]) == 1


@pytest.mark.parametrize("total", [",,15.00", "Total,,15", "Total,all of them,15.00"])
def test_a_last_row_that_sums_up_the_others_is_left_out_and_told(total: str) -> None:
    content = f"id,name,amount\n1,Elm,10.50\n2,Oak,4.00\n3,Ash,0.50\n{total}\n".encode()
    amount = total.rpartition(",")[2]
    rows, notes = read(content)
    assert len(rows) == 3
    assert notes == [f"a.csv: left out line 5, which sums up those above (amount {amount}): --no-total keeps it"]
    assert len(read(content, options=ReadOptions(total=False))[0]) == 4


@pytest.mark.parametrize("is_long", [False, True])
def test_an_object_around_the_records_is_taken_off_and_told(monkeypatch: pytest.MonkeyPatch, is_long: bool) -> None:
    envelope = {"count": 3, "data": ROWS, "next": None, "meta": {"a": [1]}}
    if is_long:
        monkeypatch.setattr(reading, "RECORD_MAX_BYTES", 30)
    rows, notes = read(json.dumps(envelope).encode(), "a.json")
    assert (rows, notes) == (ROWS, ["a.json: its records are in 'data'; left out count, next, meta"])


@pytest.mark.parametrize("rest", ['{"id":', "nonsense]", '{"id": "a"} {"id": "b"}]', '{"id": "b"}', "[" * 100_000])
def test_what_is_malformed_is_named_and_ends_the_file(rest: str) -> None:
    found, _ = records(f'[{{"id": "a"}}, {rest}'.encode(), "rows")
    assert found[0].fields == {"id": "a"}
    assert found[-1].problem == "is not valid JSON in UTF-8; the rest was not read"


def test_values_are_what_they_are_in_a_sheet() -> None:
    day = datetime.date(2031, 4, 7)
    rows: list[list[object]] = [
        ["id", "name", "amount", "on", "paid"],
        [1, "Elm", 10.5, day, True],
        [2, "007", 4, None, False],
    ]
    assert read(xlsx({"A": rows}), "a.xlsx") == (
        [
            {"id": 1, "name": "Elm", "amount": 10.5, "on": day, "paid": True},
            {"id": 2, "name": "007", "amount": 4, "paid": False},
        ],
        [],
    )


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", xlsx({"A": [["id"], [1]]})[:-40]])
def test_what_is_no_spreadsheet_is_told(content: bytes) -> None:
    assert (
        refused(content, "a.xlsx")
        == "a.xlsx: is not a spreadsheet, or is damaged: .xlsx, .xls and .ods can be read, zip archives cannot"
    )
