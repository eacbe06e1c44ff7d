"""Numbers and dates as people write them, which Postgres does not read: 1,234.50, 12 €, 31.12.2024.

What can be read in two ways is read only where somebody says which one is meant.
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
"""Years of two digits from here on are of the last century, as Postgres reads them."""


@dataclass(frozen=True)
class Writing:
    """How numbers and dates are written, as the user says; None: only what can be read in one way is read.

    `empty` are the texts that stand for no value.
    """

    decimals: Decimals | None = None
    dates: DateOrder | None = None
    empty: frozenset[str] = frozenset()

    def number(self, text: str) -> str | None:
        """The number that a text is, as Postgres reads it; None where it is none."""
        return None if self.decimals is None else plain_number(text, self.decimals)

    def is_date(self, text: str) -> bool:
        return self.dates is not None and date_in(text, self.dates) is not None

    def number_sql(self, text: LiteralString) -> LiteralString:
        """SQL for the number that a text is, which is one as `number` reads it."""
        if self.decimals is None:
            return f"({text})::numeric"
        return number_sql(text, self.decimals)

    def date_sql(self, text: LiteralString) -> LiteralString:
        """SQL for the date that a text is, which is one as `is_date` or as ISO 8601 reads it."""
        if self.dates is None:
            return f"({text})::date"
        order = "DD-MM" if self.dates == "dmy" else "MM-DD"
        plain, year = f"translate({text}, './', '--')", "[0-9][0-9][0-9][0-9]"
        return (
            f"case when {text} ~ '^{year}-' then ({text})::date"
            f" when {text} ~ '{year}$' then to_date({plain}, '{order}-YYYY') else to_date({plain}, '{order}-YY') end"
        )


AS_POSTGRES = Writing()
"""Nothing but what Postgres reads itself."""


def number_sql(text: LiteralString, decimals: Decimals) -> LiteralString:
    """SQL for the number that a text is, which is one as `plain_number` reads it."""
    digits = f"replace(regexp_replace({text}, '[^0-9{decimals}]', '', 'g'), ',', '.')"
    return f"((case when {text} ~ '[{_MINUS}(]' then '-' else '' end) || {digits})::numeric"


def plain_number(text: str, decimals: Decimals) -> str | None:
    """A number with groups of digits, a currency's sign or parentheses for a minus, as Postgres reads it; None where it is none.

    What begins with a zero, or a plus, tells things apart and is no number.
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
    """Digits in groups of three, or of two and a last of three, as in India."""
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
    """The date that a text is, with its day and month in this order and its year behind them; None where it is none."""
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
