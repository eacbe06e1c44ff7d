"""Runs a query, and gives its result in values that JSON has."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.query.algebra import Cell, Period, Query, Result
from quarry.query.compile import Statement, compile_query
from quarry.query.schema import Schema
from quarry.query.values import period_name

DIGITS = 12
"""Significant digits of averages and shares, whose decimals may never end."""


async def execute(database: Database, query: Query, schema: Schema, today: datetime.date) -> Result:
    """The exact result of a query, under the rights that `database` has. Raises InvalidInput."""
    statement = await off_loop(compile_query, query, schema, today)
    return result_of(statement, await database.rows(statement.sql, statement.parameters))


def result_of(statement: Statement, rows: Sequence[Mapping[str, Any]]) -> Result:
    """What the rows of a statement say."""
    placed = [row for row in rows if row["place"] is not None]
    shapes = list(zip(statement.periods, statement.rounded, strict=True))
    cells = [
        [cell_of(row[f"c{place}"], period, rounded) for place, (period, rounded) in enumerate(shapes)]
        for row in placed[: statement.limit]
    ]
    total = int(rows[0]["total"])
    if statement.of_rows:
        return Result(list(statement.columns), cells, total, total > statement.offset + len(cells))
    groups, grouped = int(rows[0]["groups"]), int(rows[0]["grouped"])
    return Result(list(statement.columns), cells, total, len(placed) > statement.limit, groups, grouped)


def cell_of(value: Any, period: Period | None = None, rounded: bool = False) -> Cell:
    """A value of Postgres as JSON has it: moments in UTC, periods by name."""
    if rounded and isinstance(value, Decimal):
        return _number(Decimal(f"{value:.{DIGITS}g}"))
    if isinstance(value, list):
        return [_scalar(each) for each in value]
    if period is not None and isinstance(value, datetime.date):
        return period_name(value, period)
    return _scalar(value)


def _scalar(value: Any) -> str | int | float | bool | None:
    match value:
        case None | bool() | int() | str():
            return value
        case Decimal():
            return _number(value)
        case float():
            return value if math.isfinite(value) else None
        case datetime.datetime():
            moment = value.astimezone(datetime.UTC) if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return moment.isoformat().replace("+00:00", "Z")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return str(value)


def _number(value: Decimal) -> int | float | None:
    if not value.is_finite():
        return None
    return int(value) if value == value.to_integral_value() else float(value)
