"""Conditions on the rows of a source as a part of another statement, and which of them given rows meet."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from psycopg.sql import SQL, Composable, Composed, Literal

from quarry.platform.errors import InvalidInput
from quarry.postgres.pool import Database
from quarry.query.algebra import Condition, Query, check_size
from quarry.query.execute import base_of, values_of
from quarry.query.phrases import Phrases
from quarry.query.schema import Schema
from quarry.query.scope import ROW, Building


class _WithoutParameters(Building):
    """A statement whose values stand in it as quoted literals."""

    def parameter(self, value: object) -> Composable:
        return Literal(value)

    def text(self, value: str) -> LiteralString:
        return Literal(value).as_string(None)

    def once(self, expression: Composable) -> Composable:
        # it is evaluated while it is planned: so the planner knows how many rows meet it
        return expression


class RowConditions:
    """Conditions on the rows `t` of a source, for one statement. Its values are added to `parameters` or, without these, stand in
    it.
    """

    def __init__(self, source: str, schema: Schema, today: datetime.date, parameters: dict[str, Any] | None) -> None:
        self._source = source
        building = _WithoutParameters if parameters is None else Building
        self._building = building(
            schema,
            today,
            lambda nested, pointer: values_of(self._building, nested, pointer),
            {} if parameters is None else parameters,
            joins=False,
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self._building.parameters

    def parameter(self, value: object) -> Composable:
        """Another value of the statement."""
        return self._building.parameter(value)

    def met(self, conditions: Sequence[Condition]) -> Composed:
        """True of the rows that the caller may see and that meet all conditions. Raises InvalidInput for what the schema
        does not have, with pointers below `/where`.
        """
        query = Query(source=self._source, where=tuple(conditions))
        check_size(query)
        base = base_of(self._building, query, "")
        if self._building.errors:
            raise InvalidInput(self._building.errors)
        if not base.joins:
            return base.where
        key = SQL(base.source.key(ROW))
        # read once: IS TRUE keeps the planner from a nested loop
        return SQL("({} in (select {} from {} where {}) is true)").format(key, key, base.scope.tables, base.where)

    @property
    def keys_max(self) -> int:
        """Up to so many rows that meet the conditions are looked at by their keys."""
        return KEYS_ACROSS_MAX if self._building.reads_others else KEYS_MAX

    def keys(self, met: Composable) -> Composed:
        """Selects the `keys` of the rows that meet a condition; null for more than `keys_max`."""
        source, most = self._building.schema.sources[self._source], self.keys_max
        array = SQL("array(select ({})::text from {} t where {} limit {})").format(
            SQL(source.key(ROW)), SQL(source.rows), met, Literal(most + 1)
        )
        # OFFSET 0: otherwise the array would be read for each place that names it
        chosen = SQL(
            "select case when cardinality(f.keys) <= {} then f.keys end as keys from (select {} as keys offset 0) f"
        )
        return chosen.format(Literal(most), array)


KEYS_MAX, KEYS_ACROSS_MAX = 10_000, 25_000
"""For so many rows conditions are read once, over the source as a whole; otherwise they are tested for each row with a word,
which costs more where they look other rows up.
"""

SERIAL: Mapping[str, str] = {"max_parallel_workers_per_gather": "0"}
"""For a statement that reads `keys`. Its parallel workers would take half as much CPU again, which other searches need."""

COSTS_MAX = 10
"""Costs are computed for at most this many conditions."""


async def meets_and_misses(
    database: Database,
    conditions: Sequence[Condition],
    source: str,
    schema: Schema,
    keys: Sequence[str],
    today: datetime.date,
) -> dict[str, list[bool]]:
    """Whether the rows of these keys meet each condition by itself, by key. Raises DatabaseUnavailable."""
    if not keys or not conditions:
        return {}
    rows, of = RowConditions(source, schema, today, {}), schema.sources[source]
    met = SQL(", ").join(SQL("coalesce({}, false)").format(rows.met([each])) for each in conditions)
    statement = SQL(
        "select {key} as key, array[{met}]::boolean[] as met from {table} t where {key} = any({keys})"
    ).format(key=SQL(of.key(ROW)), met=met, table=SQL(of.rows), keys=rows.parameter(list(keys)))
    return {row["key"]: row["met"] for row in await database.rows(statement, rows.parameters)}


async def costs(
    database: Database, conditions: Sequence[Condition], phrases: Phrases, today: datetime.date
) -> list[tuple[str, int]]:
    """How many rows there would be without each condition alone, by what it is called, most first; none of more than `COSTS_MAX`.
    Raises DatabaseUnavailable.
    """
    if not 0 < len(conditions) <= COSTS_MAX:
        return []
    rows = RowConditions(phrases.source.name, phrases.schema, today, {})
    others = [[*conditions[:place], *conditions[place + 1 :]] for place in range(len(conditions))]
    counts = SQL(", ").join(
        SQL("(select count(*) from {} t where {})").format(SQL(phrases.source.rows), rows.met(each)) for each in others
    )
    row = await database.row(SQL("select array[{}]::bigint[] as counts").format(counts), rows.parameters)
    assert row is not None
    labels = [phrases.condition(each) for each in conditions]
    return sorted(zip(labels, row["counts"], strict=True), key=lambda each: -each[1])
