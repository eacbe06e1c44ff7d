"""The rows that a query is about: those of its source that the caller may see and that meet `where` and `text`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from psycopg.sql import SQL, Composed

from quarry.query.algebra import DEPTH_MAX, PARTS_MAX, Comparison, Condition, Query, conditions_of
from quarry.query.conditions import all_of, words_held
from quarry.query.paths import invalid, rows_of, source_of
from quarry.query.schema import Source
from quarry.query.scope import Building, Scope

ROW = "t"
"""The alias of the rows of every query's source."""


@dataclass(frozen=True)
class Base:
    """A query's rows. `tables` and `where` are what counts them; the scope may join more, without changing their number."""

    query: Query
    pointer: str
    source: Source
    scope: Scope
    tables: Composed
    joins: bool
    """Whether `tables` are several."""
    where: Composed

    @property
    def counted(self) -> Composed:
        """`select count(*) …` of the rows."""
        return SQL("select count(*) from {} where {}").format(self.tables, self.where)

    @property
    def building(self) -> Building:
        return self.scope.building


def base_of(building: Building, query: Query, pointer: str) -> Base:
    """The rows of a query. Raises InvalidInput for an unknown source."""
    source = source_of(building.schema, query.source, f"{pointer}/source")
    scope = Scope(building, rows_of(source), ROW)
    terms = [SQL("({})").format(SQL(source.guard(ROW))), all_of(scope, query.where, f"{pointer}/where")]
    if query.text.strip():
        with building.collected():
            terms.append(SQL("({})").format(words_held(scope, query.text.strip(), f"{pointer}/text")))
    return Base(query, pointer, source, scope, scope.tables, scope.joins, SQL(" and ").join(terms))


def check_size(query: Query) -> None:
    """Raises InvalidInput for a query of too many parts, or nested too deeply."""
    for parts, depth in enumerate(_depths(query, 1), 1):
        if depth > DEPTH_MAX:
            raise invalid("", f"conditions and queries may be nested at most {DEPTH_MAX} deep")
        if parts > PARTS_MAX:
            raise invalid("", f"a query has at most {PARTS_MAX} conditions, fields and nested queries")


def _depths(query: Query, depth: int) -> Iterator[int]:
    """How deep each part of a query is nested."""
    yield depth
    yield from (depth for _ in (*query.select, *query.group, *query.order))
    for aggregate in query.aggregate:
        yield depth
        yield from _condition_depths(aggregate.where, depth + 1)
    yield from _condition_depths((*query.where, *query.having), depth)


def _condition_depths(conditions: Sequence[Condition], depth: int) -> Iterator[int]:
    for condition in conditions:
        yield depth
        if isinstance(condition, Comparison) and condition.query is not None:
            yield from _depths(condition.query, depth + 1)
        yield from _condition_depths(conditions_of(condition), depth + 1)
