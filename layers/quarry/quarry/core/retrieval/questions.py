"""Questions about a searched table, answered from all of its rows, exactly: each in one statement."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal

from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry.core.off_loop import off_loop
from quarry.core.postgres.pool import Database
from quarry.core.query.mention import Grain
from quarry.core.query.question import Ask, Clause
from quarry.core.retrieval.answers import Answer, Group, Measure, Relaxation, Standing, Value
from quarry.core.retrieval.facets import Facet, SearchTable
from quarry.core.retrieval.filters import EVERY_ROW, Among, Arguments, clause_sql, related_rows, where
from quarry.core.retrieval.wording import clause_label

KEYS_MAX = 1000
"""So many rows are named by an answer that counts them all."""

GROUPS_MAX = 10_000
"""So many groups are told by an answer that counts them all."""

RELAXED_MAX = 10
"""Of more clauses it is not told what each one costs."""


@dataclass
class _Statement:
    table: SearchTable
    clauses: Sequence[Clause]
    among: Among
    arguments: Arguments = field(default_factory=Arguments)

    @property
    def rows(self) -> Composed:
        """`from … where …` of the rows that meet all clauses."""
        return SQL("from {} t where ").format(SQL(self.table.rows)) + where(
            self.table, self.clauses, self.arguments, self.among
        )

    @property
    def key(self) -> SQL:
        return SQL(self.table.key_sql)


async def answer(
    database: Database, table: SearchTable, ask: Ask, clauses: Sequence[Clause], among: Among = EVERY_ROW
) -> Answer:
    """What the rows that meet every clause say. Rows are in the order of their date, latest first, then of their keys.

    Raises ValueError for a condition or a facet that the table cannot be asked about.
    """
    if ask.kind in ("distinct", "groups", "measure"):
        return await groups_over(database, [table], ask, clauses, among, measures_of(ask))
    statement = _Statement(table, clauses, among)
    if ask.kind == "extreme":
        return await _extreme(database, statement, ask)
    if ask.kind == "rows":
        return await _rows(database, statement, ask)
    counted = (
        SQL("select count(*) as rows ") if ask.kind == "count" else SQL("select exists (select ")
    ) + statement.rows
    if ask.kind == "exists":
        counted += SQL(")::int as rows")
    row = await _row(database, counted, statement.arguments)
    return Answer(ask, row["rows"], number=row["rows"] if ask.kind == "count" else None)


async def standings(
    database: Database, table: SearchTable, clauses: Sequence[Clause], keys: Sequence[str]
) -> Mapping[str, Standing]:
    """Which clauses each of these rows meets by itself, by key; rows that are not searched are left out."""
    statement = _Statement(table, (), Among(None, keys))
    met = [SQL("coalesce({}, false)").format(clause_sql(table, clause, statement.arguments)) for clause in clauses]
    query = (
        SQL("select {} as key, array[").format(statement.key)
        + SQL(", ").join(met)
        + SQL("]::boolean[] as met ")
        + statement.rows
    )
    return {
        row["key"]: Standing(
            tuple(place for place, met in enumerate(row["met"]) if met),
            tuple(place for place, met in enumerate(row["met"]) if not met),
        )
        for row in await database.rows(query, statement.arguments.values)
    }


def labels_of(table: SearchTable, clauses: Sequence[Clause], places: Sequence[int]) -> list[str]:
    """The clauses at these places in words."""
    return [clause_label(table, clauses[place]) for place in places]


async def relaxations(
    database: Database, table: SearchTable, clauses: Sequence[Clause], among: Among = EVERY_ROW
) -> list[Relaxation]:
    """How many rows there would be without each clause alone; those that bring most rows first. Nothing of more clauses than
    `RELAXED_MAX`: the statement counts once for each, by all others.
    """
    if not 0 < len(clauses) <= RELAXED_MAX:
        return []
    row = await _row(database, *await off_loop(_counts_without_each, table, clauses, among))
    found = [Relaxation(place, clause_label(table, clauses[place]), rows) for place, rows in enumerate(row["rows"])]
    return sorted(found, key=lambda relaxation: -relaxation.rows)


def _counts_without_each(table: SearchTable, clauses: Sequence[Clause], among: Among) -> tuple[Composed, Arguments]:
    arguments = Arguments()
    counts = [
        SQL("(select count(*) ")
        + _Statement(table, [*clauses[:place], *clauses[place + 1 :]], among, arguments).rows
        + SQL(")")
        for place in range(len(clauses))
    ]
    return SQL("select array[") + SQL(", ").join(counts) + SQL("] as rows"), arguments


async def _rows(database: Database, statement: _Statement, ask: Ask) -> Answer:
    dated = statement.table.date and statement.table.facet(statement.table.date)
    order = SQL("{} desc nulls last, ").format(single_value(statement.table, dated, "max")) if dated else SQL("")
    query = (
        SQL("select {} as key, count(*) over () as rows ").format(statement.key)
        + statement.rows
        + SQL(" order by {}{} limit {}").format(order, statement.key, Literal(min(ask.limit or KEYS_MAX, KEYS_MAX)))
    )
    found = await database.rows(query, statement.arguments.values)
    return Answer(ask, found[0]["rows"] if found else 0, keys=tuple(row["key"] for row in found))


def measures_of(ask: Ask) -> tuple[Measure, ...]:
    """What is reckoned, where something is."""
    return (Measure(ask.function, ask.of),) if ask.function and ask.of else ()


async def groups_over(
    database: Database,
    tables: Sequence[SearchTable],
    ask: Ask,
    clauses: Sequence[Clause],
    among: Among = EVERY_ROW,
    measures: Sequence[Measure] = (),
) -> Answer:
    """The groups, or the number of them, over the rows of several tables together, with what is measured of their rows: each
    table has what is asked for, and the facets of the clauses and the measures. Where rows are counted, there are no groups.

    Raises ValueError for a measure of what is no number.
    """
    arguments = Arguments()
    had = [
        SQL("select array({}) as values{} ").format(
            _values(table, _asked_facet(table, ask), ask.grain)
            if ask.kind not in ("count", "measure")
            else SQL("select null::text where false"),
            SQL("").join(SQL(", {} as {}").format(_measured(table, each), Identifier(each.name)) for each in measures),
        )
        + _Statement(table, clauses, among, arguments).rows
        for table in tables
    ]
    reckoned = SQL("").join(
        SQL(", {}({}) as {}").format(SQL(each.function), Identifier("h", each.name), Identifier(each.name))
        for each in measures
    )
    query = SQL(
        "with had as materialized ({had}),"
        " grouped as (select v.value, count(*) as rows{reckoned} from had h, unnest(h.values) v (value) group by v.value)"
        "{groups}, (select to_jsonb(t) from (select count(*) as rows{reckoned} from had h) t) as everything"
    ).format(had=SQL(" union all ").join(had), reckoned=reckoned, groups=_groups_asked(ask, measures))
    return _grouped(tables[0], ask, await _row(database, query, arguments), [each.name for each in measures])


async def kept_groups(database: Database, table: SearchTable, ask: Ask) -> Answer:
    """The groups, or the number of them, over all rows of a table by a listed facet, as they are counted while rows are written:
    no row is read, and `rows` of the answer is 0. Values that are too long to be kept are left out.
    """
    query = SQL(
        "with grouped as (select value, sum(row_count) as rows from facet_values"
        " where table_name = %(table)s and facet = %(facet)s group by value having sum(row_count) > 0)"
        "{groups}, '{{\"rows\": 0}}'::jsonb as everything"
    ).format(groups=_groups_asked(ask))
    row = await _row(database, query, Arguments({"table": table.name, "facet": ask.facet}))
    return _grouped(table, ask, row)


def _groups_asked(ask: Ask, measures: Sequence[Measure] = ()) -> Composed:
    """What of the rows of `grouped`, which hold a value and what is told of it, is asked for."""
    order = SQL("{} {} nulls last").format(
        Identifier(measures[0].name if ask.function else "rows"), SQL("asc" if ask.ascending else "desc")
    )
    first: Composable = SQL("")
    if ask.limit is not None:
        first = SQL(" order by {} fetch first {} rows with ties").format(order, Literal(ask.limit))
    return SQL(
        ", asked as (select * from grouped{first})"
        " select (select count(*) from grouped) as number,"
        " (select count(*) from asked) as asked,"
        " array(select to_jsonb(g) from asked g order by {order}, g.value limit {limit}) as groups"
    ).format(order=order, first=first, limit=Literal(GROUPS_MAX))


def _grouped(table: SearchTable, ask: Ask, row: DictRow, names: Sequence[str] = ()) -> Answer:
    everything = row["everything"]
    if ask.kind == "distinct":
        return Answer(ask, everything["rows"], number=row["number"])
    facet = _asked_facet(table, ask) if row["groups"] else None
    groups = tuple(
        Group(_as_value(facet, group["value"]), group["rows"], {name: group[name] for name in names})
        for group in row["groups"]
        if facet
    )
    measured = {name: everything[name] for name in names}
    return Answer(
        ask, everything["rows"], number=row["number"], groups=groups, group_count=row["asked"], measures=measured
    )


def _measured(table: SearchTable, measure: Measure) -> Composable:
    facet = table.facet(measure.facet)
    if not facet.is_measurable:
        raise ValueError(f"{facet.label} is no number of its own")
    return SQL("({})::numeric").format(SQL(facet.sql))


async def _extreme(database: Database, statement: _Statement, ask: Ask) -> Answer:
    facet = _asked_facet(statement.table, ask)
    if facet.kind not in ("number", "year", "money", "date"):
        raise ValueError(f"{facet.label} has no order")
    value = single_value(statement.table, facet, "min" if ask.ascending else "max")
    query = (
        SQL("with valued as {} (select {} as key, {} as value ").format(
            # a row's own value may have an index that is in this order; that of others is looked up once
            SQL("materialized" if facet.related else "not materialized"),
            statement.key,
            value,
        )
        + statement.rows
        + SQL("), first as (select * from valued where value is not null order by value {}").format(
            SQL("asc nulls first" if ask.ascending else "desc nulls last")
        )
        + SQL(" fetch first {} rows with ties)").format(Literal(ask.limit or 1))
        + SQL(
            " select key, to_jsonb(value) as value, count(*) over () as rows from first order by first.value {}, key"
        ).format(SQL("asc" if ask.ascending else "desc"))
        + SQL(" limit {}").format(Literal(KEYS_MAX))
    )
    found = await database.rows(query, statement.arguments.values)
    if not found:
        return Answer(ask, 0)
    return Answer(
        ask,
        found[0]["rows"],
        keys=tuple(row["key"] for row in found),
        value=_as_value(facet, found[0]["value"]),
        values=tuple(_as_value(facet, row["value"]) for row in found),
    )


async def _row(database: Database, query: Composed, arguments: Arguments) -> DictRow:
    row = await database.row(query, arguments.values)
    assert row is not None
    return row


def _asked_facet(table: SearchTable, ask: Ask) -> Facet:
    name = ask.facet or (table.date if ask.grain else None)
    if name is None:
        raise ValueError("which facet?")
    return table.facet(name)


def _values(table: SearchTable, facet: Facet, grain: Grain | None) -> Composed:
    """`select …` of the different values that a row has, periods of dates by their first day."""
    value: Composable = SQL(facet.sql)
    if facet.is_array:
        value = SQL("unnest({})").format(value)
    elif facet.kind == "place":
        value = SQL("unnest(place_parts({}))").format(value)
    elif grain is not None and facet.kind == "date":
        value = SQL("date_trunc({}, {}::timestamp)::date").format(Literal(grain), value)
    rows = related_rows(table, facet.related) if facet.related else SQL("")
    return SQL("select distinct x.value from (select {} as value {}) x where x.value is not null").format(value, rows)


def single_value(table: SearchTable, facet: Facet, function: str) -> Composed:
    """The value that a row is ordered by; of several, the lowest or highest."""
    if facet.related is None:
        return SQL("{}").format(SQL(facet.sql))
    aggregate = SQL("min({})" if function == "min" else "max({})").format(SQL(facet.sql))
    return SQL("(select {} {})").format(aggregate, related_rows(table, facet.related))


def _as_value(facet: Facet, value: object) -> Value:
    if facet.kind == "date" and isinstance(value, str):
        with suppress(ValueError):  # "infinity", "0044-03-15 BC" stay as Postgres writes them
            return datetime.date.fromisoformat(value)
    if isinstance(value, Decimal):
        return float(value)
    assert isinstance(value, str | int | float | bool)
    return value
