"""Every source that a caller may ask, of all domains that hold data.

A domain offers its sources in its module `sources`: as `SOURCES`, or by `sources_for(caller, services)`, which also returns the
settings that identify the caller to the database. `left_out_for` names sources that could not be read lately.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from quarry.domains import module, searched_tables
from quarry.platform.errors import SourceUnavailable
from quarry.query.schema import Schema, Source
from quarry.retrieval.values import Owners
from quarry.services.services import Caller, Services
from quarry.web.filled_domains import filled_domains

REMEMBERED_SECONDS = 2.0
"""So long a domain that was filled just now may be unknown to a process that runs."""


class ReadableSources(Mapping[str, Source]):
    """Sources by name, without those that are left out: asking for one of these raises SourceUnavailable."""

    def __init__(self, sources: Mapping[str, Source], left_out: frozenset[str]) -> None:
        self._sources = sources
        self.left_out = left_out

    def __getitem__(self, name: str) -> Source:
        if name in self.left_out:
            raise SourceUnavailable([name])
        return self._sources[name]

    def __contains__(self, name: object) -> bool:
        return name in self._sources and name not in self.left_out

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._sources if name not in self.left_out)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Asked:
    """What a caller may ask of: the schema, and the settings that tell the database who the caller is. `homes` says which domain
    has each source, and what it is called there. Sources that are `left_out` cannot be read at the moment.
    """

    schema: Schema
    caller: Caller
    settings: Mapping[str, str]
    homes: Mapping[str, tuple[str, str]]
    left_out: frozenset[str] = frozenset()

    @property
    def degraded(self) -> list[str]:
        """How an answer names the sources that it was made without."""
        return [f"collection:{name}" for name in sorted(self.left_out)]

    def acting(self, services: Services) -> Services:
        """The services with databases that know who the caller is."""
        return services.acting(self.settings)

    @property
    def owners(self) -> Owners:
        """Of each table of values with owners, whose the caller may know."""
        return {
            field.listed[0].name: self.caller.claims.get(source.owner_claim) or None
            for source in self.schema.sources.values()
            if source.owner_claim is not None
            for field in source.fields.values()
            if field.listed is not None
        }


async def what_may_be_asked(caller: Caller, services: Services) -> Asked:
    """The sources of all domains that hold data. Raises DatabaseUnavailable."""
    filled = await services.memory.read(
        "filled domains", lambda: filled_domains(services.reader, searched_tables()), seconds=REMEMBERED_SECONDS
    )
    sources: dict[str, Source] = {}
    settings: dict[str, str] = {}
    homes: dict[str, tuple[str, str]] = {}
    left_out: set[str] = set()
    # what the owner of the data declares keeps its name
    for domain in sorted(filled, key=lambda each: each != "records"):
        offers = module(domain, "sources")
        has_own = hasattr(offers, "sources_for")
        found, needed = await offers.sources_for(caller, services) if has_own else (offers.SOURCES, {})
        if hasattr(offers, "left_out_for"):
            left_out |= await offers.left_out_for(caller, services)
        named = {f"{domain}_{name}" if name in sources else name: name for name in found}
        sources |= {name: _called(name, found[own]) for name, own in named.items()}
        homes |= {name: (domain, own) for name, own in named.items()}
        settings = {**needed, **settings}
    return Asked(Schema(ReadableSources(sources, frozenset(left_out))), caller, settings, homes, frozenset(left_out))


def _called(name: str, source: Source) -> Source:
    return source if name == source.name else replace(source, name=name)
