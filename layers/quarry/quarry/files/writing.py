"""Numbers and dates as people write them, which Postgres does not read: 1,234.50, 12 €, 31.12.2024.

An ambiguous text is read only where the user says which notation is meant.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, LiteralString

Decimals = Literal[".", ","]
DateOrder = Literal["dmy", "mdy"]

_NUMBER_MAX_CHARACTERS = 40
_MINUS = "-−"
_GROUPING = " \u00a0\u202f\u2009'’.,"
_DATE = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})")
_CENTURY_FROM = 70
"""Two-digit years from here on are in the last century, as in Postgres."""


@dataclass(frozen=True)
class Writing:
    """How numbers and dates are written, according to the user; None: only unambiguous ones are read.

    `empty` are the texts that mean no value.
    """

    decimals: Decimals | None = None
    dates: DateOrder | None = None
    empty: frozenset[str] = frozenset()

    def number(self, text: str) -> str | None:
        """The number in a text, as Postgres reads it; None where there is none."""
        return None if self.decimals is None else plain_number(text, self.decimals)

    def is_date(self, text: str) -> bool:
        return self.dates is not None and date_in(text, self.dates) is not None

    def number_sql(self, text: LiteralString) -> LiteralString:
        """SQL for the number in a text that `number` accepts."""
        if self.decimals is None:
            return f"({text})::numeric"
        return number_sql(text, self.decimals)

    def date_sql(self, text: LiteralString) -> LiteralString:
        """SQL for the date in a text that `is_date` accepts, or that is in ISO 8601."""
        if self.dates is None:
            return f"({text})::date"
        order = "DD-MM" if self.dates == "dmy" else "MM-DD"
        plain, year = f"translate({text}, './', '--')", "[0-9][0-9][0-9][0-9]"
        return (
            f"case when {text} ~ '^{year}-' then ({text})::date"
            f" when {text} ~ '{year}$' then to_date({plain}, '{order}-YYYY') else to_date({plain}, '{order}-YY') end"
        )


AS_POSTGRES = Writing()
"""Only the notations that Postgres reads itself."""


def number_sql(text: LiteralString, decimals: Decimals) -> LiteralString:
    """SQL for the number in a text that `plain_number` accepts."""
    digits = f"replace(regexp_replace({text}, '[^0-9{decimals}]', '', 'g'), ',', '.')"
    return f"((case when {text} ~ '[{_MINUS}(]' then '-' else '' end) || {digits})::numeric"


def plain_number(text: str, decimals: Decimals) -> str | None:
    """A number with digit groups, a currency sign, or parentheses for a minus, as Postgres reads it; None where there is
    none.

    Texts with a leading zero or plus are identifiers, not numbers.
    """
    if len(text) > _NUMBER_MAX_CHARACTERS:
        return None
    signs = [character for character in text if unicodedata.category(character) == "Sc"]
    core = text.replace(signs[0], "").strip() if len(signs) == 1 else text.strip()
    is_bracketed = core.startswith("(") and core.endswith(")")
    is_negative = is_bracketed or core[:1] in tuple(_MINUS)
    core = core[1:-1].strip() if is_bracketed else core[1:].strip() if is_negative else core
    whole, point, fraction = core.partition(decimals)
    digits = _ungrouped(whole, decimals)
    if digits is None or (point and not _is_digits(fraction)):
        return None
    return ("-" if is_negative else "") + digits + (f".{fraction}" if point else "")


def _ungrouped(whole: str, decimals: Decimals) -> str | None:
    """Digits in groups of three, or of two before a last group of three, as in India."""
    found = {character for character in whole if not ("0" <= character <= "9")}
    if len(found) > 1 or not found <= {*_GROUPING} - {decimals}:
        return None
    first, *others = whole.split(found.pop()) if found else [whole]
    groups_fit = not others or (
        len(others[-1]) == 3 and len(first) <= 3 and all(len(each) in (2, 3) for each in others)
    )
    digits = "".join((first, *others))
    if not groups_fit or not first or not _is_digits(digits):
        return None
    return digits if digits == "0" or not digits.startswith("0") else None


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def date_in(text: str, order: DateOrder) -> datetime.date | None:
    """The date in a text with day and month in this order, followed by the year; None where there is none."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    day, month = (int(found[1]), int(found[3])) if order == "dmy" else (int(found[3]), int(found[1]))
    year = int(found[4]) if len(found[4]) == 4 else int(found[4]) + (1900 if int(found[4]) >= _CENTURY_FROM else 2000)
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


Format = Literal["csv", "jsonl", "json", "parquet", "sheet"]
"""`json` is an array of objects, an object that holds one such array, or objects one after another, on any number of lines.
`sheet` is one sheet of a spreadsheet.
"""


@dataclass(frozen=True)
class ReadOptions:
    """How files are read; None where that is guessed.

    `header` is the line with the column names, from 1; 0 where there is none. `total`: whether the last line holds totals.
    `sheet` names one of several sheets.
    """

    format: Format | None = None
    encoding: str | None = None
    header: int | None = None
    total: bool | None = None
    sheet: str | None = None
    writing: Writing = AS_POSTGRES


GUESSED = ReadOptions()
