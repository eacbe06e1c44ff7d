"""A made-up table that nobody serves, and what it says to a question, worked out row by row in Python."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from quarry.retrieval.facets import Facet, Related, SearchTable, folded_value
from quarry.spans.mention import Clause, Condition, DateRange, MoneyRange, NumberRange

SCHEMA = """
create table houses (
  id text primary key, style text, rooms int, built int, price bigint, sold date, colours text[] not null default '{}',
  town text, heated boolean, title text, listed boolean not null default true
);
create table tenants (house_id text not null, name text, trade text, since date);
"""

HOUSES = SearchTable(
    "houses",
    nouns=("house",),
    date="sold",
    where="t.listed",
    related=(Related("tenant", "tenants", "r.house_id = t.id", "house_id"),),
    facets=(
        Facet("style", "value", "style", "style", "styles"),
        Facet("rooms", "number", "rooms", "number of rooms", "rooms", wording="with {} rooms"),
        Facet("built", "year", "built", "year", "years", wording="built {}"),
        Facet("price", "money", "price", "price", "prices", currency="EUR", wording="for {}"),
        Facet("sold", "date", "sold", "sale", "sales", wording="sold {}"),
        Facet("colour", "array", "colours", "colour", "colours", wording="painted {}"),
        Facet("town", "place", "town", "town", "towns", wording="in {}"),
        Facet("heated", "boolean", "heated", "heating", "heating", wording="heated"),
        Facet("title", "title", "title", "title", "titles", wording="called {}"),
        Facet("tenant", "name", "name", "tenant", "tenants", wording="let to {}", related="tenant"),
        Facet("trade", "value", "trade", "trade", "trades", wording="let to a {}", related="tenant"),
        Facet("since", "date", "since", "tenancy", "tenancies", wording="let {}", related="tenant"),
    ),
)


@dataclass(frozen=True)
class Tenant:
    name: str | None = None
    trade: str | None = None
    since: datetime.date | None = None


@dataclass(frozen=True)
class House:
    id: str
    style: str | None = None
    rooms: int | None = None
    built: int | None = None
    price: int | None = None
    sold: datetime.date | None = None
    colours: tuple[str, ...] = ()
    town: str | None = None
    heated: bool | None = None
    title: str | None = None
    listed: bool = True
    tenants: tuple[Tenant, ...] = field(default=())

    @property
    def row(self) -> list[Any]:
        return [
            self.id, self.style, self.rooms, self.built, self.price, self.sold, list(self.colours), self.town, self.heated,
            self.title, self.listed,
        ]  # fmt: skip


COLUMNS = {"colour": "colours", "tenant": "name"}


def values(row: House | Tenant, facet: str) -> tuple[Any, ...]:
    """The values that a row has."""
    value = getattr(row, COLUMNS.get(facet, facet))
    if facet == "town":
        return tuple(part.strip() for part in value.split(",")) if value else ()
    if isinstance(value, tuple):
        return value
    return () if value is None else (value,)


def holds(row: House | Tenant, condition: Condition) -> bool:
    """Whether one row has such a value, negated or not."""
    had = values(row, condition.facet)
    if condition.range is not None:
        return any(_within(value, condition.range) for value in had)
    if not condition.values:
        return bool(had)
    kind = HOUSES.facet(condition.facet).kind
    if kind == "title":
        return any(f" {wanted.lower()} " in f" {value.lower()} " for value in had for wanted in condition.values)
    wanted = {value.lower() if kind == "place" else value for value in condition.values}
    return any((value.lower() if kind == "place" else _text(value)) in wanted for value in had)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _within(value: Any, range: DateRange | NumberRange | MoneyRange) -> bool:
    if isinstance(range, DateRange):
        first, last = range.first, range.last
        if isinstance(value, int):
            return (first is None or value >= first.year) and (last is None or value <= last.year)
        return (
            (first is None or value >= first)
            and (last is None or value <= last)
            and (not range.months or value.month in range.months)
        )
    includes_least = range.includes_least if isinstance(range, NumberRange) else True
    includes_most = range.includes_most if isinstance(range, NumberRange) else True
    above = range.least is None or value > range.least or (includes_least and value == range.least)
    below = range.most is None or value < range.most or (includes_most and value == range.most)
    return above and below


def meets_alone(house: House, clause: Clause) -> bool:
    return any(_condition_met(house, condition) for condition in clause)


def _condition_met(house: House, condition: Condition) -> bool:
    of_tenant = HOUSES.facet(condition.facet).related is not None
    rows: Sequence[House | Tenant] = house.tenants if of_tenant else [house]
    return any(holds(row, condition) for row in rows) != condition.is_negated


def meets(house: House, clauses: Sequence[Clause]) -> bool:
    """Whether a house is listed and meets every clause: those about tenants by one tenant, a second value by another."""
    groups: list[list[Clause]] = []
    for clause in clauses:
        if not all(HOUSES.facet(c.facet).related and not c.is_negated for c in clause):
            if not meets_alone(house, clause):
                return False
            continue
        for group in groups:
            if not any(_named(clause) & _named(other) for other in group):
                group.append(clause)
                break
        else:
            groups.append([clause])
    return house.listed and all(
        any(all(any(holds(tenant, c) for c in clause) for clause in group) for tenant in house.tenants)
        for group in groups
    )


def _named(clause: Clause) -> set[str]:
    return {condition.facet for condition in clause if condition.range is None}


def count_values(houses: Iterable[House], facet: str) -> Counter[Any]:
    """How many houses have each value, texts folded; None: no value."""
    related = HOUSES.facet(facet).related
    counted: Counter[Any] = Counter()
    for house in houses:
        rows: Sequence[House | Tenant] = house.tenants if related else [house]
        counted.update({folded(value) for row in rows for value in values(row, facet)} or {None})
    return counted


def folded(value: Any) -> Any:
    """A value as groups compare it."""
    return folded_value(value) if isinstance(value, str) else value
