"""What a query gives: columns and rows of JSON values."""

from __future__ import annotations

from dataclasses import dataclass

Cell = str | int | float | bool | None | list[str | int | float | bool | None]


@dataclass(frozen=True)
class Column:
    """A column: `unit` is what its numbers are measured in, or the currency of money."""

    name: str
    label: str
    kind: str
    unit: str | None = None


@dataclass(frozen=True)
class Result:
    """The rows of one page. `total` counts the rows of the source that meet `where`; `truncated` says that rows, or groups, are
    left out behind the last. Of groups, `groups` says how many there are, and `grouped` how many rows these have together: more
    than `total` where rows are in several.
    """

    columns: list[Column]
    rows: list[list[Cell]]
    total: int
    truncated: bool
    groups: int = 0
    grouped: int = 0
