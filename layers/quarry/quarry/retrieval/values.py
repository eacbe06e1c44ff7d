"""The values of facets in SQL: which rows have them, how they are counted in the dictionary, and which a caller may see.

Writes update the counts; `refresh` counts again, and corrects what concurrent writes miscounted. Only `refresh` counts words.

The dictionary counts the values of all rows. A guarded value is used only if the caller can see a row that has it.

A value counts once for each row that has it, or once for each of its related rows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, LiteralString, NamedTuple

import psycopg
from psycopg.errors import Error as PostgresError
from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Composed, Placeholder
from psycopg.sql import Literal as Quoted

from quarry.platform.errors import DatabaseUnavailable, QuarryError
from quarry.postgres.connections import fault_of_source
from quarry.postgres.pool import Database
from quarry.schema.matching import holds_one_of
from quarry.schema.source import VALUE_MAX_CHARACTERS, Field, Link, Source


def values_function(table: Source) -> str:
    """The SQL function `<table>_values`: each value of each listed facet, its owner, and the number of rows."""
    return f"""-- Written by tools/generate.py from the facets of {table.name}.
-- The values by which {table.name} are looked up, and how many rows have each.
create or replace function {table.name}_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
{values_query(table)}
$$;
"""


def values_query(table: Source, where: str | None = None) -> str:
    """Selects each value of each listed facet, its owner, and the number of rows `t` that have it and meet `where`."""
    values = [changed_values(table, relations, "1", where=where) for relations in relations_of(table)]
    return sums_of(values) if values else "    select ''::text, ''::text, ''::text, 0 where false"


def value_expression(facet: Field) -> LiteralString:
    """An SQL expression for the values of a facet; set-returning if a row may have several."""
    if facet.facet == "place":
        return f"unnest(place_parts({facet.value}))"
    if facet.facet == "title":
        return f"title_runs({facet.value})"
    return f"unnest({facet.value})" if facet.has_several else facet.value


def relations_of(table: Source) -> list[Sequence[Link]]:
    """The groups of relations with listed facets; the empty group stands for the rows themselves. Relations to one table that
    have an owner are one group, to read it once."""
    names = {_related(facet) for facet in table.listed}
    relations: dict[str | None, list[Link]] = {}
    for name, link in table.links.items():
        if name in names:
            relations.setdefault(link.rows if link.owner else name, []).append(link)
    return [*([()] if None in names else []), *relations.values()]


def _related(facet: Field) -> str | None:
    return facet.related.name if facet.related else None


def changed_values(table: Source, relations: Sequence[Link], change: str, *, where: str | None = None) -> str:
    """Selects the values that rows have by these relations to one table, each with the change of its count."""
    rows = f"{table.rows} t"
    holding: dict[str | None, str] = {None: ""}
    if relations:
        first = relations[0]
        holding = {each.name: f" where {each.on('t', 'r')}" if each.owner else "" for each in relations}
        on = f"r.{first.owner} = {table.key('t')}" if first.owner else first.on("t", "r")
        rows += f" join {first.rows} r on {on}"
    each = "\n        union all ".join(
        f"select '{facet.name}', {value_expression(facet)}{holding[_related(facet)]}"
        for facet in table.listed
        if _related(facet) in holding
    )
    searched = table.dictionary_rows if where is None else where
    return f"""      select {change}, v.facet, {table.owner}, v.value from {rows}, lateral (select distinct a.* from (
        {each}
      ) a (facet, value)) v (facet, value){f" where {searched}" if searched != "true" else ""}"""


def sums_of(values: Sequence[str]) -> str:
    """Sums up the changes in `values`."""
    union = "\n      union all\n".join(values)
    return f"""    select w.facet, w.scope, w.value, sum(w.change)::int from (
{union}
    ) w (change, facet, scope, value) where length(w.value) <= {VALUE_MAX_CHARACTERS}
    group by w.facet, w.scope, w.value having sum(w.change) <> 0"""


Owners = Mapping[str, str | None]
"""By the name of a table with owners: whose values are known; None for nobody's."""
NO_OWNERS: Owners = MappingProxyType({})
Proposed = tuple[str, str, str]
"""A value in the dictionary: its table, its facet, and the value."""

PROPOSED_MAX = 1_000
"""How many values are checked together; further ones count as not visible."""
ROWS_FIRST = 2_000
"""How many visible rows are read first, since most values are common."""


def owners_of(tables: Sequence[Source], owners: Owners) -> list[str | None]:
    """For each table, whose values are known; '' for a table without owners."""
    return [owners.get(table.name, "") for table in tables]


async def visible_values(
    database: Database, tables: Iterable[Source], proposed: Iterable[Proposed]
) -> frozenset[Proposed]:
    """The values that the caller may see. One statement checks those of guarded facets, by an index or by reading the visible
    rows once.
    """
    by_name = {table.name: table for table in tables}
    visible, values = set[Proposed](), dict[tuple[str, str], list[str]]()
    for place, each in enumerate(dict.fromkeys(proposed)):
        table, facet, value = each
        if facet not in by_name[table].facets:
            continue  # the facet is no longer declared
        if facet not in by_name[table].guarded:
            visible.add(each)
        elif place < PROPOSED_MAX:
            values.setdefault((table, facet), []).append(value)
    for rows in await _rows_of_each(database, by_name, values, _visible):
        visible.update((row["table_name"], row["facet"], row["value"]) for row in rows)
    return frozenset(visible)


async def frequent_visible_values(
    database: Database, facets: Iterable[tuple[Source, str]], limit: int
) -> Mapping[tuple[str, str], list[str]]:
    """The most frequent values of guarded facets among the first ROWS_FIRST rows that the caller may see, in one statement. Other
    rows do not affect them.
    """
    facets = list(facets)
    by_name = {table.name: table for table, _ in facets}
    values = {(table.name, facet): [str(limit)] for table, facet in facets if facet in table.guarded}
    by_facet: dict[tuple[str, str], list[str]] = {}
    for rows in await _rows_of_each(database, by_name, values, _frequent):
        for row in rows:
            by_facet.setdefault((row["table_name"], row["facet"]), []).append(row["value"])
    return by_facet


_ValuesByFacet = Mapping[tuple[str, str], Sequence[str]]
"""The values of each table and facet."""
_Select = Callable[[Source, str, Sequence[str], list[object]], Composed]
"""The last argument collects the values of the placeholders."""


async def _rows_of_each(
    database: Database, tables: Mapping[str, Source], values_asked: _ValuesByFacet, select: _Select
) -> list[list[DictRow]]:
    """Runs one statement for all tables; if a source is broken, one for each table, without the broken one."""
    if not values_asked:
        return []
    try:
        return [await _rows_for(database, tables, values_asked, select)]
    except (PostgresError, QuarryError) as error:
        names = dict.fromkeys(table for table, _ in values_asked)
        if isinstance(error, DatabaseUnavailable) or fault_of_source(error) is None:
            raise
        if len(names) == 1:
            return []
    alone = [{each: values for each, values in values_asked.items() if each[0] == name} for name in names]
    return [rows for each in alone for rows in await _rows_of_each(database, tables, each, select)]


async def _rows_for(
    database: Database, tables: Mapping[str, Source], values_asked: _ValuesByFacet, select: _Select
) -> list[DictRow]:
    parameters: list[object] = []
    selects = [select(tables[table], facet, values, parameters) for (table, facet), values in values_asked.items()]
    by_name = {f"p{place}": value for place, value in enumerate(parameters)}
    return await database.rows(SQL(" union all ").join(selects), by_name)


def _placeholder(parameters: list[object], value: object) -> Composable:
    parameters.append(value)
    return Placeholder(f"p{len(parameters) - 1}")


def _visible(table: Source, name: str, values: Sequence[str], parameters: list[object]) -> Composed:
    """Selects the values of a facet that a visible row has."""
    facet = table.facets[name]
    proposed = SQL("{}::text[]").format(_placeholder(parameters, list(values)))
    link = facet.related
    select = _of_related(table, facet, link, proposed) if link else _of_rows(table, facet, proposed)
    return SQL("(select {} as table_name, {} as facet, v.value from ({}) v)").format(
        Quoted(table.name), Quoted(name), select
    )


def _frequent(table: Source, name: str, limit: Sequence[str], parameters: list[object]) -> Composed:
    """Selects the most frequent values of a facet among visible rows."""
    facet = table.facets[name]
    link = facet.related
    joined = SQL("join {} r on {}").format(SQL(link.rows or ""), SQL(link.on("t", "r"))) if link else SQL("")
    return SQL(
        "(select {name} as table_name, {facet} as facet, v.value from ("
        "select v.value from {rows} t {joined} cross join lateral (select {value} as value) v"
        " where ({guard}) limit {first}) v where btrim(v.value) <> '' group by v.value"
        " order by count(*) desc, v.value limit {limit}::int)"
    ).format(
        name=Quoted(table.name),
        facet=Quoted(name),
        rows=SQL(table.rows),
        joined=joined,
        value=SQL(value_expression(facet)),
        guard=SQL(table.guard("t")),
        first=Quoted(ROWS_FIRST),
        limit=_placeholder(parameters, limit[0]),
    )


def _of_rows(table: Source, facet: Field, proposed: Composable) -> Composed:
    missing = SQL("(select m.given from missing m)::text[]")
    return SQL(
        "with first as materialized (select v.value from {rows} t cross join lateral (select {value} as value) v"
        " where ({guard}) limit {limit}),"
        " missing as materialized (select array(select unnest({proposed}) except select f.value from first f) as given)"
        " select distinct f.value from first f where f.value = any({proposed})"
        " union all select distinct v.value from {rows} t cross join lateral (select {value} as value) v"
        " where (select cardinality(m.given) > 0 from missing m) and ({guard}) and {met} and v.value = any({missing})"
    ).format(
        rows=SQL(table.rows),
        value=SQL(value_expression(facet)),
        guard=SQL(table.guard("t")),
        limit=Quoted(ROWS_FIRST),
        proposed=proposed,
        met=_has_one_of(facet, missing),
        missing=missing,
    )


def _of_related(table: Source, facet: Field, link: Link, proposed: Composable) -> Composed:
    return SQL(
        "select distinct v.value from {related} r cross join lateral (select {value} as value) v"
        " where {met} and v.value = any({proposed}) and exists (select from {rows} t where ({guard}) and ({on}))"
    ).format(
        related=SQL(link.rows or ""),
        value=SQL(value_expression(facet)),
        met=_has_one_of(facet, proposed),
        proposed=proposed,
        rows=SQL(table.rows),
        guard=SQL(table.guard("t")),
        on=SQL(link.on("t", "r")),
    )


def _has_one_of(facet: Field, values: Composable) -> Composed:
    """The SQL condition that a row has one of the values, in a form that an index serves."""
    if facet.facet == "place":
        return SQL("place_parts({}) && {}").format(SQL(facet.value), values)
    return holds_one_of(facet, SQL(facet.value), ("a",), _SharedParameters(values))


@dataclass(frozen=True)
class _SharedParameters:
    """Parameters that are an SQL expression with the values."""

    values: Composable

    def parameter(self, value: object) -> Composable:
        return self.values

    def once(self, expression: Composable) -> Composable:
        return SQL("(select {})").format(expression)


_FUNCTIONS: Mapping[Literal["values", "words"], LiteralString] = {
    "values": "refresh_facet_values",
    "words": "count_lexemes",
}
_OF_ONE_TABLE = (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
"""Errors of one table alone: it is too large for the time limit, or locked."""

logger = logging.getLogger(__name__)


class CountedPart(NamedTuple):
    """What is counted in a table."""

    what: Literal["values", "words"]
    table: str

    def __str__(self) -> str:
        return f"{self.what} of {self.table}"


async def refresh(
    database: Database,
    work: Iterable[CountedPart],
    *,
    timeout_seconds: float,
    keep_going: Callable[[], bool] = lambda: True,
) -> dict[CountedPart, int]:
    """Count the values, or words, of each table in turn while `keep_going` says so; each may take `timeout_seconds`.

    A table that takes longer or is locked does not stop the others; then DatabaseUnavailable names those that failed. A database
    that is away raises it at once.
    """
    numbers: dict[CountedPart, int] = {}
    failed: dict[CountedPart, DatabaseUnavailable] = {}
    for each in work:
        if not keep_going():
            break
        try:
            numbers[each] = await _count(database, each, timeout_seconds)
        except DatabaseUnavailable as error:
            if not isinstance(error.__cause__, _OF_ONE_TABLE):
                raise
            logger.warning("could not count the %s: %s", each, error.__cause__)
            failed[each] = error
    if failed:
        names = ", ".join(map(str, failed))
        raise DatabaseUnavailable(f"These could not be counted: {names}.") from next(iter(failed.values()))
    return numbers


async def _count(database: Database, each: CountedPart, timeout_seconds: float) -> int:
    async with database.transaction() as connection:
        await connection.execute(SQL("set local statement_timeout = {}").format(Quoted(int(timeout_seconds * 1000))))
        cursor = await connection.execute(
            SQL("select {}(%s) as counted").format(SQL(_FUNCTIONS[each.what])), [each.table]
        )
        row = await cursor.fetchone()
        return (row["counted"] if row else None) or 0
