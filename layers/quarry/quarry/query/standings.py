"""Which conditions rows meet one by one, and what each condition costs."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from psycopg.sql import SQL

from quarry.postgres.pool import Database
from quarry.query.algebra import Condition
from quarry.query.base import ROW
from quarry.query.keys import RowConditions
from quarry.query.phrases import Phrases
from quarry.query.schema import Schema

COSTS_MAX = 10
"""Of more conditions it is not said what each one costs."""


async def standings(
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
    rows, of = RowConditions(source, schema, today), schema.sources[source]
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
    rows = RowConditions(phrases.source.name, phrases.schema, today)
    others = [[*conditions[:place], *conditions[place + 1 :]] for place in range(len(conditions))]
    counts = SQL(", ").join(
        SQL("(select count(*) from {} t where {})").format(SQL(phrases.source.rows), rows.met(each)) for each in others
    )
    row = await database.row(SQL("select array[{}]::bigint[] as counts").format(counts), rows.parameters)
    assert row is not None
    labels = [phrases.condition(each) for each in conditions]
    return sorted(zip(labels, row["counts"], strict=True), key=lambda each: -each[1])
