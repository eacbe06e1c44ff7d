"""Spreadsheets: what a sheet shows is kept or told, and one that would exhaust the machine is refused at once."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

import pytest

from quarry.files.sheet_records import SheetFacts, scanned
from tests.files.sheets import xlsx
from tests.files.test_files import read, records, refused

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
_BOOK = xlsx({"Depots": [["zip", "city"], [1067, "Dresden"]]})


def changed(book: bytes, parts: Mapping[str, str]) -> bytes:
    """A workbook with other parts, packed as spreadsheets are."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        kept = {name: old.read(name).decode() for name in old.namelist()}
        for name, text in {**kept, **parts}.items():
            new.writestr(name, text)
    return made.getvalue()


def with_rows(rows: str, more: str = "", formats: str = "") -> bytes:
    """A workbook whose sheet has these rows; its cell style 1 shows numbers by `formats`."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    styles = f'<numFmts><numFmt numFmtId="170" formatCode="{formats}"/></numFmts>' if formats else ""
    xfs = '<cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs>'
    return changed(
        _BOOK,
        {
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>{more}</worksheet>',
            "xl/styles.xml": f'<styleSheet xmlns="{main}">{styles}{xfs}</styleSheet>',
        },
    )


def text(at: str, said: str) -> str:
    return f'<c r="{at}" t="inlineStr"><is><t>{said}</t></is></c>'


def ods(rows: str) -> bytes:
    """An OpenDocument sheet with these rows."""
    names = " ".join(f'xmlns:{short}="{_OFFICE}:{short}:1.0"' for short in ("office", "table", "text"))
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = f'<m:manifest xmlns:m="{_OFFICE}:manifest:1.0"><m:file-entry m:full-path="/" m:media-type="{kind}"/></m:manifest>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", f"<office:document-content {names}>{body}</office:document-content>")
    return made.getvalue()


def said(value: str, more: str = "") -> str:
    return f'<table:table-cell office:value-type="string"{more}><text:p>{value}</text:p></table:table-cell>'


def row(cells: str, more: str = "") -> str:
    return f"<table:table-row{more}>{cells}</table:table-row>"


HEAD = row(said("plot") + said("crop"))
GAP = '<table:table-cell table:number-columns-repeated="9000"/>'
FAR = f'<row r="1">{text("A1", "plot")}</row><row r="2">{text("A2", "one")}</row>'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xlsx", with_rows(FAR + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
        ("a.xlsx", with_rows(FAR + "<row r='900000'><c s='0' r='ZZ900000'><v>1</v></c></row>")),
        ("a.xlsx", changed(_BOOK, {"xl/sharedStrings.xml": "<sst><si><t>" + "x" * 40_000_000 + "</t></si></sst>"})),
        ("a.ods", ods(HEAD + row(said("x", ' table:number-columns-repeated="2000000000"')))),
        ("a.ods", ods(HEAD + row(said("x"), ' table:number-rows-repeated="2000000000"'))),
        ("a.ods", ods(HEAD + row("", ' table:number-rows-repeated="9000000"') + row(said("x")) + row(GAP + said("x")))),
    ],
)  # fmt: skip
def test_a_small_file_of_a_gigantic_sheet_is_refused(name: str, content: bytes) -> None:
    assert len(content) < 200_000
    assert re.search(r"spans [\d,]+ rows and [\d,]+ columns.*|unpacks from .*", refused(content, name))
    assert "save it as CSV" in refused(content, name)


def test_empty_cells_far_away_are_no_reason_to_refuse() -> None:
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert read(with_rows(FAR + far), "a.xlsx")[0] == [{"plot": "one"}]
    empty = row('<table:table-cell table:number-columns-repeated="16384"/>', ' table:number-rows-repeated="1048574"')
    book = ods(HEAD + row(said("one") + said("rye")) + empty)
    assert read(book, "a.ods")[0] == [{"plot": "one", "crop": "rye"}]


@pytest.mark.parametrize(
    ("format", "shown"), [("00000", "01067"), ("0000000", "0001067"), ("0", 1067), ("#,##0", 1067)]
)
def test_numbers_keep_the_zeros_that_the_sheet_shows(format: str, shown: object) -> None:
    rows = f'<row r="1">{text("A1", "zip")}{text("B1", "city")}</row>'
    rows += f'<row r="2"><c r="A2" s="1"><v>1067</v></c>{text("B2", "Dresden")}</row>'
    assert read(with_rows(rows, formats=format), "a.xlsx")[0] == [{"zip": shown, "city": "Dresden"}]


def test_an_open_document_keeps_the_zeros_that_it_shows() -> None:
    cell = '<table:table-cell office:value-type="float" office:value="1067"><text:p>01067</text:p></table:table-cell>'
    assert read(ods(HEAD + row(cell + said("rye"))), "a.ods")[0] == [{"plot": "01067", "crop": "rye"}]


def test_merged_cells_are_filled_below_the_header_and_told() -> None:
    rows = f'<row r="1">{text("A1", "plot")}{text("B1", "crop")}</row>'
    rows += f'<row r="2">{text("A2", "1")}{text("B2", "rye")}</row><row r="3">{text("A3", "2")}</row>'
    rows += f'<row r="4">{text("A4", "3")}</row><row r="5">{text("A5", "4")}</row>'
    merged = '<mergeCells count="1"><mergeCell ref="B2:B4"/></mergeCells>'
    found, notes = read(with_rows(rows, merged), "a.xlsx")
    crops = [each.get("crop") for each in found if isinstance(each, dict)]
    assert crops == ["rye", "rye", "rye", None]
    assert notes == ["a.xlsx: 2 cells that were merged now each hold the value of the merged cell"]


def test_a_cell_that_no_record_may_have_is_named() -> None:
    long = text("A2", "é" * 5_000_000)
    rows = f'<row r="1">{text("A1", "plot")}</row><row r="2">{long}</row><row r="3">{text("A3", "x")}</row>'
    found, _ = records(with_rows(rows), "a.xlsx")
    assert [each.problem for each in found] == ["has a cell of more than 4 MiB", ""]


def test_binary_workbooks_are_measured() -> None:
    def record(kind: int, content: bytes) -> bytes:
        return bytes([kind, len(content)]) + content

    rows = record(0, (1_048_575).to_bytes(4, "little")) + record(2, (16_383).to_bytes(4, "little") + bytes(8))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.bin", rows)
    assert "spans 1,048,576 rows and 16,384 columns" in refused(made.getvalue(), "a.xlsb")
    assert scanned(io.BytesIO(b"no archive"), "a.xls") == {}
    assert SheetFacts().rows == 0
