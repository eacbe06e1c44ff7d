"""What a user says about files that is otherwise guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quarry.files.writing import AS_POSTGRES, Writing

Format = Literal["csv", "jsonl", "json", "parquet", "sheet"]
"""`json` is an array of objects, an object with one such array in it, or objects one after another over any number of lines;
`sheet` is one sheet of a spreadsheet.
"""


@dataclass(frozen=True)
class ReadOptions:
    """How files are read; None where that is guessed.

    `header` is the line that names the columns, from 1, and 0 where none does. `total`: whether the last line holds totals of
    those above. `sheet` names one of several sheets.
    """

    format: Format | None = None
    encoding: str | None = None
    header: int | None = None
    total: bool | None = None
    sheet: str | None = None
    writing: Writing = AS_POSTGRES


GUESSED = ReadOptions()
