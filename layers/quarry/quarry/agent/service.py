"""Answering a query: its values are found in the data, it is run under the caller's rights, and put into words."""

from __future__ import annotations

import datetime

from psycopg import Error as PostgresError

from quarry.agent.known_values import with_known_values
from quarry.agent.near_numbers import with_reasons
from quarry.agent.sources import Asked, what_may_be_asked
from quarry.agent.unreadable import unreadable
from quarry.platform.errors import InvalidInput, QuarryError, SourceUnavailable
from quarry.platform.off_loop import off_loop
from quarry.postgres.faults import lasting_fault
from quarry.query.algebra import Query
from quarry.query.contract import FilterChip, QueryResult, ResultColumn
from quarry.query.describe import describe
from quarry.query.execute import execute
from quarry.query.paths import source_of
from quarry.services.services import Caller, Services


async def run_query(
    query: Query, caller: Caller, services: Services, today: datetime.date | None = None
) -> QueryResult:
    """The exact result of a query. Days are counted from `today`, by default the day that it is in UTC.

    Raises InvalidInput for sources, fields and values that do not exist, with what comes nearest, SourceUnavailable where a table
    that it reads cannot be read, and DatabaseUnavailable.
    """
    today = today or datetime.datetime.now(datetime.UTC).date()
    return await answer_query(query, await what_may_be_asked(caller, services), services, today)


async def answer_query(query: Query, asked: Asked, services: Services, today: datetime.date) -> QueryResult:
    """The exact result of a query about what may be asked. Raises what `run_query` raises."""
    schema = asked.schema
    source_of(schema, query.source, "/source")  # before anything is looked up
    reader = asked.acting(services).reader
    try:
        query = await with_known_values(query, asked, reader)
        result = await execute(reader, query, schema, today)
    except (PostgresError, QuarryError) as error:
        fault = lasting_fault(error)
        # of a source that cannot be read no value is known
        if (fault or isinstance(error, InvalidInput)) and (names := await unreadable(query, asked, services, fault)):
            raise SourceUnavailable(names) from error
        if isinstance(error, InvalidInput):
            raise await with_reasons(error, query, asked, reader) from error
        raise
    told = await off_loop(describe, query, result, schema, today)
    return QueryResult(
        query=query,
        sentence=told.sentence,
        columns=[
            ResultColumn(name=each.name, label=label, kind=each.kind, unit=each.unit)
            for each, label in zip(result.columns, told.labels, strict=True)
        ],
        rows=result.rows,
        total=result.total,
        truncated=result.truncated,
        filters=[FilterChip(label=each.label, pointer=each.pointer) for each in told.filters],
        spans=query.spans or None,
    )
