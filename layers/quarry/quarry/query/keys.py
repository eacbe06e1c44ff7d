"""Conditions of a query as a condition on one table's rows, for statements that are made elsewhere. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import LiteralString

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

    def keep(self, value: object) -> LiteralString:
        raise invalid("/where", "a query that is compared with cannot have `text` here")


def meeting(conditions: Sequence[Condition], source: str, schema: Schema, today: datetime.date) -> Composed:
    """True of the rows `t` of a source that the caller may see and that meet all conditions; it has no parameters.

    Raises InvalidInput for what the schema does not have, with pointers below `/where`.
    """
    query = Query(source=source, where=tuple(conditions))
    check_size(query)
    building = _WithoutParameters(schema, today, lambda nested, pointer: values_of(building, nested, pointer))
    base = base_of(building, query, "")
    if building.errors:
        raise InvalidInput(building.errors)
    key = SQL(base.source.key(ROW))
    return SQL("{} in (select {} from {} where {})").format(key, key, base.scope.tables, base.where)
