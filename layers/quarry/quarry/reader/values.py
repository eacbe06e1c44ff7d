"""What words of a question mean in the data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ValueLink:
    """The words `first` to before `last` of a question may mean `value` of a field, which so many rows have. `is_whole`: all of
    it was said.
    """

    first: int
    last: int
    source: str
    field: str
    value: str
    rows: int = 0
    is_whole: bool = True
