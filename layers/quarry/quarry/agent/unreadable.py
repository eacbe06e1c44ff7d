"""A query of a source that cannot be read: the source is named and left out for a while, and the others answer."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import suppress

from psycopg import Error as PostgresError

from quarry.agent.sources import Asked
from quarry.domains import module
from quarry.platform.errors import InvalidInput, SourceUnavailable
from quarry.postgres.faults import lasting_fault_of
from quarry.query.algebra import Query
from quarry.query.compile import compile_query
from quarry.query.execute import execute
from quarry.query.schema import Schema, Source
from quarry.services.services import Services


async def unreadable(query: Query, asked: Asked, services: Services, fault: PostgresError | None) -> list[str]:
    """The sources of a query that cannot be read: those of which not even one row can, else the one that it asks for, where
    its statement had a `fault`. They are left out for a while. None of a domain whose tables are ours.

    Raises DatabaseUnavailable.
    """
    today = datetime.datetime.now(datetime.UTC).date()
    faults: dict[str, PostgresError] = {}
    for name in _sources_of(query, asked.schema, today):
        found = await _fault_of(name, asked, services, today) if _can_be_left_out(name, asked) else None
        if found is not None:
            faults[name] = found
    if not faults and fault is not None and _can_be_left_out(query.source, asked):
        faults[query.source] = fault
    for name, each in faults.items():
        domain, own = asked.homes[name]
        await module(domain, "sources").leave_out_for(own, each, asked.caller, services)
    return list(faults)


def _can_be_left_out(name: str, asked: Asked) -> bool:
    return hasattr(module(asked.homes[name][0], "sources"), "leave_out_for")


async def _fault_of(name: str, asked: Asked, services: Services, today: datetime.date) -> PostgresError | None:
    """What is wrong with a source, by reading all fields of one row."""
    whole = Query(source=name, select=tuple(asked.schema.sources[name].fields), limit=1)
    reading = execute(asked.acting(services).reader, whole, asked.schema, today)
    # one that is unavailable refers to another that is left out already
    return await lasting_fault_of(reading, no_fault=(SourceUnavailable,))


class _Recording(Mapping[str, Source]):
    """Sources that remember which of them were asked for."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self.named: dict[str, None] = {}

    def __getitem__(self, name: str) -> Source:
        source = self._sources[name]
        self.named[name] = None
        return source

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def _sources_of(query: Query, schema: Schema, today: datetime.date) -> list[str]:
    """The sources that a query reads, its own and those that its paths lead to."""
    recording = _Recording(schema.sources)
    with suppress(InvalidInput):
        compile_query(query, Schema(recording), today)
    return list(recording.named)
