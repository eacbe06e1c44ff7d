"""Rows of spreadsheets (.xlsx, .xls, .ods). Needs python-calamine, which the extra `sheets` installs."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from importlib import import_module
from typing import Any, BinaryIO

from quarry.files.records import UnreadableFile
from quarry.files.rows import Row

_MIDNIGHT = datetime.time()


class SheetRows:
    """The rows of one sheet with any value.

    Raises UnreadableFile, also where several sheets have rows and none is named, and where python-calamine is missing.
    """

    def __init__(self, file: BinaryIO, name: str, sheet: str | None) -> None:
        try:
            calamine = import_module("python_calamine")
        except ModuleNotFoundError:
            raise UnreadableFile(
                f"{name}: reading spreadsheets needs python-calamine, which is not installed: pip install 'quarry-search[sheets]'"
            ) from None
        try:
            workbook: Any = calamine.CalamineWorkbook.from_filelike(file)
        except calamine.PasswordError as error:
            raise UnreadableFile(f"{name}: is protected by a password: save it without one") from error
        except (calamine.CalamineError, OSError) as error:
            raise UnreadableFile(
                f"{name}: is not a spreadsheet, or is damaged: .xlsx, .xls and .ods can be read, zip archives cannot"
            ) from error
        self.sheet = _chosen(workbook, name, sheet)
        try:
            found = workbook.get_sheet_by_name(self.sheet)
            self._first = (found.start or (0, 0))[0] + 1
            self._rows: list[list[object]] = found.to_python(skip_empty_area=True)
        except (calamine.CalamineError, OSError) as error:
            raise UnreadableFile(f"{name}: its sheet {self.sheet!r} is damaged") from error

    def __iter__(self) -> Iterator[Row]:
        for number, values in enumerate(self._rows, start=self._first):
            cells = [_cell(value) for value in values]
            if any(cell != "" for cell in cells):
                yield Row(number, cells)


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
