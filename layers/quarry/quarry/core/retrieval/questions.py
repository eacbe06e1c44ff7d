"""Questions about a searched table, answered from all of its rows, exactly: each in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from psycopg.rows import DictRow
from psycopg.sql import SQL, Composed, Literal

from quarry.core.off_loop import off_loop
from quarry.core.postgres.pool import Database
from quarry.core.query.question import Ask, Clause
from quarry.core.retrieval.answers import Answer, Relaxation, Standing, measures_of
from quarry.core.retrieval.facets import Facet, SearchTable
from quarry.core.retrieval.filters import EVERY_ROW, Among, Arguments, clause_sql, related_rows, where
from quarry.core.retrieval.grouping import as_value, groups_over
from quarry.core.retrieval.wording import clause_label

KEYS_MAX = 1000
"""So many rows are named by an answer that counts them all."""

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


async def _extreme(database: Database, statement: _Statement, ask: Ask) -> Answer:
    facet = statement.table.facet(ask.facet or "")
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
        value=as_value(facet, found[0]["value"]),
        values=tuple(as_value(facet, row["value"]) for row in found),
    )


async def _row(database: Database, query: Composed, arguments: Arguments) -> DictRow:
    row = await database.row(query, arguments.values)
    assert row is not None
    return row


def single_value(table: SearchTable, facet: Facet, function: str) -> Composed:
    """The value that a row is ordered by; of several, the lowest or highest."""
    if facet.related is None:
        return SQL("{}").format(SQL(facet.sql))
    aggregate = SQL("min({})" if function == "min" else "max({})").format(SQL(facet.sql))
    return SQL("(select {} {})").format(aggregate, related_rows(table, facet.related))
