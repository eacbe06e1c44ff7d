"""How the values of one column are written, and which of them keep it from being a column of numbers or dates;
and the type that its values have. Numbers and dates as people write them, which Postgres does not read: 1,234.50, 12 €,
31.12.2024. An ambiguous text is read only where the user says which notation is meant.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, LiteralString, NamedTuple, get_args

Decimals = Literal[".", ","]
DateOrder = Literal["dmy", "mdy"]

_NUMBER_MAX_CHARACTERS = 40
_MINUS = "-−"
_GROUPING = " \u00a0\u202f\u2009'’.,"
_CLOCK = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,6})?))?(?: ?([AaPp])\.?[Mm]\.?)?"
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}})([./-])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}})(?:,? {_CLOCK})?")
_YEAR_FIRST = re.compile(rf"([0-9]{{4}})([./-])([0-9]{{1,2}})\2([0-9]{{1,2}})(?:[ T]{_CLOCK})?")
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
    separators = {character for character in whole if not ("0" <= character <= "9")}
    if len(separators) > 1 or not separators <= {*_GROUPING} - {decimals}:
        return None
    first, *others = whole.split(separators.pop()) if separators else [whole]
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
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = int(match[1]), int(match[3]), int(match[4])
    elif match := _YEAR_LAST.fullmatch(text):
        day, month = (int(match[1]), int(match[3])) if order == "dmy" else (int(match[3]), int(match[1]))
        year = int(match[4])
        if len(match[4]) == 2:
            year += 1900 if year >= _CENTURY_FROM else 2000
    else:
        return None
    hour, minute, second, half = (match[place] or "" for place in (5, 6, 7, 8))
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


ColumnType = Literal["boolean", "bigint", "numeric", "date", "timestamptz", "text[]", "text", "jsonb"]
"""In order of preference."""

COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
ANY: frozenset[ColumnType] = frozenset({"text", "jsonb"})
"""The types of any single value."""
BIGINT_MAX = 2**63 - 1
BOOLEANS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))

WORDED: Mapping[ColumnType, str] = {
    "boolean": "true or false", "bigint": "a whole number", "numeric": "a number", "date": "a date as YYYY-MM-DD",
    "timestamptz": "a time as YYYY-MM-DDThh:mm:ssZ", "text[]": "a list of texts", "text": "one text", "jsonb": "JSON",
}  # fmt: skip

_BOOLEAN_WORDS = frozenset(word for pair in BOOLEANS for word in pair)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,30}")
_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?")
_DATE = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    _DATE.pattern + r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?"
)


def cell_types(text: str) -> set[ColumnType]:
    """The possible types of a cell in a format where everything is text."""
    if _INTEGER.fullmatch(text) and abs(int(text)) <= BIGINT_MAX:
        return {"bigint", "numeric", "text"}
    if _NUMBER.fullmatch(text):
        return {"numeric", "text"}
    return {"boolean", "text"} if text.lower() in _BOOLEAN_WORDS else value_types(text)


def value_types(value: object) -> set[ColumnType]:
    """The possible types of a value in a format that distinguishes numbers from text."""
    match value:
        case dict():
            return {"jsonb"}
        case list():
            return {"jsonb", "text[]"} if all(isinstance(item, str) for item in value) else {"jsonb"}
        case bool():
            return {"boolean", *ANY}
        case int() if abs(value) <= BIGINT_MAX:
            return {"bigint", "numeric", *ANY}
        case int() | float() | Decimal():
            return {"numeric", *ANY}
        case datetime.datetime():
            return {"timestamptz", *ANY}
        case datetime.date():
            return {"date", "timestamptz", *ANY}
        case str():
            return _date_types(value) | ANY
    return set(ANY)


def _date_types(text: str) -> set[ColumnType]:
    """Dates and times in ISO 8601. Other notations are ambiguous, such as 03/04/2031."""
    is_date = _DATE.fullmatch(text)
    if not is_date and not _TIME.fullmatch(text):
        return set()
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return set()
    return {"date", "timestamptz"} if is_date else {"timestamptz"}


Sort = Literal["number", "date", "other"]

EXAMPLES_MAX = 3
"""How many different values of one form are shown."""
PROSE_FROM = 100
"""How many values are read before a column is given up in which few are numbers or dates."""
NEARLY = 2 / 3
"""The share of numbers, or of dates, from which on a column is nearly one of them."""


class Form(NamedTuple):
    """One way to write values, with the decimal signs or date orders that can read it."""

    sort: Sort
    worded: str
    reads: frozenset[Decimals | DateOrder] = frozenset()
    sign: str = ""


_WHOLE = Form("number", "without decimals", frozenset({".", ","}))
_DECIMAL = Form("number", "with a decimal point", frozenset({"."}))
_ISO = Form("date", "as YYYY-MM-DD", frozenset({"dmy", "mdy"}))
_OTHER = Form("other", "")
_PLAIN_FORMS = (_WHOLE, _DECIMAL, _ISO)


def form_of(text: str) -> Form:
    """The form of a text that is no plain number or date."""
    numbers: dict[Decimals, str | None] = {".": plain_number(text, "."), ",": plain_number(text, ",")}
    if decimals := frozenset(each for each, number in numbers.items() if number is not None):
        sign = sign_of(text)
        is_same = numbers["."] == numbers[","]
        return Form("number", _with_decimals(decimals, sign, is_same=is_same), decimals, sign)
    orders: tuple[DateOrder, ...] = ("dmy", "mdy")
    if readable_orders := frozenset(order for order in orders if moment_in(text, order) is not None):
        worded = "in one of two orders" if len(readable_orders) == 2 else f"as {_ORDERS[next(iter(readable_orders))]}"
        return Form("date", worded, frozenset(readable_orders))
    return _OTHER


_ORDERS: dict[str, str] = {"dmy": "day, month, year", "mdy": "month, day, year"}


def _with_decimals(decimals: frozenset[Decimals], sign: str, *, is_same: bool) -> str:
    if sign == "%":
        return "in percent"
    if len(decimals) == 2:
        return "with signs or spaces" if is_same else "with a comma or point that may be either"
    return "with signs or thousands and a decimal point" if "." in decimals else "with a decimal comma"


@dataclass
class _Tally:
    examples: dict[str, str] = field(default_factory=dict)
    count: int = 0


@dataclass
class Forms:
    """The forms of a column's values, each with its first values and their places."""

    values: int = 0
    is_prose: bool = False
    """Whether enough values were read to know that the column holds neither numbers nor dates."""
    _tallies: dict[Form, _Tally] = field(default_factory=dict)

    def add(self, value: object, types: set[ColumnType], place: Callable[[], str], count: int = 1) -> None:
        """Add a value with its possible types, which occurs in `count` places; `place` gives the first."""
        if self.is_prose:
            return
        self.values += count
        text = str(value)
        form = _plain_form(text, types) or form_of(text)
        tally = self._tallies.get(form)
        if tally is None:
            tally = self._tallies[form] = _Tally()
        tally.count += count
        if len(tally.examples) <= EXAMPLES_MAX and text not in tally.examples:
            tally.examples[text] = place()
        self.is_prose = form is _OTHER and self.values >= PROSE_FROM and 2 * tally.count > self.values

    def nearly(self) -> Sort | None:
        """What the column nearly holds, numbers or dates; None where it holds mostly neither."""
        sorts: tuple[Sort, ...] = ("number", "date")
        near = (sort for sort in sorts if self._count(sort) >= NEARLY * self.values)
        return None if self.is_prose or not self.values else next(near, None)

    def remark(self) -> str:
        """What keeps the column from being numbers or dates, and what to do; "" where it holds mostly neither."""
        sort = self.nearly()
        return f"{'; '.join(self._ways(sort))}: {self._advice(sort)}" if sort else ""

    def in_the_way(self) -> str:
        """The values that are no plain numbers or dates, by form, with a few examples."""
        return "; ".join(self._ways(self.nearly() or "number", EXAMPLES_MAX, plain=False))

    def options(self) -> str | None:
        """The options of `quarry load` that read the column as what it nearly holds; None where there are none."""
        sort = self.nearly()
        return None if sort is None or not self._reads(sort) else self._options(sort)

    def _count(self, sort: Sort) -> int:
        return sum(tally.count for form, tally in self._tallies.items() if form.sort == sort)

    def _ways(self, sort: Sort, examples: int = 1, *, plain: bool = True) -> Iterator[str]:
        for form, tally in sorted(self._tallies.items(), key=lambda each: (each[0].sort != sort, -each[1].count)):
            if plain or form not in _PLAIN_FORMS:
                sorts = "text" if form.sort == "other" else form.sort
                worded = f"{tally.count:,} {sorts if tally.count == 1 else f'{sorts}s'} {form.worded}".rstrip()
                first = ", ".join(f"{cut(text)} in {place}" for text, place in [*tally.examples.items()][:examples])
                yield f"{worded} (first {first})"

    def _reads(self, sort: Sort) -> frozenset[Decimals | DateOrder]:
        return frozenset.intersection(*(form.reads for form in self._tallies if form.sort == sort))

    def _options(self, sort: Sort) -> str | None:
        options = []
        if any(form not in _PLAIN_FORMS for form in self._tallies if form.sort == sort):
            option = "--decimal" if sort == "number" else "--dates"
            options.append(f"{option} {' or '.join(sorted(self._reads(sort), reverse=True))}")
        others = {form: tally for form, tally in self._tallies.items() if form.sort != sort}
        texts = [text for tally in others.values() for text in tally.examples]
        tells_apart = any(character.isdigit() for text in texts for character in text)
        if any(form != _OTHER for form in others) or tells_apart or len(texts) > EXAMPLES_MAX:
            return None
        return " ".join([*options, *(f"--empty {text!r}" for text in texts)]) or None

    def _advice(self, sort: Sort) -> str:
        signs = {form.sign for form in self._tallies if form.sort == sort}
        if len(signs - {""}) > 1 or ("%" in signs and "" in signs):
            return "amounts in several units, kept as text; write the unit in a column of its own"
        if not self._reads(sort):
            return "write them all the same way"
        options = self._options(sort)
        return f"{options} reads them as {sort}s" if options else "kept as text"


def _plain_form(text: str, types: set[ColumnType]) -> Form | None:
    if "bigint" in types:
        return _WHOLE
    if "numeric" in types:
        return _DECIMAL
    return _ISO if "date" in types or "timestamptz" in types else None


def cut(text: str, limit: int = 40) -> str:
    """At most `limit` characters of a text, as messages quote it."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
