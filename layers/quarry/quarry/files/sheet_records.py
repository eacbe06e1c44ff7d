"""Rows of spreadsheets (.xlsx, .xls, .ods). Needs python-calamine, which the extra `sheets` installs."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, BinaryIO, TypeVar

from quarry.files.records import RECORD_MAX_BYTES, UnreadableFile
from quarry.files.rows import Row
from quarry.files.sheet_scan import Cell, SheetFacts, scanned

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
            self.sheet = _unpanicked(lambda: _chosen(workbook, name, sheet))
            found = _unpanicked(lambda: workbook.get_sheet_by_name(self.sheet))
            self._start: Cell = found.start or (0, 0)
            self._rows: list[list[object]] = _unpanicked(lambda: found.to_python(skip_empty_area=True))
            merged: list[tuple[Cell, Cell]] = found.merged_cell_ranges or []
        except (calamine.CalamineError, OSError) as error:
            raise UnreadableFile(f"{name}: its sheet {sheet or ''} is damaged".replace("  ", " ")) from error
        self._facts = facts.get(self.sheet) or SheetFacts()
        if filled := self._fill([*merged, *self._facts.merged]):
            notes.append(f"{name}: {filled:,} cells that were merged now each hold the value of the merged cell")

    def _fill(self, merged: list[tuple[Cell, Cell]]) -> int:
        """Give merged cells in several rows the value of the first one; how many had none."""
        top, left = self._start
        filled = 0
        for (row, column), (last, _) in merged:
            if row <= top or last == row or not left <= column:
                continue  # a title, or part of a header of several rows
            place = column - left
            cells = [each for each in self._rows[row - top : last - top + 1] if place < len(each)]
            for each in cells[1:]:
                if each[place] == "":
                    each[place] = cells[0][place]
                    filled += each[place] != ""
        return filled

    def __iter__(self) -> Iterator[Row]:
        top, left = self._start
        for row, values in enumerate(self._rows, start=top):
            cells = [self._padded((row, column), _cell(value)) for column, value in enumerate(values, start=left)]
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


def _unpanicked(read: Callable[[], T]) -> T:
    """What a function of python-calamine returns. Raises OSError where it panics, as it does over some damaged files."""
    try:
        return read()
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise OSError(str(error)) from error
        raise


def _chosen(workbook: Any, name: str, wanted: str | None) -> str:
    names: list[str] = workbook.sheet_names
    if wanted is not None:
        if wanted not in names:
            raise UnreadableFile(f"{name}: has no sheet {wanted!r}; it has {', '.join(names)}")
        return wanted
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
