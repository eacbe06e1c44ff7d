"""Rows of spreadsheets (.xlsx, .xls, .ods). Needs python-calamine, which the extra `sheets` installs."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from importlib import import_module
from posixpath import join, normpath
from typing import Any, BinaryIO, TypeVar
from xml.parsers import expat

from quarry.files.records import RECORD_MAX_BYTES, Row, UnreadableFile

_MIDNIGHT = datetime.time()
T = TypeVar("T")


class SheetRows:
    """The rows of one sheet with any value.

    Numbers that the sheet shows with leading zeros are texts with these; merged cells below the first row all have the value of
    the first one, which is noted.

    Raises UnreadableFile, also where several sheets have rows and none is named, where it would take too much memory, and where
    python-calamine is missing.
    """

    def __init__(self, file: BinaryIO, name: str, sheet: str | None, notes: list[str]) -> None:
        try:
            calamine = import_module("python_calamine")
        except ModuleNotFoundError:
            raise UnreadableFile(
                f"{name}: reading spreadsheets needs python-calamine, which is not installed: pip install 'quarry-search[sheets]'"
            ) from None
        facts = scanned(file, name)
        try:
            workbook: Any = _unpanicked(lambda: calamine.CalamineWorkbook.from_filelike(file))
        except calamine.PasswordError as error:
            raise UnreadableFile(f"{name}: is protected by a password: save it without one") from error
        except (calamine.CalamineError, OSError) as error:
            raise UnreadableFile(
                f"{name}: is not a spreadsheet, or is damaged: .xlsx, .xls and .ods can be read, zip archives cannot"
            ) from error
        try:
            self.sheet = _unpanicked(lambda: _sheet_name(workbook, name, sheet))
            cells = _unpanicked(lambda: workbook.get_sheet_by_name(self.sheet))
            self._start: Cell = cells.start or (0, 0)
            self._rows: list[list[object]] = _unpanicked(lambda: cells.to_python(skip_empty_area=True))
            merged: list[tuple[Cell, Cell]] = cells.merged_cell_ranges or []
        except (calamine.CalamineError, OSError) as error:
            raise UnreadableFile(f"{name}: its sheet {sheet or ''} is damaged".replace("  ", " ")) from error
        self._facts = facts.get(self.sheet) or SheetFacts()
        if filled := self._fill([*merged, *self._facts.merged]):
            notes.append(f"{name}: {filled:,} cells that were merged now each hold the value of the merged cell")

    def _fill(self, merged: list[tuple[Cell, Cell]]) -> int:
        """Give merged cells in several rows the value of the first one; how many had none."""
        top, first_column = self._start
        filled = 0
        for (row, column), (last, _) in merged:
            if row <= top or last == row or not first_column <= column:
                continue  # a title, or part of a header of several rows
            place = column - first_column
            cells = [each for each in self._rows[row - top : last - top + 1] if place < len(each)]
            for each in cells[1:]:
                if each[place] == "":
                    each[place] = cells[0][place]
                    filled += each[place] != ""
        return filled

    def __iter__(self) -> Iterator[Row]:
        top, first_column = self._start
        for row, values in enumerate(self._rows, start=top):
            cells = [
                self._padded((row, column), _cell(value)) for column, value in enumerate(values, start=first_column)
            ]
            if any(isinstance(cell, str) and len(cell) > RECORD_MAX_BYTES for cell in cells):
                yield Row(row + 1, problem=f"has a cell of more than {RECORD_MAX_BYTES >> 20} MiB")
            elif any(cell != "" for cell in cells):
                yield Row(row + 1, cells)

    def _padded(self, place: Cell, cell: object) -> object:
        """A whole number with the leading zeros that the sheet shows."""
        if not isinstance(cell, int) or isinstance(cell, bool) or cell < 0:
            return cell
        digits = self._facts.digits.get(place)
        return self._facts.texts.get(place, str(cell).zfill(digits) if digits else cell)


def _unpanicked(function: Callable[[], T]) -> T:
    """What a function of python-calamine returns. Raises OSError where it panics, as it does over some damaged files."""
    try:
        return function()
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise OSError(str(error)) from error
        raise


def _sheet_name(workbook: Any, name: str, sheet: str | None) -> str:
    names: list[str] = workbook.sheet_names
    if sheet is not None:
        if sheet not in names:
            raise UnreadableFile(f"{name}: has no sheet {sheet!r}; it has {', '.join(names)}")
        return sheet
    filled = [each for each in names if workbook.get_sheet_by_name(each).height]
    if len(filled) > 1:
        raise UnreadableFile(
            f"{name}: has {len(filled)} sheets, {', '.join(filled)}: use --sheet {filled[0]!r} for the first"
        )
    if not filled:
        raise UnreadableFile(f"{name}: holds no rows")
    return filled[0]


def _cell(value: object) -> object:
    """A value as in text files: whole numbers without a fraction, days without a time, durations as text."""
    match value:
        case str():
            return value.strip()
        case float() if value.is_integer() and abs(value) < 1e15:
            return int(value)
        case datetime.datetime() if value.time() == _MIDNIGHT:
            return value.date()
        case datetime.time() | datetime.timedelta():
            return str(value)
    return value


Cell = tuple[int, int]
"""Row and column, from 0."""

PART_MAX_BYTES = 2 << 30
PACKED_FROM_BYTES, PACKED_MAX = 32 << 20, 200
"""A part this large may be no more than so many times as large as it is packed."""
AREA_MAX = 32 << 20
SPARSE_FROM, SPARSE_MAX = 2 << 20, 50
"""A rectangle of this many cells may have no more than so many cells for each that is filled."""
_CHUNK_BYTES = 1 << 20
_TAG_MAX_BYTES = 1 << 16

_CELL = re.compile(rb"<(?:\w+:)?c\s[^>]*>")
_PLACE = re.compile(rb"""<(?:\w+:)?c\s(?:[^>]*?\s)?r=["']([A-Z]{1,3})([0-9]{1,7})["'][^>]*(?<!/)>""")
"""The place of a filled cell; without styles to look at, half as slow as looking at each tag."""
_ROW = re.compile(rb"""<(?:\w+:)?row\s(?:[^>]*\s)?r=["']([0-9]{1,7})["']""")
_REFERENCE = re.compile(rb"""\sr=["']([A-Z]{1,3})([0-9]{1,7})["']""")
_STYLE = re.compile(rb"""\ss=["']([0-9]{1,6})["']""")
_ZEROS = re.compile(r"0{2,20}")


@dataclass
class SheetFacts:
    """What is known of a sheet: the extent of its filled cells, their number, cells that are shown with leading zeros, and
    merged cells as ranges from the first to the last cell.
    """

    rows: int = 0
    columns: int = 0
    filled: int = 0
    texts: dict[Cell, str] = field(default_factory=dict)
    digits: dict[Cell, int] = field(default_factory=dict)
    merged: list[tuple[Cell, Cell]] = field(default_factory=list)

    def add(self, row: int, column: int, *, rows: int = 1, columns: int = 1) -> None:
        """Add a filled cell, or a rectangle of cells with one value."""
        self.rows, self.columns = max(self.rows, row + rows), max(self.columns, column + columns)
        self.filled += rows * columns

    def check(self, name: str, sheet: str) -> None:
        """Raises UnreadableFile where the sheet would be too large."""
        area = self.rows * self.columns
        if area <= SPARSE_FROM or (area <= AREA_MAX and area <= SPARSE_MAX * self.filled):
            return
        spans = f"{name}: its sheet {sheet!r} spans {self.rows:,} rows and {self.columns:,} columns"
        if area > AREA_MAX and self.filled * 2 > area:
            raise UnreadableFile(f"{spans}, too many to read: save it as CSV")
        raise UnreadableFile(
            f"{spans}, with values in {self.filled:,} cells: delete the cells far away, or save it as CSV"
        )


def scanned(file: BinaryIO, name: str) -> Mapping[str, SheetFacts]:
    """The facts of each sheet by name; empty for formats that are no zip archives. The file is at its start afterwards.

    Raises UnreadableFile where reading it would take too much memory.
    """
    file.seek(0)
    try:
        if not zipfile.is_zipfile(file):
            return {}
        with zipfile.ZipFile(file) as archive:
            for part in archive.infolist():
                _check_part(part, name)
            return dict(_sheets(archive, name))
    except (zipfile.BadZipFile, expat.ExpatError, NotImplementedError, EOFError, RuntimeError):
        return {}  # the reader itself says what is wrong
    finally:
        file.seek(0)


def _check_part(part: zipfile.ZipInfo, name: str) -> None:
    size = part.file_size
    if size > PART_MAX_BYTES or (size > PACKED_FROM_BYTES and size > PACKED_MAX * max(part.compress_size, 1)):
        raise UnreadableFile(
            f"{name}: {part.filename} in it unpacks from {part.compress_size:,} to {size:,} bytes: too large to read,"
            " save it as CSV"
        )


def _sheets(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, SheetFacts]]:
    names = {*archive.namelist()}
    if "content.xml" in names:
        facts_by_sheet = _of_ods(archive)
    elif "xl/workbook.xml" in names:
        facts_by_sheet = {sheet: _of_xlsx(archive, path) for sheet, path in _paths(archive) if path in names}
    else:
        facts_by_sheet = {
            path: _of_xlsb(archive, path) for path in sorted(names) if re.fullmatch(r"xl/worksheets/.*\.bin", path)
        }
    for sheet, facts in facts_by_sheet.items():
        facts.check(name, sheet)
        yield sheet, facts


# ---- .xlsx ----


def _attributes(tag: bytes) -> dict[str, str]:
    matches = re.findall(rb"""\s([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", tag)
    return {key.decode(): unescape((one or other).decode(errors="replace")) for key, one, other in matches}


def _tags(text: bytes, *names: str) -> Iterator[dict[str, str]]:
    pattern = rf"<(?:\w+:)?(?:{'|'.join(names)})\s[^>]*>".encode()
    yield from (_attributes(each) for each in re.findall(pattern, text))


def _paths(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Name and part of each sheet."""
    try:
        related = archive.read("xl/_rels/workbook.xml.rels")
    except KeyError:
        return
    targets = {each.get("Id"): each.get("Target", "") for each in _tags(related, "Relationship")}
    for each in _tags(archive.read("xl/workbook.xml"), "sheet"):
        id = next((value for key, value in each.items() if key.rpartition(":")[2] == "id"), None)
        target = targets.get(id, "")
        yield each.get("name", ""), target.lstrip("/") if target.startswith("/") else normpath(join("xl", target))


def _padded(archive: zipfile.ZipFile) -> dict[bytes, int]:
    """The styles that show whole numbers with at least so many digits, by number."""
    try:
        styles = archive.read("xl/styles.xml")
    except KeyError:
        return {}
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in _tags(styles, "numFmt")}
    cells = re.search(rb"<(?:\w+:)?cellXfs\b.*?</(?:\w+:)?cellXfs>", styles, re.DOTALL)
    formats = [codes.get(each.get("numFmtId"), "") for each in _tags(cells[0], "xf")] if cells else []
    return {str(place).encode(): len(code) for place, code in enumerate(formats) if _ZEROS.fullmatch(code)}


def _of_xlsx(archive: zipfile.ZipFile, path: str) -> SheetFacts:
    facts, padded, last_row = SheetFacts(), _padded(archive), 0
    for chunk in _chunks(archive, path, b">"):
        if not padded and (places := _PLACE.findall(chunk)):
            columns = {letters for letters, _ in places}
            facts.add(max(int(row) for _, row in places) - 1, max(map(_column, columns)))
            facts.filled += len(places) - 1
            continue
        last_row = max([last_row, *map(int, _ROW.findall(chunk))])
        for tag in _CELL.findall(chunk):
            if tag.endswith(b"/>"):
                continue  # only a format
            reference = _REFERENCE.search(tag)
            if reference is None:
                facts.add(max(last_row - 1, 0), 0)
                continue
            row, column = int(reference[2]) - 1, _column(reference[1])
            facts.add(row, column)
            style = _STYLE.search(tag) if padded else None
            if style and style[1] in padded:
                facts.digits[row, column] = padded[style[1]]
    return facts


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1


def _chunks(archive: zipfile.ZipFile, path: str, end: bytes) -> Iterator[bytes]:
    """The content of a part, in pieces that end after a tag."""
    rest = b""
    with archive.open(path) as part:
        while piece := part.read(_CHUNK_BYTES):
            whole, _, rest = (rest + piece).rpartition(end)
            rest = rest[-_TAG_MAX_BYTES:]
            yield whole + end


# ---- .xlsb: records of a type, a length, and content ----


def _of_xlsb(archive: zipfile.ZipFile, path: str) -> SheetFacts:
    facts, row = SheetFacts(), 0
    data = archive.read(path)
    place = 0
    while place < len(data):
        kind, place = _number(data, place, 2)
        length, place = _number(data, place, 4)
        first = int.from_bytes(data[place : place + 4], "little")
        if kind == 0:
            row = first
        elif 1 <= kind <= 11:
            facts.add(row, first)
        place += length
    return facts


def _number(data: bytes, place: int, bytes_max: int) -> tuple[int, int]:
    """A number of seven bits a byte, and the place after it."""
    number = 0
    for shift in range(bytes_max):
        byte = data[place + shift] if place + shift < len(data) else 0
        number |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return number, place + shift + 1
    return number, place + bytes_max


# ---- .ods ----


def _of_ods(archive: zipfile.ZipFile) -> dict[str, SheetFacts]:
    reader = _Ods()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    with archive.open("content.xml") as part:
        while piece := part.read(_CHUNK_BYTES):
            parser.Parse(piece)
    return reader.sheets


class _Ods:
    """Reads `content.xml`: repeated rows and cells count as often as they are repeated."""

    def __init__(self) -> None:
        self.sheets: dict[str, SheetFacts] = {}
        self._facts = SheetFacts()
        self._row = self._column = self._rows = 0
        self._cells: list[tuple[int, int]] = []
        self._given: Mapping[str, str] = {}
        self._said = ""
        self._is_in_cell = False

    def start(self, element: str, attributes: dict[str, str]) -> None:
        match element:
            case "table:table":
                self._facts = self.sheets.setdefault(attributes.get("table:name", ""), SheetFacts())
                self._row = 0
            case "table:table-row":
                self._rows, self._column, self._cells = _times(attributes, "table:number-rows-repeated"), 0, []
            case "table:table-cell" | "table:covered-table-cell":
                self._given, self._said, self._is_in_cell = attributes, "", True

    def text(self, text_: str) -> None:
        if self._is_in_cell and len(self._said) < _TAG_MAX_BYTES:
            self._said += text_

    def end(self, element: str) -> None:
        if element in ("table:table-cell", "table:covered-table-cell"):
            self._end_cell()
        elif element == "table:table-row":
            for column, columns in self._cells:
                self._facts.add(self._row, column, rows=self._rows, columns=columns)
            self._row += self._rows

    def _end_cell(self) -> None:
        times, text, attributes = _times(self._given, "table:number-columns-repeated"), self._said.strip(), self._given
        place = self._row, self._column
        if text or "office:value-type" in attributes:
            self._cells.append((self._column, times))
        if attributes.get("office:value-type") == "float" and re.fullmatch(r"0[0-9]{1,20}", text):
            self._facts.texts[place] = text
        rows, columns = (_times(attributes, f"table:number-{each}-spanned") for each in ("rows", "columns"))
        if rows > 1 or columns > 1:
            self._facts.merged.append((place, (self._row + rows - 1, self._column + columns - 1)))
        self._column += times
        self._is_in_cell = False


def _times(attributes: Mapping[str, str], key: str) -> int:
    number = attributes.get(key, "1")
    return max(1, int(number)) if number.isdecimal() and len(number) <= 18 else 1
