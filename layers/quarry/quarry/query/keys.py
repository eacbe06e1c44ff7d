"""Conditions of a query as a condition on one table's rows, for statements that are made elsewhere. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, LiteralString

from psycopg.sql import SQL, Composable, Composed, Literal

from quarry.core.errors import InvalidInput
from quarry.query.algebra import Condition, Query
from quarry.query.base import ROW, base_of, check_size
from quarry.query.compile import values_of
from quarry.query.paths import invalid
from quarry.query.schema import Schema
from quarry.query.scope import Building


class _WithoutParameters(Building):
    """A statement whose values stand in it as quoted literals."""

    def parameter(self, value: object) -> Composable:
        return Literal(value)

    def once(self, expression: Composable) -> Composable:
        # it is evaluated while it is planned: so the planner knows how many rows meet it
        return expression

    def keep(self, value: object) -> LiteralString:
        raise invalid("/where", "a query that is compared with cannot have `text` here")


def meeting(
    conditions: Sequence[Condition],
    source: str,
    schema: Schema,
    today: datetime.date,
    parameters: dict[str, Any] | None = None,
) -> Composed:
    """True of the rows `t` of a source that the caller may see and that meet all conditions; its values
    are added to `parameters` or, without these, stand in it.

    Raises InvalidInput for what the schema does not have, with pointers below `/where`.
    """
    query = Query(source=source, where=tuple(conditions))
    check_size(query)
    kind = _WithoutParameters if parameters is None else Building
    given = {} if parameters is None else parameters
    building = kind(schema, today, lambda nested, pointer: values_of(building, nested, pointer), given, joins=False)
    base = base_of(building, query, "")
    if building.errors:
        raise InvalidInput(building.errors)
    if not base.joins:
        return base.where
    key = SQL(base.source.key(ROW))
    return SQL("{} in (select {} from {} where {})").format(key, key, base.scope.tables, base.where)
