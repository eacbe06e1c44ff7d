"""Every source that a caller may ask, of all domains that hold data.

A domain offers its sources in its module `sources`: `sources_for(caller, services)` gives them by name, with the settings that
tell the database who the caller is. Nothing is imported before the first question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from quarry.core.retrieval.visible_values import Owners
from quarry.core.services import Caller, Services
from quarry.core.web.filled_domains import filled_domains
from quarry.domains import module, searched_tables
from quarry.query.schema import Schema, Source

REMEMBERED_SECONDS = 2.0
"""So long a domain that was filled just now may be unknown to a process that runs."""


@dataclass(frozen=True)
class Asked:
    """What a caller may ask of: the schema, and the settings that tell the database who the caller is."""

    schema: Schema
    caller: Caller
    settings: Mapping[str, str]

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


async def schema_for(caller: Caller, services: Services) -> tuple[Schema, Services]:
    """The sources of a caller, and the services with databases that know who the caller is. Raises DatabaseUnavailable."""
    asked = await what_may_be_asked(caller, services)
    return asked.schema, asked.acting(services)


async def what_may_be_asked(caller: Caller, services: Services) -> Asked:
    """The sources of all domains that hold data. Raises DatabaseUnavailable."""
    filled = await services.memory.read(
        "filled domains", lambda: filled_domains(services.reader, searched_tables()), seconds=REMEMBERED_SECONDS
    )
    sources: dict[str, Source] = {}
    settings: dict[str, str] = {}
    # what the owner of the data declares keeps its name
    for domain in sorted(filled, key=lambda each: each != "records"):
        found, needed = await module(domain, "sources").sources_for(caller, services)
        sources |= _named(domain, found, sources)
        settings = {**needed, **settings}
    return Asked(Schema(sources), caller, settings)


def _named(domain: str, found: Mapping[str, Source], taken: Mapping[str, Source]) -> dict[str, Source]:
    """The sources of a domain; one whose name is taken has the domain's before it."""
    named = {f"{domain}_{name}" if name in taken else name: source for name, source in found.items()}
    return {name: source if name == source.name else replace(source, name=name) for name, source in named.items()}
