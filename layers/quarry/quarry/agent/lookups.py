"""Searching the text of any source, and reading one of its rows whole: each domain does it in its module `lookups`."""

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from quarry.agent.service import with_known_values
from quarry.agent.sources import Asked
from quarry.domains import module
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.lazy_model import LazyModel
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import LIMIT_MAX, Aggregate, Cell, Comparison, Condition, Group, Query
from quarry.query.compile import meeting
from quarry.query.contract import QueryResult
from quarry.query.paths import nearest, source_of
from quarry.services.services import Services


class Hit(LazyModel):
    """A row that was found: `text` is the passage that speaks for it."""

    source: str
    id: str
    title: str
    text: str
    date: datetime.date | None = None
    url: str | None = None


def interleaved(lists: Iterable[Sequence[Hit]]) -> list[Hit]:
    """One list of several ranked ones, whose scores cannot be compared: the best of each, then the second best of each."""
    return [hit for hit in chain.from_iterable(zip_longest(*lists)) if hit is not None]


Filters = Mapping[str, str]
"""SQL conditions over the rows `t` of sources, by the sources' own names in their domain."""


async def search_text(
    text: str, names: Sequence[str], where: Sequence[Condition], limit: int, asked: Asked, services: Services
) -> list[Hit]:
    """The rows of these sources, or of all that can be searched, that speak of a text and meet all conditions, best first.

    Raises InvalidInput for sources, fields and values that do not exist, and DatabaseUnavailable.
    """
    names = await _searched(names, where, asked)
    domains: dict[str, list[str]] = {}
    for name in names:
        domains.setdefault(asked.homes[name][0], []).append(name)
    found = [
        await module(domain, "agent_tools").search_text(
            text,
            [asked.homes[name][1] for name in own],
            await filters_of(own, where, asked, services),
            limit,
            asked,
            services,
        )
        for domain, own in domains.items()
    ]
    called = {home: name for name, home in asked.homes.items()}
    hits = [
        [_called(hit, called[domain, hit.source]) for hit in hits] for domain, hits in zip(domains, found, strict=True)
    ]
    return interleaved(hits)[:limit]


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """One row of a source with all that its domain shows. Raises InvalidInput, NotFound and DatabaseUnavailable."""
    source_of(asked.schema, name, "/source")
    domain, own = asked.homes[name]
    whole: dict[str, Any] = await module(domain, "agent_tools").read_whole(own, id, asked.caller, services)
    return whole


async def _searched(names: Sequence[str], where: Sequence[Condition], asked: Asked) -> list[str]:
    for place, name in enumerate(names):
        source_of(asked.schema, name, f"/source/{place}")
    if where and not names:
        raise InvalidInput([FieldError("/source", "`where` names fields of a source: say which `source` is searched")])
    may_be = [
        name
        for name, source in asked.schema.sources.items()
        if source.holds_words and hasattr(module(asked.homes[name][0], "agent_tools"), "search_text")
    ]
    for place, name in enumerate(names):
        if name not in may_be:
            offered = ", ".join(nearest(name, may_be))
            raise InvalidInput([FieldError(f"/source/{place}", f"{name} is not searched here; the nearest: {offered}")])
    return list(dict.fromkeys(names)) or may_be


async def filters_of(names: Sequence[str], where: Sequence[Condition], asked: Asked, services: Services) -> Filters:
    """The conditions as SQL for each of these sources. Raises InvalidInput and DatabaseUnavailable."""
    if not where:
        return {}
    filters: dict[str, str] = {}
    today = datetime.datetime.now(datetime.UTC).date()
    for name in names:
        known = await with_known_values(Query(source=name, where=tuple(where)), asked, asked.acting(services).reader)
        filters[asked.homes[name][1]] = meeting(known.where, name, asked.schema, today).as_string(None)
    return filters


def _called(hit: Hit, name: str) -> Hit:
    return hit.model_copy(update={"source": name})


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
