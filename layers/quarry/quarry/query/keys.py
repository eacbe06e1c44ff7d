"""Conditions of a query as conditions on one table's rows, for statements that are made elsewhere. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from psycopg.sql import SQL, Composable, Composed, Literal

from quarry.platform.errors import InvalidInput
from quarry.query.algebra import Condition, Query
from quarry.query.base import ROW, base_of, check_size
from quarry.query.compile import values_of
from quarry.query.schema import Schema
from quarry.query.scope import Building


class _WithoutParameters(Building):
    """A statement whose values stand in it as quoted literals."""

    def parameter(self, value: object) -> Composable:
        return Literal(value)

    def text(self, value: str) -> LiteralString:
        return Literal(value).as_string(None)

    def once(self, expression: Composable) -> Composable:
        # it is evaluated while it is planned: so the planner knows how many rows meet it
        return expression


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
    return RowConditions(source, schema, today, parameters, is_literal=parameters is None).met(conditions)


class RowConditions:
    """Conditions on the rows `t` of a source, for one statement. Its values are added to `parameters` or, with `is_literal`,
    stand in it.
    """

    def __init__(
        self,
        source: str,
        schema: Schema,
        today: datetime.date,
        parameters: dict[str, Any] | None = None,
        *,
        is_literal: bool = False,
    ) -> None:
        self._source = source
        building = _WithoutParameters if is_literal else Building
        given = {} if parameters is None else parameters
        self._building = building(
            schema, today, lambda nested, pointer: values_of(self._building, nested, pointer), given, joins=False
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self._building.parameters

    def parameter(self, value: object) -> Composable:
        """A value that the statement needs besides."""
        return self._building.parameter(value)

    def met(self, conditions: Sequence[Condition]) -> Composed:
        """True of the rows that the caller may see and that meet all conditions. Raises InvalidInput as `meeting` does."""
        query = Query(source=self._source, where=tuple(conditions))
        check_size(query)
        base = base_of(self._building, query, "")
        if self._building.errors:
            raise InvalidInput(self._building.errors)
        if not base.joins:
            return base.where
        key = SQL(base.source.key(ROW))
        return SQL("{} in (select {} from {} where {})").format(key, key, base.scope.tables, base.where)
