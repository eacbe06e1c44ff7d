"""Numbers, money and dates as a language writes them: "1.234,50 EUR", "3. Mai 2024". Languages are known by the names of
Postgres' text search configurations; `data/writing.toml` has what each does.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

ENGLISH = "english"
"""How what is in no known language is written."""

_INDIAN_GROUPS = re.compile(r"(?<=\d)(?=(?:\d\d)*\d{3}(?!\d))")


@dataclass(frozen=True)
class Writing:
    """How a language writes. `code` is its code in ISO 639-1; `money`, `day` and `month` are templates; `months` stand in a
    date, `alone` beside a year. `indian`: digits are grouped by two but for the last three; numbers of `ungrouped` digits are
    not grouped.
    """

    code: str
    group: str
    decimal: str
    money: str
    day: str
    month: str
    months: tuple[str, ...]
    alone: tuple[str, ...]
    indian: bool = False
    ungrouped: int = 0
    also: tuple[str, ...] = ()
    """Other codes of the language."""

    def number(self, value: float, form: str = ",.10g") -> str:
        """`value` in Python's `form`, with this language's signs."""
        digits, point, rest = format(value, form).partition(".")
        bare = digits.replace(",", "")
        if self.indian and bare != digits:
            digits = _INDIAN_GROUPS.sub(",", bare)
        if len(bare.lstrip("-")) <= self.ungrouped:
            digits = bare
        return digits.replace(",", self.group) + (self.decimal + rest if point else "")

    def amount(self, value: float, currency: str | None, form: str = ",.10g") -> str:
        """A number of a currency, by its ISO 4217 code; where there is none, the number."""
        number = self.number(value, form)
        return self.money.format(amount=number, currency=currency) if currency else number

    def date(self, day: datetime.date) -> str:
        """A day: "3 May 2024"."""
        return self.day.format(day=day.day, month=self.months[day.month - 1], year=day.year)

    def month_of(self, day: datetime.date) -> str:
        """The month that a day is in: "May 2024"."""
        return self.month.format(month=self.alone[day.month - 1], year=day.year)


@cache
def languages() -> Mapping[str, Writing]:
    """All languages, by name."""
    text = files("quarry.language").joinpath("data/writing.toml").read_text(encoding="utf-8")
    return {
        name: Writing(**each | {"months": _listed(each["months"]), "alone": _listed(each.get("alone", each["months"]))})
        for name, each in tomllib.loads(text).items()
    }


def _listed(names: str) -> tuple[str, ...]:
    return tuple(names.split(", "))


def writing_of(language: str) -> Writing:
    """How a language writes; as English does where that is not known."""
    return languages().get(language) or languages()[ENGLISH]
