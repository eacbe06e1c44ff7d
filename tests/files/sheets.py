"""Spreadsheets made of rows, as small as they may be."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

Cells = Sequence[Sequence[object]]

_EPOCH = datetime.date(1899, 12, 30)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def xlsx(sheets: Mapping[str, Cells]) -> bytes:
    """A workbook; dates are numbers of days in cells of a date's style, as Excel has them."""
    numbers = range(1, len(sheets) + 1)
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in zip(numbers, sheets, strict=True)
    )
    targets = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" Type="{_RELATIONS}/officeDocument"'
        ' Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{targets}'
        f'<Relationship Id="s" Type="{_RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    for n, rows in zip(numbers, sheets.values(), strict=True):
        body = "".join(f'<row r="{at}">{"".join(map(_xlsx_cell, row))}</row>' for at, row in enumerate(rows, start=1))
        parts[f"xl/worksheets/sheet{n}.xml"] = f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>'
    return _zipped(parts)


def _xlsx_cell(value: object) -> str:
    match value:
        case None:
            return "<c/>"
        case bool():
            return f'<c t="b"><v>{int(value)}</v></c>'
        case int() | float():
            return f"<c><v>{value}</v></c>"
        case datetime.date():
            return f'<c s="1"><v>{(value - _EPOCH).days}</v></c>'
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def _zipped(parts: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()
