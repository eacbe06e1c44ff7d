"""The values that conditions compare with, checked against the kind of their field; and arithmetic of fields:
`amount - discount`, `today - opened_on` (days), `age(born_on)` (years). It is read by a grammar of its own, so that no SQL can
be written in it, and keeps units: what is measured in one unit is added to nothing in another. Pure.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

from quarry.language.word_forms import singular
from quarry.platform.days import around, days_of, shifted
from quarry.platform.errors import FieldError, InvalidInput
from quarry.schema.algebra import Scalar
from quarry.schema.source import MONTHS, Calendar, Field, Kind

if TYPE_CHECKING:
    from quarry.query.paths import Path

_PERIOD = re.compile(r"(\d{4})(?:-(?:(\d\d)(?:-(\d\d))?|W(\d\d)|Q([1-4])))?", re.ASCII)
_FISCAL = re.compile(r"(?:FY ?(?=\d)|(\w+ )fiscal )(\d{4}(?:-Q[1-4])?|quarter|year)", re.ASCII | re.IGNORECASE)
"""A fiscal year or quarter. Without `FY` or `fiscal` it is one of the calendar."""
_RELATIVE = re.compile(r"today(?:([+-]\d{1,5})([dwmqy]))?", re.ASCII)
_PERIOD_NAME = re.compile(r"(this|last|next|previous|current) (day|week|month|quarter|year)", re.ASCII | re.IGNORECASE)
_AWAY = {"this": 0, "current": 0, "last": -1, "previous": -1, "next": 1}
_UNITS = {"d": "day", "w": "week", "m": "month", "q": "quarter", "y": "year"}
DAY = datetime.timedelta(days=1)


class Interval(NamedTuple):
    """Days, or moments, from `start` to before `end`; a moment where there is no end."""

    start: str
    end: str | None

    @property
    def first(self) -> datetime.date:
        """The day that it begins on."""
        return datetime.datetime.fromisoformat(self.start).date()

    @property
    def last(self) -> datetime.date:
        """The last of its days."""
        return self.first if self.end is None else datetime.date.fromisoformat(self.end) - DAY

    @property
    def after(self) -> datetime.date:
        """The first day that what is after it may be on."""
        return self.first if self.end is None else datetime.date.fromisoformat(self.end)

    @property
    def before(self) -> datetime.date:
        """The last day that what is before it may be on."""
        return self.first if self.end is None else self.first - DAY


def number_of(value: Scalar, pointer: str) -> int | Decimal:
    """A number. Raises InvalidInput."""
    if isinstance(value, bool):
        raise invalid(pointer, "a number is needed, not true or false")
    try:
        number = Decimal(value) if isinstance(value, int) else Decimal(str(value).strip())
    except InvalidOperation:
        raise invalid(pointer, f"{str(value)[:100]!r} is not a number") from None
    # beyond double precision Postgres cannot compare it with a column of that type
    if number.is_finite() and (math.isinf(float(number)) or (number and not float(number))):
        raise invalid(pointer, f"{str(value)[:100]!r} is not a number that can be compared")
    return value if isinstance(value, int) else number


_TRUE, _FALSE = frozenset("true yes on 1 t y".split()), frozenset("false no off 0 f n".split())
"""How Postgres spells a boolean: https://www.postgresql.org/docs/current/datatype-boolean.html."""


def truth(value: Scalar) -> bool | None:
    """True or false, in any spelling that Postgres reads; None for anything else."""
    truth_value = str(value).strip().lower()
    return truth_value in _TRUE if truth_value in _TRUE or truth_value in _FALSE else None


def truth_of(value: Scalar, pointer: str) -> bool:
    """True or false, in any spelling that Postgres reads. Raises InvalidInput."""
    if (truth_value := truth(value)) is not None:
        return truth_value
    raise invalid(pointer, f"{str(value)[:100]!r} is neither true nor false: write true or false, yes or no, 1 or 0")


def text_of(value: Scalar, pointer: str) -> str:
    """Text that is not blank. Raises InvalidInput."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.strip(" "):
        raise invalid(pointer, "blank text is not a value: use is_null to find rows without one")
    return text


def interval_of(
    value: Scalar, kind: Kind, today: datetime.date, pointer: str, fiscal_year_start: int | None = None
) -> Interval:
    """The days that a date, a period as groups show it, or `today` names; of a datetime, also one moment. Fiscal years begin with
    the month `fiscal_year_start`. Raises InvalidInput.
    """
    text = str(value).strip()
    fiscal = _FISCAL.fullmatch(text)
    if fiscal and fiscal_year_start is None:
        raise undeclared(f"“{text}”", "fiscal_year_start", pointer)
    try:
        days = _fiscal(fiscal, today, fiscal_year_start) if fiscal and fiscal_year_start else _days_of(text, today)
        if days is not None and not isinstance(value, bool):
            return Interval(*(day.isoformat() for day in days))
        if kind == "datetime" and not isinstance(value, int | float):
            return Interval(_moment(text), None)
    except (ValueError, OverflowError):
        pass
    raise invalid(
        pointer,
        f"{text[:100]!r} is not a date: write 2026-10-03, a period as 2026-W40, 2026-10, 2026-Q4 or 2026, today, today-30d,"
        f" today-1m, or last month{', FY2026, FY2026-Q4 or last fiscal year' if fiscal_year_start else ''}",
    )


def _fiscal(fiscal: re.Match[str], today: datetime.date, start: int) -> tuple[datetime.date, datetime.date] | None:
    """The first day of a fiscal year or quarter and the day after its last: the calendar's, some months earlier. A fiscal year
    has the name of the year in which it ends.
    """
    later = (13 - start) % 12
    days = _days_of(f"{fiscal[1] or ''}{fiscal[2]}", shifted(today, "month", later))
    return days and (shifted(days[0], "month", -later), shifted(days[1], "month", -later))


def _days_of(text: str, today: datetime.date) -> tuple[datetime.date, datetime.date] | None:
    """The first day, and the day after the last."""
    if match := _RELATIVE.fullmatch(text):
        day = shifted(today, _UNITS[match[2] or "d"], int(match[1] or 0))
        return day, day + DAY
    if match := _PERIOD_NAME.fullmatch(text):
        return _period_around(today, _AWAY[match[1].lower()], match[2].lower())
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    year, month, day_of_month, week, quarter = (int(part) if part else None for part in match.groups())
    assert year is not None
    if week is not None:
        monday = datetime.date.fromisocalendar(year, week, 1)
        return monday, monday + 7 * DAY
    if day_of_month is not None and month is not None:
        day = datetime.date(year, month, day_of_month)
        return day, day + DAY
    first, months = (month, 1) if month else (quarter * 3 - 2, 3) if quarter else (1, 12)
    start, last = days_of(year, first, months)
    return start, last + DAY


def _period_around(today: datetime.date, away: int, period: str) -> tuple[datetime.date, datetime.date]:
    """The first day of the period `away` periods from that of today, and the day after its last."""
    first, _, _ = around(today, period)
    start, last, _ = around(shifted(first, period, away), period)
    return start, last + DAY


def period_start(day: datetime.date, period: str, away: int = 0) -> datetime.date:
    """The first day of the period `away` periods from that of a day. Raises ValueError and OverflowError beyond the calendar."""
    return _period_around(day, away, period)[0]


def _moment(text: str) -> str:
    """A moment as Postgres reads it: without a time zone in that of the session, else in UTC, which columns without one take."""
    moment = datetime.datetime.fromisoformat(text)
    return (moment if moment.tzinfo is None else moment.astimezone(datetime.UTC)).isoformat()


def period_name(day: datetime.date, period: str) -> str:
    """How a period that begins on `day` is shown: `2026-10-03`, `2026-W40`, `2026-10`, `2026-Q4` or `2026`."""
    match period:
        case "week":
            year, week, _ = day.isocalendar()
            return f"{year:04d}-W{week:02d}"
        case "month":
            return f"{day.year:04d}-{day.month:02d}"
        case "quarter":
            return f"{day.year:04d}-Q{(day.month + 2) // 3}"
        case "year":
            return f"{day.year:04d}"
        case _:
            return day.isoformat()


PARTS: dict[str, str] = {
    "year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day", "weekday": "isodow", "hour": "hour",
    "minute": "minute",
}  # fmt: skip
"""The parts of a date that are fields, as Postgres calls them. A weekday is 1, Monday, to 7."""
BUSINESS_HOURS = "in_business_hours"
DECLARED_PARTS = ("fiscal_year", "fiscal_quarter", BUSINESS_HOURS)
"""The parts of a date that the declared calendar says: https://en.wikipedia.org/wiki/Fiscal_year. A fiscal year is named by the
year that it ends in.
"""
FUNCTIONS = frozenset(("age", "abs", "round"))
NODES_MAX = 40
"""Most values in one expression."""
_TOKEN = re.compile(r'\s*(?:(?P<number>\d+(?:\.\d+)?)|"(?P<quoted>[^"]+)"|(?P<name>[^\W\d][\w.]*)|(?P<sign>[-+*/()]))')
_SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "per"}
_DATES = ("date", "datetime")


def invalid(pointer: str, message: str) -> InvalidInput:
    """The error for one part of a query."""
    return InvalidInput([FieldError(pointer, message)])


@dataclass(frozen=True)
class Computed:
    """What arithmetic makes of the values of one row: SQL with a numbered place for each of `operands`, and one for `today`."""

    template: str
    kind: Kind
    label: str
    operands: tuple[Path, ...] = ()
    unit: str | None = None
    currency: str | None = None
    currency_of: str | None = None
    is_array: bool = False
    is_constant: bool = False
    is_rounded: bool = False

    @property
    def measured_in(self) -> tuple[str | None, str | None, str | None]:
        return (self.unit, self.currency, self.currency_of)


def is_arithmetic(text: str) -> bool:
    """Whether a path is more than a name or one function of another path."""
    inner = text.strip()
    if not any(sign in inner for sign in "+-*/"):
        return inner.partition("(")[0].strip() in FUNCTIONS and inner.endswith(")")
    depth = 0
    for letter in inner:
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in "+-*/":
            return True
    return inner.startswith("(") or inner.partition("(")[0].strip() in FUNCTIONS


def computed(text: str, resolve: Callable[[str], Path], pointer: str) -> Computed:
    """What the expression means. `resolve` says what a name, or a function of a path, means. Raises InvalidInput."""
    return _Reader(text, resolve, pointer).whole()


@dataclass
class _Reader:
    text: str
    resolve: Callable[[str], Path]
    pointer: str
    at: int = 0
    operands: list[Path] = field(default_factory=list)
    nodes: int = 0

    def whole(self) -> Computed:
        value = self.added()
        if self.text[self.at :].strip():
            raise self.wrong(f"{self.text[self.at :].strip()[:40]!r} does not go on with it")
        if not self.operands and value.is_constant:
            raise self.wrong("it names no field")
        return _with(value, operands=tuple(self.operands))

    def wrong(self, why: str) -> InvalidInput:
        message = f"{self.text[:100]!r} is neither a field nor arithmetic: {why}; write it like amount - discount"
        return invalid(self.pointer, message)

    def next(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.at)

    def took(self, signs: str) -> str | None:
        """The sign that comes next, if it is one of these."""
        match = self.next()
        if match is None or match["sign"] is None or match["sign"] not in signs:
            return None
        self.at = match.end()
        return str(match["sign"])

    def added(self) -> Computed:
        value = self.multiplied()
        while sign := self.took("+-"):
            value = self.of(sign, value, self.multiplied())
        return value

    def multiplied(self) -> Computed:
        value = self.atom()
        while sign := self.took("*/"):
            value = self.of(sign, value, self.atom())
        return value

    def of(self, sign: str, one: Computed, two: Computed) -> Computed:
        return combined(sign, one, two, self.pointer)

    def atom(self) -> Computed:
        self.nodes += 1
        if self.nodes > NODES_MAX:
            raise self.wrong(f"it has more than {NODES_MAX} values")
        if self.took("-"):
            return self.of("-", Computed("0", "number", "0", is_constant=True), self.atom())
        if self.took("("):
            return self.closed(self.added())
        match = self.next()
        if match is None or match["sign"]:
            raise self.wrong("a field or a number is missing")
        self.at = match.end()
        if match["number"]:
            return Computed(match["number"], "number", match["number"], is_constant=True)
        name = str(match["name"] or match["quoted"])
        if match["name"] and self.took("("):
            return self.function(name)
        if name == "today" and match["name"]:
            return Computed("{today}::date", "date", "today", is_constant=True)
        return self.operand(name)

    def closed(self, value: Computed) -> Computed:
        if not self.took(")"):
            raise self.wrong("a parenthesis is not closed")
        return value

    def function(self, name: str) -> Computed:
        if name in FUNCTIONS:
            return _FUNCTIONS[name](self.closed(self.added()), self.pointer)
        start, depth = self.at, 1
        while depth and self.at < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
        if depth:
            raise self.wrong("a parenthesis is not closed")
        inner = self.text[start : self.at - 1].strip()
        if inner == "today" and name in PARTS:
            template = f"extract({PARTS[name]} from {{today}}::date)::int"
            return Computed(template, "number", f"{name} of today", is_constant=True)
        return self.operand(f"{name}({inner})")

    def operand(self, name: str) -> Computed:
        path = self.resolve(name)
        if (isinstance(path.end, Field) and path.end.is_array) or path.kind == "text":
            what = "several values a row" if path.kind != "text" else "text"
            raise invalid(self.pointer, f"{name} is {what}: arithmetic needs numbers or dates")
        self.operands.append(path)
        place = f"{{{len(self.operands) - 1}}}"
        if path.kind == "boolean":
            place = f"({place} is true)::int"
        kind: Kind = "number" if path.kind in ("boolean", "year") else path.kind
        unit, currency = (None, path.unit) if kind == "money" else (path.unit, None)
        return Computed(place, kind, path.label, unit=unit, currency=currency, currency_of=path.currency_of)


def _with(value: Computed, **changed: Any) -> Computed:
    return Computed(**{**value.__dict__, **changed})


def unit_label(value: Computed) -> str:
    """What a value is measured in, in words."""
    without = "no currency" if value.kind == "money" else "no unit"
    return value.currency or value.unit or (f"money in {value.currency_of}" if value.currency_of else without)


def combined(sign: str, one: Computed, two: Computed, pointer: str) -> Computed:
    """The value of two by `+`, `-`, `*` or `/`, in its unit. Raises InvalidInput for units that do not go together."""
    label = f"{one.label} {_SIGNS[sign]} {two.label}"
    if one.kind in _DATES or two.kind in _DATES:
        return _of_dates(sign, one, two, pointer)
    if sign in "+-":
        for constant, other in ((one, two), (two, one)):
            if constant.is_constant and constant.unit is None:
                return _numeric(sign, one, two, label, other)
        if (one.kind == "money") != (two.kind == "money") or one.measured_in != two.measured_in:
            units = f"{one.label} is in {unit_label(one)}, {two.label} in {unit_label(two)}"
            is_open = any(each.kind != "money" and each.unit is None for each in (one, two))
            hint = "; if the other has it too, declare its unit in quarry.toml" if is_open else ""
            message = f"{units}: you can only add or subtract numbers of the same unit{hint}"
            raise invalid(pointer, message)
        return _numeric(sign, one, two, label, one)
    if sign == "*":
        if one.kind == two.kind == "money":
            units = f"{one.label} and {two.label} are both money: you cannot multiply them"
            raise invalid(pointer, units)
        money = one if one.kind == "money" else two if two.kind == "money" else None
        unit = None if money else "·".join(each.unit for each in (one, two) if each.unit) or None
        return _numeric(sign, one, two, label, money or Computed("", "number", "", unit=unit))
    return _numeric(sign, one, two, label, _divided(one, two))


def _divided(one: Computed, two: Computed) -> Computed:
    """What a quotient is measured in."""
    if one.kind == two.kind and one.measured_in == two.measured_in:
        return Computed("", "number", "")
    if two.kind != "money" and two.unit is None:
        return one
    above = one.currency or one.unit or ("money" if one.kind == "money" else "1")
    return Computed("", "number", "", unit=f"{above}/{two.currency or singular(two.unit or 'money')}")


def _numeric(sign: str, one: Computed, two: Computed, label: str, like: Computed) -> Computed:
    second = f"nullif(({two.template})::numeric, 0)" if sign == "/" else f"({two.template})::numeric"
    return Computed(
        f"(({one.template})::numeric {sign} {second})", like.kind, label, unit=like.unit,
        currency=like.currency, currency_of=like.currency_of, is_constant=one.is_constant and two.is_constant,
        is_rounded=sign == "/" or one.is_rounded or two.is_rounded,
    )  # fmt: skip


def _day(value: Computed) -> str:
    return f"({value.template})::date"


def _of_dates(sign: str, one: Computed, two: Computed, pointer: str) -> Computed:
    """The days between two dates, or the date some days from one."""
    if sign == "-" and one.kind in _DATES and two.kind in _DATES:
        template = f"({_day(one)} - {_day(two)})"
        return Computed(template, "number", f"days from {two.label} to {one.label}", unit="days")
    date, days = (one, two) if one.kind in _DATES else (two, one)
    is_days = days.kind == "number" and days.unit in (None, "day", "days")
    if not is_days or sign not in "+-" or (sign == "-" and date is two):
        label = f"{one.label} {sign} {two.label}"
        raise invalid(pointer, f"{label}: with a date, you can subtract a date, or add or subtract days")
    template = f"({_day(date)} {sign} ({days.template})::int)"
    return Computed(template, "date", f"{days.label} days {'after' if sign == '+' else 'before'} {date.label}")


def _age(value: Computed, pointer: str) -> Computed:
    if value.kind not in _DATES:
        raise invalid(pointer, f"{value.label} is not a date: age counts the full years since a date")
    template = f"extract(year from age({{today}}::date, {_day(value)}))::int"
    return Computed(template, "number", f"years since {value.label}", unit="years")


def _of_number(name: str) -> Callable[[Computed, str], Computed]:
    def of(value: Computed, pointer: str) -> Computed:
        if value.kind not in ("number", "money"):
            raise invalid(pointer, f"{value.label} is {value.kind}: {name} needs a number")
        return _with(value, template=f"{name}(({value.template})::numeric)")

    return of


_FUNCTIONS = {"age": _age, "abs": _of_number("abs"), "round": _of_number("round")}


def part_of_date(name: str, calendar: Calendar, pointer: str) -> Callable[[str], str]:
    """The SQL of a part of a date, of the SQL of the date. Raises InvalidInput for a part that no calendar declares."""
    if name in PARTS:
        return lambda date: f"extract({PARTS[name]} from {date})::int"
    if name == BUSINESS_HOURS:
        hours = calendar.business_hours
        if hours is None:
            raise undeclared(name, "business_hours", pointer)
        days, start, end = ", ".join(map(str, hours.days)), hours.start, hours.end
        return lambda date: (
            f"(extract(isodow from {date}) in ({days}) and ({date})::time >= '{start}' and ({date})::time < '{end}')"
        )
    if calendar.fiscal_year_start is None:
        raise undeclared(name, "fiscal_year_start", pointer)
    part, later = name.removeprefix("fiscal_"), (MONTHS + 1 - calendar.fiscal_year_start) % MONTHS
    return lambda date: f"extract({part} from ({date})::timestamp + interval '{later} months')::int"


def undeclared(name: str, key: str, pointer: str) -> InvalidInput:
    """That a calendar would say what something is, and does not."""
    message = f"no calendar says what {name} is: declare `{key}` under [calendar] in quarry.toml"
    return invalid(pointer, message)


def common(paths: Sequence[Path]) -> int:
    """How many links all paths begin with. One computed over related rows is a value of the row itself."""
    if not paths or any(path.over is not None for path in paths):
        return 0
    least = min(len(path.steps) for path in paths)
    return next(
        (at for at in range(least) if len({(path.steps[at].link.name, path.steps[at].to.name) for path in paths}) > 1),
        least,
    )
