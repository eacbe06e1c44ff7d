"""Numbers and dates as people write them, which Postgres does not read: 1,234.50, 12 €, 31.12.2024.

An ambiguous text is read only where the user says which notation is meant.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from typing import Literal, LiteralString, NamedTuple

Decimals = Literal[".", ","]
DateOrder = Literal["dmy", "mdy"]

_NUMBER_MAX_CHARACTERS = 40
_MINUS = "-−"
_GROUPING = " \u00a0\u202f\u2009'’.,"
_TIME = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,6})?))?(?: ?([AaPp])\.?[Mm]\.?)?"
_DATE = re.compile(rf"([0-9]{{1,2}})([./-])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}})(?:,? {_TIME})?")
_YEAR_FIRST = re.compile(rf"([0-9]{{4}})([./-])([0-9]{{1,2}})\2([0-9]{{1,2}})(?:[ T]{_TIME})?")
_TIME_SQL = "(?:,? ([0-9][0-9]?:[0-9][0-9](?::[0-9][0-9](?:[.][0-9]+)?)?)(?: ?([AaPp])[.]?[Mm][.]?)?)?"
_CENTURY_FROM = 70
"""Two-digit years from here on are in the last century, as in Postgres."""


class Writing(NamedTuple):
    """How numbers and dates are written, according to the user; None: only unambiguous ones are read.

    `empty` are the texts that mean no value.
    """

    decimals: Decimals | None = None
    dates: DateOrder | None = None
    empty: frozenset[str] = frozenset()

    def number(self, text: str) -> str | None:
        """The number in a text, as Postgres reads it; None where there is none."""
        return None if self.decimals is None else plain_number(text, self.decimals)

    def moment(self, text: str) -> datetime.date | None:
        """The date in a text, or the datetime unless it is midnight; None where there is none."""
        return None if self.dates is None else moment_in(text, self.dates)

    def number_sql(self, text: LiteralString) -> LiteralString:
        """SQL for the number in a text that `number` accepts."""
        if self.decimals is None:
            return f"({text})::numeric"
        return number_sql(text, self.decimals)

    def date_sql(self, text: LiteralString) -> LiteralString:
        """SQL for the date in a text that `moment` accepts, or that is in ISO 8601."""
        return f"({self._iso_sql(text)})::date"

    def moment_sql(self, text: LiteralString) -> LiteralString:
        """SQL for the moment in such a text, in the zone of the session where it names none."""
        return f"({self._iso_sql(text)})::timestamptz"

    def _iso_sql(self, text: LiteralString) -> LiteralString:
        if self.dates is None:
            return text
        day, month = ("1", "2") if self.dates == "dmy" else ("2", "1")
        parts = f"'^([0-9]+)[./-]([0-9]+)[./-]([0-9]+){_TIME_SQL}$'"
        century = f"case when length(m[3]) > 2 then '' when m[3]::int >= {_CENTURY_FROM} then '19' else '20' end"
        iso = f"concat({century}, m[3], '-', m[{month}], '-', m[{day}], ' ', m[4], ' ' || m[5] || 'M')"
        year_first = f"{text} ~ '^[0-9][0-9][0-9][0-9][./-]'"
        other: LiteralString = f"(select {iso} from regexp_match({text}, {parts}) m)"  # noqa: S608 - parts are constants
        return f"case when {year_first} then replace(replace({text}, '/', '-'), '.M', 'M') else {other} end"


AS_POSTGRES = Writing()
"""Only the notations that Postgres reads itself."""


def number_sql(text: LiteralString, decimals: Decimals) -> LiteralString:
    """SQL for the number in a text that `plain_number` accepts."""
    digits = f"replace(regexp_replace({text}, '[^0-9{decimals}]', '', 'g'), ',', '.')"
    return f"((case when {text} ~ '[{_MINUS}(]' then '-' else '' end) || {digits})::numeric"


def plain_number(text: str, decimals: Decimals) -> str | None:
    """A number with digit groups, a currency sign or %, or parentheses for a minus, as Postgres reads it; None where there is
    none. 12.5% is 12.5.

    Texts with a leading zero or plus are identifiers, not numbers.
    """
    if len(text) > _NUMBER_MAX_CHARACTERS:
        return None
    sign = sign_of(text)
    core = text.replace(sign, "").strip() if sign else text.strip()
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


def sign_of(text: str) -> str:
    """The only currency sign or % in a text; "" where there is none, or more than one."""
    if text.isalnum():
        return ""
    signs = [character for character in text if character == "%" or unicodedata.category(character) == "Sc"]
    return signs[0] if len(signs) == 1 else ""


def moment_in(text: str, order: DateOrder) -> datetime.date | None:
    """The date in a text with day and month in this order, followed by the year; or with the year first. None where there is
    none. A time that is not midnight makes it a datetime.
    """
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = int(found[1]), int(found[3]), int(found[4])
    elif found := _DATE.fullmatch(text):
        day, month = (int(found[1]), int(found[3])) if order == "dmy" else (int(found[3]), int(found[1]))
        year = int(found[4])
        if len(found[4]) == 2:
            year += 1900 if year >= _CENTURY_FROM else 2000
    else:
        return None
    hour, minute, second, half = (found[place] or "" for place in (5, 6, 7, 8))
    if half and not 1 <= int(hour) <= 12:
        return None
    hours = int(hour or 0) % 12 + (12 if half in "pP" else 0) if half else int(hour or 0)
    try:
        moment = datetime.datetime(year, month, day, hours, int(minute or 0), int(float(second or 0)))
    except ValueError:
        return None
    is_day = moment.time() == datetime.time() and not float(second or 0)
    return moment.date() if is_day else moment


Format = Literal["csv", "jsonl", "json", "parquet", "sheet"]
"""`json` is an array of objects, an object that holds one such array, or objects one after another, on any number of lines.
`sheet` is one sheet of a spreadsheet.
"""


class ReadOptions(NamedTuple):
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
