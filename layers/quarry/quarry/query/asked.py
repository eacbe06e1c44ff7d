"""What a question in words asks of a searched table, answered by the query that it becomes."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from psycopg.sql import SQL, Composed

from quarry.platform.errors import InvalidInput
from quarry.postgres.pool import Database
from quarry.query.algebra import LIMIT_MAX, Aggregate, Comparison, Order, Period, Query
from quarry.query.algebra import Group as Grouping
from quarry.query.as_read import schema_as_read, source_as_read
from quarry.query.execute import execute
from quarry.query.keys import meeting
from quarry.query.of_question import TableQuestion, query_of
from quarry.query.result import Cell, Result
from quarry.query.schema import KEY
from quarry.query.values import interval_of
from quarry.query.worded import labels
from quarry.retrieval.answers import Answer, Group, Measure, Relaxation, Standing, in_time
from quarry.retrieval.facets import SearchTable
from quarry.spans.question import Ask, Clause

RELAXED_MAX = 10
"""Of more clauses it is not told what each one costs."""


def today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


# ---- conditions ----


def where(
    table: SearchTable,
    clauses: Sequence[Clause],
    parameters: dict[str, Any] | None = None,
    keys: Sequence[str] | None = None,
) -> Composed:
    """True of the rows `t` of a table, or of those with the keys, that the caller may see and that meet every clause. Its values
    are added to `parameters` or, without these, stand in it. Raises ValueError.
    """
    asked = _query(TableQuestion(table, Ask("count"), clauses, keys=keys)).where
    return meeting(asked, table.name, schema_as_read(table), today(), parameters)


def _query(asked: TableQuestion) -> Query:
    query = query_of(asked, source_as_read(asked.table))
    if query is None:
        raise ValueError(f"{asked.table.name} cannot be asked that")
    return query


async def _run(database: Database, query: Query, table: SearchTable) -> Result:
    try:
        return await execute(database, query, schema_as_read(table), today())
    except InvalidInput as error:
        raise ValueError("; ".join(each.message for each in error.errors)) from error


# ---- answers ----


async def answer(database: Database, asked: TableQuestion) -> Answer:
    """What the rows that are asked about say. Rows are in the order of their date, latest first, then of their keys. Raises
    ValueError for what the table cannot be asked.
    """
    match asked.ask.kind:
        case "rows" | "extreme":
            return await _rows(database, asked)
        case "groups" | "distinct":
            return await _groups(database, asked)
        case _:
            return await _numbers(database, asked)


async def count(
    database: Database, table: SearchTable, clauses: Sequence[Clause], keys: Sequence[str] | None = None
) -> int:
    """How many rows meet every clause. Raises ValueError."""
    return (await answer(database, TableQuestion(table, Ask("count"), clauses, keys=keys))).rows


async def _numbers(database: Database, asked: TableQuestion) -> Answer:
    result = await _run(database, _with_counts(_query(asked), asked.reckoned), asked.table)
    number = result.total if asked.ask.kind == "count" else None
    return Answer(asked.ask, result.total, number=number, measures=_measures(asked, result, result.rows[0]))


def _with_counts(query: Query, measures: Sequence[Measure]) -> Query:
    """The query with how many values each sum is of: a sum of none is none."""
    counts = [Aggregate(fn="count", field=each.facet) for each in measures if each.function == "sum"]
    return query.model_copy(update={"aggregate": (*query.aggregate, *counts)})


def _measures(asked: TableQuestion, result: Result, row: Sequence[Cell]) -> dict[str, float | None]:
    """What is reckoned, of all rows or of a group, from the row of a result."""
    cells = dict(zip([column.name for column in result.columns], row, strict=True))
    has_values = {each: each.function != "sum" or bool(cells[f"count({each.facet})"]) for each in asked.reckoned}
    return {
        each.name: _number(cells[f"{each.function}({each.facet})"]) if is_told else None
        for each, is_told in has_values.items()
    }


async def _rows(database: Database, asked: TableQuestion) -> Answer:
    ask, query = asked.ask, _query(asked)
    if ask.kind == "rows":
        shape = {"select": (KEY,), "limit": min(ask.limit or LIMIT_MAX, LIMIT_MAX)}
        result = await _run(database, query.model_copy(update=shape), asked.table)
        return Answer(ask, result.total, keys=tuple(str(key) for (key,) in result.rows))
    result = await _run(database, query.model_copy(update={"select": (KEY, query.order[0].by)}), asked.table)
    is_date = asked.table.facet(ask.facet or "").kind == "date"
    found = [
        (str(key), _day(value) if is_date else value)
        for key, value in result.rows
        if value is not None and not isinstance(value, list)
    ]
    values = tuple(value for _, value in found)
    return Answer(ask, len(found), keys=tuple(key for key, _ in found), value=next(iter(values), None), values=values)


async def _groups(database: Database, asked: TableQuestion) -> Answer:
    """The groups, or the number of them. Of periods that are all asked for these are the latest, in the order of time."""
    ask = asked.ask
    query = _with_counts(_query(replace(asked, ask=_as_groups(ask))), asked.reckoned)
    [group] = query.group
    if ask.kind == "distinct":
        known = (Comparison(field=group.field, op="not_null"), Comparison(field="count", op=">", value=0))
        result = await _run(database, query.model_copy(update={"having": known, "limit": 1}), asked.table)
        return Answer(ask, result.total, number=result.groups, grouped=result.grouped)
    result = await _run(database, query, asked.table)
    if result.truncated and group.period and ask.limit is None:
        # of so many the empty ones are no groups
        filled = (*query.having, Comparison(field="count", op=">", value=0))
        latest = {"order": (Order(by=group.field, direction="desc"),), "having": filled}
        result = await _run(database, query.model_copy(update=latest), asked.table)
    groups = [_group(row, group, asked.table, _measures(asked, result, row)) for row in result.rows]
    everything = await _measured(database, query, asked) if asked.reckoned else {}
    return Answer(
        ask,
        result.total,
        number=sum(1 for each in groups if each.value is not None and each.rows),
        groups=tuple(in_time(groups) if group.period and ask.limit is None else groups),
        group_count=len(groups) if ask.limit is not None else result.groups,
        grouped=result.grouped,
        has_gaps=group.period is not None and ask.limit is None and _has_gaps(groups, group.period),
        measures=everything,
    )


def _as_groups(ask: Ask) -> Ask:
    return Ask("groups", ask.facet, ask.grain) if ask.kind == "distinct" else ask


async def _measured(database: Database, query: Query, asked: TableQuestion) -> Mapping[str, float | None]:
    """What is reckoned of all rows."""
    [_, *aggregates] = query.aggregate
    numbers = Query(source=query.source, where=query.where, text=query.text, aggregate=tuple(aggregates))
    result = await _run(database, numbers, asked.table)
    return _measures(asked, result, result.rows[0])


def _group(row: Sequence[Cell], group: Grouping, table: SearchTable, measures: Mapping[str, float | None]) -> Group:
    value, rows, *_ = row
    assert isinstance(rows, int)
    assert not isinstance(value, list)
    is_date = group.period is not None or table.facet(group.field).kind == "date"
    return Group(_day(value) if is_date and value is not None else value, rows, measures)


def _day(value: Cell) -> datetime.date:
    return interval_of(str(value), "date", today(), "").first


def _number(cell: Cell) -> float | None:
    return cell if isinstance(cell, int | float) else None


def _has_gaps(groups: Sequence[Group], period: Period) -> bool:
    """Whether empty periods between others are left out."""
    days = sorted(each.value for each in groups if isinstance(each.value, datetime.date))
    most = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[period]
    return any((after - before).days > most for before, after in pairwise(days))


# ---- conditions of single rows ----


async def standings(
    database: Database, table: SearchTable, clauses: Sequence[Clause], keys: Sequence[str]
) -> Mapping[str, Standing]:
    """Which clauses each of these rows meets by itself, by key; rows that are not searched are left out."""
    if not keys:
        return {}
    parameters: dict[str, Any] = {}
    met = [where(table, [clause], parameters) for clause in clauses]
    statement = SQL("select ({}) as key, array[{}]::boolean[] as met from {} t where {}").format(
        SQL(table.key_sql),
        SQL(", ").join(SQL("coalesce({}, false)").format(each) for each in met),
        SQL(table.rows),
        where(table, (), parameters, keys),
    )
    return {
        str(row["key"]): Standing(
            tuple(place for place, is_met in enumerate(row["met"]) if is_met),
            tuple(place for place, is_met in enumerate(row["met"]) if not is_met),
        )
        for row in await database.rows(statement, parameters)
    }


async def relaxations(
    database: Database, table: SearchTable, clauses: Sequence[Clause], keys: Sequence[str] | None = None
) -> list[Relaxation]:
    """How many rows there would be without each clause alone; those that bring most rows first. Nothing of more clauses than
    `RELAXED_MAX`.
    """
    if not 0 < len(clauses) <= RELAXED_MAX:
        return []
    others = [[*clauses[:place], *clauses[place + 1 :]] for place in range(len(clauses))]
    rows = [await count(database, table, each, keys) for each in others]
    found = [Relaxation(place, label, rows[place]) for place, label in enumerate(labels(table, clauses))]
    return sorted(found, key=lambda relaxation: -relaxation.rows)
