"""The values of a field, and how many rows have each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from quarry.platform.off_loop import off_loop
from quarry.query.algebra import LIMIT_MAX, Aggregate, Comparison, Group, Query
from quarry.query.contract import QueryResult
from quarry.query.paths import nearest
from quarry.query.result import Cell

VALUES_MAX = 50


Run = Callable[[Query], Awaitable[QueryResult]]


async def values_like(source: str, field: str, like: str, run: Run) -> list[list[Cell]]:
    """The most frequent values of a field that hold `like` or, where none does, those spelt most like it among the LIMIT_MAX most
    frequent ones; each with its number of rows. Raises InvalidInput and DatabaseUnavailable.
    """
    everything = Query(
        source=source,
        where=(Comparison(field=field, op="not_null"),),
        group=(Group(field=field),),
        aggregate=(Aggregate(fn="count"),),
    )
    if like.strip():
        holding = Comparison(field=field, op="contains", value=like.strip())
        found = await run(everything.model_copy(update={"where": (holding,), "limit": VALUES_MAX}))
        if found.rows:
            return found.rows
    limit = LIMIT_MAX if like.strip() else VALUES_MAX
    rows = (await run(everything.model_copy(update={"limit": limit}))).rows
    if not like.strip():
        return rows
    by_value = {str(row[0]): row for row in rows}
    return [by_value[value] for value in await off_loop(nearest, like.strip(), by_value)]
