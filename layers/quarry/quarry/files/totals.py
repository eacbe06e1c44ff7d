"""Whether the last row of a file sums up those above it, by arithmetic alone: no word is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from quarry.files.value_types import cell_types
from quarry.files.writing import plain_number

SUMMED_ROWS_MIN = 2
CERTAIN_FROM_ROWS = 3
"""Numbers of fewer rows add up by chance."""


@dataclass(frozen=True)
class Summed:
    """A column and its sum, which stands in the last row; certain where the row also lacks what all rows above have."""

    column: int
    total: str
    is_certain: bool


@dataclass
class _Column:
    values: int = 0
    total: Decimal = Decimal(0)
    is_number: bool = True


@dataclass
class Totals:
    """The sums of columns of which all values so far are numbers."""

    width: int
    rows: int = 0
    _columns: list[_Column] = field(init=False)

    def __post_init__(self) -> None:
        self._columns = [_Column() for _ in range(self.width)]

    def add(self, cells: Sequence[object]) -> None:
        """Take in a row."""
        self.rows += 1
        for column, cell in zip(self._columns, cells, strict=False):
            if cell == "":
                continue
            column.values += 1
            if column.is_number:
                number = _number(cell)
                column.is_number = number is not None
                column.total += number or 0

    def summed_by(self, cells: Sequence[object]) -> Summed | None:
        """The first column whose sum stands in these cells; None where none does, or where they may be any row's."""
        found: Summed | None = None
        lacks, differs = False, False
        for place, (column, cell) in enumerate(zip(self._columns, cells, strict=False)):
            number = None if cell == "" else _number(cell)
            lacks = lacks or (column.values == self.rows and (cell == "" or (column.is_number and number is None)))
            if not column.is_number or column.values < SUMMED_ROWS_MIN or number is None:
                continue
            if number and number == column.total:
                found = found or Summed(place, str(cell), is_certain=False)
            else:
                differs = True
        are_many = self.rows >= CERTAIN_FROM_ROWS
        if found is None or not (are_many or lacks) or (differs and not lacks):
            return None
        return Summed(found.column, found.total, is_certain=lacks and are_many and not differs)


def _number(cell: object) -> Decimal | None:
    if isinstance(cell, bool) or not isinstance(cell, (str, int, float, Decimal)):
        return None
    text = str(cell)
    if isinstance(cell, str) and "numeric" not in cell_types(cell):
        text = plain_number(cell, ".") or plain_number(cell, ",") or ""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
