"""Arithmetic of fields: `amount - discount`, `today - opened_on` (days), `age(born_on)` (years). Read by a grammar of its own, so
that no SQL can be written in it. Units are kept: what is measured in one unit is added to nothing in another. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quarry.language.word_forms import singular
from quarry.platform.errors import FieldError, InvalidInput
from quarry.schema.source import MONTHS, Calendar, Field, Kind

if TYPE_CHECKING:
    from quarry.query.paths import Path

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
        found = self.added()
        if self.text[self.at :].strip():
            raise self.wrong(f"{self.text[self.at :].strip()[:40]!r} does not go on with it")
        if not self.operands and found.is_constant:
            raise self.wrong("it names no field")
        return _with(found, operands=tuple(self.operands))

    def wrong(self, why: str) -> InvalidInput:
        message = f"{self.text[:100]!r} is neither a field nor arithmetic: {why}; write it like amount - discount"
        return InvalidInput([FieldError(self.pointer, message)])

    def next(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.at)

    def took(self, signs: str) -> str | None:
        """The sign that comes next, if it is one of these."""
        found = self.next()
        if found is None or found["sign"] is None or found["sign"] not in signs:
            return None
        self.at = found.end()
        return str(found["sign"])

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
        found = self.next()
        if found is None or found["sign"]:
            raise self.wrong("a field or a number is missing")
        self.at = found.end()
        if found["number"]:
            return Computed(found["number"], "number", found["number"], is_constant=True)
        name = str(found["name"] or found["quoted"])
        if found["name"] and self.took("("):
            return self.called(name)
        if name == "today" and found["name"]:
            return Computed("{today}::date", "date", "today", is_constant=True)
        return self.operand(name)

    def closed(self, value: Computed) -> Computed:
        if not self.took(")"):
            raise self.wrong("a parenthesis is not closed")
        return value

    def called(self, name: str) -> Computed:
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
            raise InvalidInput([FieldError(self.pointer, f"{name} is {what}: arithmetic needs numbers or dates")])
        self.operands.append(path)
        place = f"{{{len(self.operands) - 1}}}"
        end = path.end
        of = None if path.over in ("count", "count_distinct") or not isinstance(end, Field | Computed) else end
        currency, unit, currency_of = (of.currency, of.unit, of.currency_of) if of else (None, None, None)
        kind = path.kind
        if kind == "boolean":
            place, kind = f"({place} is true)::int", "number"
        if currency_of is not None and not isinstance(end, Computed):
            before, dot, _ = path.text.rpartition(".")
            currency_of = f"{before}{dot}{currency_of}"
        return Computed(
            place, "number" if kind == "year" else kind, path.label, unit=None if kind == "money" else unit,
            currency=currency if kind == "money" else None, currency_of=currency_of if kind == "money" else None,
        )  # fmt: skip


def _with(value: Computed, **changed: Any) -> Computed:
    return Computed(**{**value.__dict__, **changed})


def called_unit(value: Computed) -> str:
    """What a value is measured in, in words."""
    without = "no currency" if value.kind == "money" else "no unit"
    return value.currency or value.unit or (f"money in {value.currency_of}" if value.currency_of else without)


def _is_measured(value: Computed) -> bool:
    return value.kind == "money" or value.unit is not None


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
            units = f"{one.label} is in {called_unit(one)}, {two.label} in {called_unit(two)}"
            is_open = not all(map(_is_measured, (one, two)))
            hint = "; if the other has it too, declare its unit in quarry.toml" if is_open else ""
            message = f"{units}: you can only add or subtract numbers of the same unit{hint}"
            raise InvalidInput([FieldError(pointer, message)])
        return _numeric(sign, one, two, label, one)
    if sign == "*":
        if one.kind == two.kind == "money":
            units = f"{one.label} and {two.label} are both money: you cannot multiply them"
            raise InvalidInput([FieldError(pointer, units)])
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
    """Days between two dates, or the day so many days from one."""
    if sign == "-" and one.kind in _DATES and two.kind in _DATES:
        template = f"({_day(one)} - {_day(two)})"
        return Computed(template, "number", f"days from {two.label} to {one.label}", unit="days")
    date, days = (one, two) if one.kind in _DATES else (two, one)
    is_days = days.kind == "number" and days.unit in (None, "day", "days")
    if not is_days or sign not in "+-" or (sign == "-" and date is two):
        label = f"{one.label} {sign} {two.label}"
        raise InvalidInput(
            [FieldError(pointer, f"{label}: with a date, you can subtract a date, or add or subtract days")]
        )
    template = f"({_day(date)} {sign} ({days.template})::int)"
    return Computed(template, "date", f"{days.label} days {'after' if sign == '+' else 'before'} {date.label}")


def _age(value: Computed, pointer: str) -> Computed:
    if value.kind not in _DATES:
        raise InvalidInput(
            [FieldError(pointer, f"{value.label} is not a date: age counts the full years since a date")]
        )
    template = f"extract(year from age({{today}}::date, {_day(value)}))::int"
    return Computed(template, "number", f"years since {value.label}", unit="years")


def _of_number(name: str) -> Callable[[Computed, str], Computed]:
    def of(value: Computed, pointer: str) -> Computed:
        if value.kind not in ("number", "money"):
            raise InvalidInput([FieldError(pointer, f"{value.label} is {value.kind}: {name} needs a number")])
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
    said = f"no calendar says what {name} is: declare `{key}` under [calendar] in quarry.toml"
    return InvalidInput([FieldError(pointer, said)])


def common(paths: Sequence[Path]) -> int:
    """How many links all paths begin with. One computed over related rows is a value of the row itself."""
    if not paths or any(path.over is not None for path in paths):
        return 0
    least = min(len(path.steps) for path in paths)
    return next(
        (at for at in range(least) if len({(path.steps[at].link.name, path.steps[at].to.name) for path in paths}) > 1),
        least,
    )
