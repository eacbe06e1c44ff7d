"""Searching the text of any source, and reading one of its rows whole: each domain does it in its module `lookups`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from quarry.agent.hits import Hit, interleaved
from quarry.agent.known_values import with_known_values
from quarry.agent.sources import Asked
from quarry.domains import module
from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.algebra import Condition, Query
from quarry.query.keys import meeting
from quarry.query.paths import nearest, source_of
from quarry.services.services import Services

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
        await module(domain, "lookups").search_text(
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
    whole: dict[str, Any] = await module(domain, "lookups").read_whole(own, id, asked, services)
    return whole


async def _searched(names: Sequence[str], where: Sequence[Condition], asked: Asked) -> list[str]:
    for place, name in enumerate(names):
        source_of(asked.schema, name, f"/source/{place}")
    if where and not names:
        raise InvalidInput([FieldError("/source", "`where` names fields of a source: say which `source` is searched")])
    may_be = [
        name
        for name, source in asked.schema.sources.items()
        if source.holds_words and hasattr(module(asked.homes[name][0], "lookups"), "search_text")
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
