"""Which values of the dictionary a caller may know: those of a row that the caller can see.

The dictionary counts the values of all rows and only proposes: a guarded value is used if the table has a visible row with it,
read with the caller's own rights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from psycopg.errors import Error as PostgresError
from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Composed, Literal, Placeholder

from quarry.platform.errors import DatabaseUnavailable, QuarryError
from quarry.postgres.failures import fault_of_source
from quarry.postgres.pool import Database
from quarry.retrieval.facets import Facet, SearchTable
from quarry.retrieval.held_values import holds_one_of
from quarry.retrieval.values_function import value_expression

Owners = Mapping[str, str | None]
"""By the name of a table whose rows have owners: whose values are known; None: nobody's."""
NO_OWNERS: Owners = MappingProxyType({})
Proposed = tuple[str, str, str]
"""A value that the dictionary holds: the name of its table, its facet, and the value."""

PROPOSED_MAX = 1_000
"""So many values are looked for together, the first ones; further ones count as not visible."""
ROWS_FIRST = 2_000
"""So many visible rows are read first: most values that are asked for are common."""


def owners_of(tables: Sequence[SearchTable], owners: Owners) -> list[str | None]:
    """For each table whose values are known; '' for those of everybody."""
    return [owners.get(table.name, "") for table in tables]


async def visible_values(
    database: Database, tables: Iterable[SearchTable], proposed: Iterable[Proposed]
) -> frozenset[Proposed]:
    """Those of the values that the caller may know. Asks the database about guarded facets alone, in one statement: of each it
    reads an index of the table, or the visible rows once.
    """
    by_name = {table.name: table for table in tables}
    known, asked = set[Proposed](), dict[tuple[str, str], list[str]]()
    for place, each in enumerate(dict.fromkeys(proposed)):
        table, facet, value = each
        if facet not in by_name[table].by_name:
            continue  # the declaration that is in force does not have it
        if facet not in by_name[table].guarded:
            known.add(each)
        elif place < PROPOSED_MAX:
            asked.setdefault((table, facet), []).append(value)
    for rows in await _each_seen(database, by_name, asked, _visible):
        known.update((row["table_name"], row["facet"], row["value"]) for row in rows)
    return frozenset(known)


async def frequent_visible_values(
    database: Database, facets: Iterable[tuple[SearchTable, str]], limit: int
) -> Mapping[tuple[str, str], list[str]]:
    """The most frequent values of guarded facets among the first ROWS_FIRST rows that the caller may see: what the rows of others
    hold changes neither which they are nor their order. One statement.
    """
    facets = list(facets)
    by_name = {table.name: table for table, _ in facets}
    asked = {(table.name, facet): [str(limit)] for table, facet in facets if facet in table.guarded}
    found: dict[tuple[str, str], list[str]] = {}
    for rows in await _each_seen(database, by_name, asked, _frequent):
        for row in rows:
            found.setdefault((row["table_name"], row["facet"]), []).append(row["value"])
    return found


_Asked = Mapping[tuple[str, str], Sequence[str]]
"""The values of each table and facet."""
_Select = Callable[[SearchTable, str, Sequence[str], list[object]], Composed]
"""The last argument takes what the statement's placeholders stand for."""


async def _each_seen(
    database: Database, tables: Mapping[str, SearchTable], asked: _Asked, select: _Select
) -> list[list[DictRow]]:
    """Asks about all in one statement. Where a source is broken, asks about each table by itself: of the broken one no value is
    known.
    """
    if not asked:
        return []
    try:
        return [await _seen(database, tables, asked, select)]
    except (PostgresError, QuarryError) as error:
        names = dict.fromkeys(table for table, _ in asked)
        if isinstance(error, DatabaseUnavailable) or fault_of_source(error) is None:
            raise
        if len(names) == 1:
            return []
    alone = [{each: values for each, values in asked.items() if each[0] == name} for name in names]
    return [rows for each in alone for rows in await _each_seen(database, tables, each, select)]


async def _seen(database: Database, tables: Mapping[str, SearchTable], asked: _Asked, select: _Select) -> list[DictRow]:
    parameters: list[object] = []
    selects = [select(tables[table], facet, values, parameters) for (table, facet), values in asked.items()]
    named = {f"p{place}": value for place, value in enumerate(parameters)}
    return await database.rows(SQL(" union all ").join(selects), named)


def _kept(parameters: list[object], value: object) -> Composable:
    parameters.append(value)
    return Placeholder(f"p{len(parameters) - 1}")


def _visible(table: SearchTable, name: str, values: Sequence[str], parameters: list[object]) -> Composed:
    """Selects those of the values of a facet that a visible row has."""
    facet = table.facet(name)
    proposed = SQL("{}::text[]").format(_kept(parameters, list(values)))
    found = _of_related(table, facet, proposed) if facet.related else _of_rows(table, facet, proposed)
    return SQL("(select {} as table_name, {} as facet, v.value from ({}) v)").format(
        Literal(table.name), Literal(name), found
    )


def _frequent(table: SearchTable, name: str, limit: Sequence[str], parameters: list[object]) -> Composed:
    """Selects the most frequent values of a facet among visible rows."""
    facet = table.facet(name)
    related = table.relation(facet.related) if facet.related else None
    joined = SQL("join {} r on {}").format(SQL(related.rows), SQL(related.on)) if related else SQL("")
    return SQL(
        "(select {name} as table_name, {facet} as facet, v.value from ("
        "select v.value from {rows} t {joined} cross join lateral (select {value} as value) v"
        " where {guard} limit {first}) v where btrim(v.value) <> '' group by v.value"
        " order by count(*) desc, v.value limit {limit}::int)"
    ).format(
        name=Literal(table.name),
        facet=Literal(name),
        rows=SQL(table.rows),
        joined=joined,
        value=SQL(value_expression(facet)),
        guard=_guard(table),
        first=Literal(ROWS_FIRST),
        limit=_kept(parameters, limit[0]),
    )


def _of_rows(table: SearchTable, facet: Facet, proposed: Composable) -> Composed:
    missing = SQL("(select m.given from missing m)::text[]")
    return SQL(
        "with first as materialized (select v.value from {rows} t cross join lateral (select {value} as value) v"
        " where {guard} limit {limit}),"
        " missing as materialized (select array(select unnest({proposed}) except select f.value from first f) as given)"
        " select distinct f.value from first f where f.value = any({proposed})"
        " union all select distinct v.value from {rows} t cross join lateral (select {value} as value) v"
        " where (select cardinality(m.given) > 0 from missing m) and {guard} and {met} and v.value = any({missing})"
    ).format(
        rows=SQL(table.rows),
        value=SQL(value_expression(facet)),
        guard=_guard(table),
        limit=Literal(ROWS_FIRST),
        proposed=proposed,
        met=_has_one_of(facet, missing),
        missing=missing,
    )


def _of_related(table: SearchTable, facet: Facet, proposed: Composable) -> Composed:
    related = table.relation(facet.related or "")
    return SQL(
        "select distinct v.value from {related} r cross join lateral (select {value} as value) v"
        " where {met} and v.value = any({proposed}) and exists (select from {rows} t where {guard} and ({on}))"
    ).format(
        related=SQL(related.rows),
        value=SQL(value_expression(facet)),
        met=_has_one_of(facet, proposed),
        proposed=proposed,
        rows=SQL(table.rows),
        guard=_guard(table),
        on=SQL(related.on),
    )


def _guard(table: SearchTable) -> Composed:
    return SQL("({}) and ({})").format(SQL(table.where), SQL(table.guard))


def _has_one_of(facet: Facet, values: Composable) -> Composed:
    """Whether a row has one of the values, so that an index on the column serves."""
    return holds_one_of(facet, SQL(facet.sql), ("a",), _Given(values))


@dataclass(frozen=True)
class _Given:
    """In place of parameters an expression that holds the values."""

    values: Composable

    def parameter(self, value: object) -> Composable:
        return self.values

    def once(self, expression: Composable) -> Composable:
        return SQL("(select {})").format(expression)
