"""A Query as one parameterised statement: every name quoted by the schema, every value a parameter. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composed, Literal

from quarry.platform.errors import InvalidInput
from quarry.query.algebra import LIMIT_MAX, Period, Query
from quarry.query.base import Base, base_of, check_size
from quarry.query.conditions import path_operand
from quarry.query.functions import folded
from quarry.query.groups import column_of, grouped, page_of
from quarry.query.paths import invalid, resolve
from quarry.query.result import Column
from quarry.query.rows import ROWS_DEFAULT, order_of, page_of_rows
from quarry.query.schema import Kind, Schema
from quarry.query.scope import Building, Values


@dataclass(frozen=True)
class Statement:
    """A statement whose rows have the columns `c0`, `c1` …, `place` from 1 within the page, and `total`; where there is nothing,
    one row without a place. Of groups it gives one more than `limit`. `periods` and `rounded` say how its columns are shown.
    """

    sql: Composed
    parameters: Mapping[str, Any]
    columns: tuple[Column, ...]
    periods: tuple[Period | None, ...]
    rounded: tuple[bool, ...]
    limit: int
    offset: int
    of_rows: bool


def compile_query(query: Query, schema: Schema, today: datetime.date) -> Statement:
    """The statement that answers a query. Raises InvalidInput for what the schema does not have, with what comes nearest."""
    check_size(query)
    building = Building(schema, today, lambda nested, pointer: values_of(building, nested, pointer))
    base = base_of(building, query, "")
    statement = _rows(base) if query.asks_for_rows else _groups(base)
    if building.errors:
        raise InvalidInput(building.errors)
    return statement


def _groups(base: Base) -> Statement:
    limit = LIMIT_MAX if base.query.ties else base.query.limit or LIMIT_MAX
    groups = grouped(base, limit + 1)
    return Statement(
        page_of(groups),
        base.building.parameters,
        (*(key.column for key in groups.keys), *(number.column for number in groups.shown)),
        (*(key.group.period for key in groups.keys), *(None for _ in groups.shown)),
        (*(key.is_rounded for key in groups.keys), *(number.is_rounded for number in groups.shown)),
        limit,
        base.query.offset,
        of_rows=False,
    )


def _rows(base: Base) -> Statement:
    sql, paths = page_of_rows(base)
    return Statement(
        sql,
        base.building.parameters,
        tuple(Column(path.text, path.label, path.kind, path.unit) for path in paths),
        (None,) * len(paths),
        tuple(path.over == "avg" for path in paths),
        LIMIT_MAX if base.query.ties else base.query.limit or ROWS_DEFAULT,
        base.query.offset,
        of_rows=True,
    )


def values_of(building: Building, query: Query, pointer: str) -> Values:
    """A query as a subquery of one column. Unlike a query by itself it has no limit, unless it says one."""
    base = base_of(building, query, pointer)
    is_single = query.limit == 1 or bool(query.aggregate and not query.group)
    sql, kind = _row_values(base) if query.asks_for_rows else _group_values(base)
    value = folded(SQL("q.v")) if kind == "text" else SQL("q.v")
    return Values(SQL("select {} from ({}) q").format(value, sql), kind, is_single)


def _row_values(base: Base) -> tuple[Composed, Kind]:
    query, pointer = base.query, f"{base.pointer}/select/0"
    if len(query.select) != 1:
        raise invalid(f"{base.pointer}/select", "a query that is compared with gives one column: `select` one field")
    path = resolve(query.select[0], base.scope.rows, base.building.schema, pointer)
    if path.is_many:
        raise invalid(pointer, f"{path.text} may have several values a row: ask its own source")
    value = path_operand(base.scope, path, pointer).value
    page = SQL("").format()
    if query.limit is not None or query.offset:
        order = order_of(base)
        page = SQL(" order by {} limit {} offset {}").format(order, Literal(query.limit), Literal(query.offset))
    return SQL("select {} as v from {} where {}{}").format(value, base.scope.tables, base.where, page), path.kind


def _group_values(base: Base) -> tuple[Composed, Kind]:
    query = base.query
    if len(query.aggregate) > 1 or (not query.aggregate and len(query.group) > 1):
        raise invalid(base.pointer, "a query that is compared with gives one column: one aggregate, or one group")
    if not query.aggregate and query.group[0].period:
        raise invalid(f"{base.pointer}/group/0/period", "periods cannot be compared with values")
    groups = grouped(base, query.limit)
    if not groups.keys and not groups.shown:
        return SQL("select null as v").format(), "text"  # its errors are collected
    return column_of(groups), groups.shown[0].kind if groups.shown else groups.keys[0].kind
