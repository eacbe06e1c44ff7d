"""Filters: conditions on the facets of a source, and the rows that meet them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.sql import Composed

from quarry.postgres.pool import Database
from quarry.query.execute import RowConditions, execute
from quarry.query.paths import MONTH
from quarry.query.phrases import Phrases
from quarry.query.values import truth
from quarry.schema.algebra import (
    LIMIT_MAX,
    Aggregate,
    AnyOf,
    Comparison,
    Condition,
    Exists,
    Not,
    Operator,
    Query,
    Result,
    Scalar,
    comparisons_of,
    mapped,
)
from quarry.schema.source import KEY, NUMERIC_KINDS, Field, Schema, Source

RANGES: frozenset[Operator] = frozenset({"<", "<=", ">", ">=", "between"})


# ---- conditions on facets ----


def compared(field: str, op: Operator, values: Sequence[Scalar]) -> Comparison:
    """A comparison with one or several values."""
    if len(values) == 1:
        return Comparison(field=field, op=op, value=values[0])
    return Comparison(field=field, op=op, values=tuple(values))


def between(field: str, least: Scalar | datetime.date | None, most: Scalar | datetime.date | None) -> Comparison:
    """That a value is from `least` to `most`, both included; None leaves an end open."""
    low, high = (each.isoformat() if isinstance(each, datetime.date) else each for each in (least, most))
    if low is None or high is None:
        ends = [each for each in (low, high) if each is not None]
        return compared(field, "<=" if low is None else ">=", ends) if ends else Comparison(field=field, op="not_null")
    return compared(field, "=", [low]) if low == high else compared(field, "between", [low, high])


def facet_of(comparison: Comparison) -> str:
    """The facet that is compared, also where its months are."""
    return comparison.field.removeprefix(f"{MONTH}(").removesuffix(")")


def facets_of(conditions: Iterable[Condition]) -> list[str]:
    """The facets that conditions compare, each once."""
    return list(dict.fromkeys(map(facet_of, comparisons_of(conditions))))


def parts_of(condition: Condition) -> Sequence[Condition]:
    """The conditions of which any must hold."""
    return condition.any_of if isinstance(condition, AnyOf) else (condition,)


def denies(condition: Condition) -> bool:
    """Whether it is negative: it excludes values, or asks for rows without one."""
    return isinstance(condition, Not) or (isinstance(condition, Comparison) and condition.op in ("!=", "is_null"))


def typed(condition: Condition, source: Source) -> Condition:
    """The condition with values of the kinds that its facets have: requests write numbers and booleans as text, and dates
    may stand for years. Raises ValueError with what is wrong.
    """
    if not isinstance(condition, Comparison):
        return mapped(condition, lambda each, _: typed(each, source))
    facet = source.facets.get(facet_of(condition))
    if facet is None:
        raise ValueError(f"{source.name} has no {facet_of(condition)}")
    is_month = condition.field != facet.name
    if (condition.op in RANGES and facet.facet not in (*NUMERIC_KINDS, "date")) or (is_month and facet.facet != "date"):
        raise ValueError(f"{facet.label} has no such range")
    if is_month or not condition.scalars:
        return condition
    values = [_scalar(facet, value) for value in condition.scalars]
    return compared(condition.field, condition.op, values if condition.op in RANGES else [*dict.fromkeys(values)])


def _scalar(facet: Field, value: Scalar) -> Scalar:
    text = str(value)
    match facet.facet:
        case "boolean":
            if (truth_value := truth(value)) is None:
                raise ValueError(f"{facet.label} is true or false, which {text!r} is not")
            return truth_value
        case "number" | "money" | "year":
            return _number(facet, text)
        case "date":
            try:
                datetime.date.fromisoformat(text)
            except ValueError:
                raise ValueError(f"{facet.label} is a date, which {text!r} is not") from None
    return text


def _number(facet: Field, text: str) -> int | float:
    """A number; a whole one without decimals, as JSON has it."""
    try:
        number = float(text)
        return int(number) if number.is_integer() else number
    except (ValueError, OverflowError):
        if facet.facet == "year":
            try:
                return datetime.date.fromisoformat(text).year
            except ValueError:
                pass
        raise ValueError(f"{facet.label} is a number, which {text!r} is not") from None


def can_have(source: Source, condition: Condition) -> bool:
    """Whether a source has facets for a condition."""
    try:
        typed(condition, source)
    except ValueError:
        return False
    return True


def labels(source: Source, conditions: Sequence[Condition]) -> list[str]:
    """The conditions in words that can follow what they are about. Raises ValueError."""
    # every day is named by a date
    phrases = Phrases(Schema({source.name: source}), source, datetime.date.min)
    return [phrases.condition(typed(each, source)) for each in conditions]


def as_queried(condition: Condition, source: Source) -> Condition:
    """A condition on facets, which holds texts by their words, as a Query asks it. Raises ValueError where the source has no such
    facet.
    """

    def as_contains(each: Condition, _: str = "") -> Condition:
        if not isinstance(each, Comparison):
            return mapped(each, as_contains)
        if source.facets[facet_of(each)].facet not in ("title", "text") or not each.scalars:
            return each
        contains = each.model_copy(update={"op": "contains"})
        return Not(negated=contains) if each.op == "!=" else contains

    return as_contains(typed(condition, source))


def of_same_rows(conditions: Sequence[Condition], source: Source) -> tuple[Condition, ...]:
    """The conditions, joined where they must hold for the same related row. A second one with values of the same field is about
    another row.
    """
    groups: list[list[Condition]] = []
    of_link: dict[str, list[list[Condition]]] = {}
    for condition in conditions:
        link = _link_of(condition, source)
        same = of_link.setdefault(link, []) if link else []
        group = next((group for group in same if not any(_names_same(condition, other) for other in group)), None)
        if group is None:
            group = []
            groups.append(group)
            same.append(group)
        group.append(condition)
    return tuple(_of_one_row(group, source) for group in groups)


def _of_one_row(conditions: Sequence[Condition], source: Source) -> Condition:
    link = _link_of(conditions[0], source)
    has_range = any(each.op in RANGES for each in comparisons_of(conditions))
    if link is None or (len(conditions) == 1 and not has_range):
        return conditions[0]
    return Exists(exists=link, where=tuple(conditions))


def _link_of(condition: Condition, source: Source) -> str | None:
    """The link to the related rows one of which must meet it; None for a condition on the row itself, or on all related rows."""
    fields = [source.fields.get(facet) for facet in facets_of([condition])]
    links = {field.related.name if field and field.related else None for field in fields}
    [*others, link] = links
    is_many = link is not None and source.links[link].is_many
    return link if is_many and not others and not any(map(denies, parts_of(condition))) else None


def _names_same(condition: Condition, other: Condition) -> bool:
    """Whether two conditions name values of one facet. Bounds of a range do not count: they hold for the same row."""
    facets, other_facets = (
        {facet_of(each) for each in comparisons_of([part]) if each.op not in RANGES} for part in (condition, other)
    )
    return not facets.isdisjoint(other_facets)


@dataclass(frozen=True)
class Filtered:
    """The rows of a source that meet all conditions and hold the words. What reads them raises ValueError for what the source
    does not have, and DatabaseUnavailable.
    """

    source: Source
    conditions: Sequence[Condition] = ()
    words: str = ""

    @property
    def schema(self) -> Schema:
        """The schema of the source alone."""
        return Schema({self.source.name: self.source})

    @property
    def query(self) -> Query:
        """The query for the rows."""
        where = of_same_rows([typed(each, self.source) for each in self.conditions], self.source)
        return Query(source=self.source.name, where=where, text=self.words)

    def where(self, parameters: dict[str, Any] | None = None) -> Composed:
        """The condition that a row `t` meets the filters and that the caller may see it. Values become `parameters`; without
        these, quoted literals.
        """
        rows = RowConditions(self.source.name, self.schema, today(), parameters)
        return rows.met(self.query.where)

    def keys_selected(self) -> Composed:
        """Selects the `keys` of the rows; null for many."""
        rows = RowConditions(self.source.name, self.schema, today(), None)
        return rows.keys(rows.met(self.query.where))

    async def run(self, database: Database, **shape: Any) -> Result:
        """What a query over the rows gives; `shape` are its other parts."""
        return await execute(database, self.query.model_copy(update=shape), self.schema, today())

    async def keys(self, database: Database, limit: int) -> list[str]:
        """The keys of at most `limit` rows, the latest first."""
        result = await self.run(database, select=(KEY,), limit=min(max(limit, 1), LIMIT_MAX))
        return [str(key) for (key,) in result.rows]

    async def count(self, database: Database) -> int:
        """How many rows there are."""
        return (await self.run(database, aggregate=(Aggregate(fn="count"),))).total


def today() -> datetime.date:
    """The day in UTC."""
    return datetime.datetime.now(datetime.UTC).date()
