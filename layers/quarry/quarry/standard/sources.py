"""The tables of a domain as sources of queries."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

from quarry.domains import module
from quarry.query.of_collection import own_source
from quarry.schema.source import Source
from quarry.services.services import Caller, Services


def of(domain: str) -> SimpleNamespace:
    tables = module(domain, "tables")
    searched = zip(tables.COLLECTIONS, module(domain, "facets").SEARCHED, strict=True)
    holds_words = getattr(tables, "holds_words", None)
    sources = {each.name: own_source(each, table, holds_words=holds_words) for each, table in searched}
    settings = {each.declaration.scope_setting for each in tables.COLLECTIONS} - {None}

    async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
        """The sources by name, and the settings that tell the database who the caller is."""
        return sources, dict.fromkeys(settings, caller.user_id)

    return SimpleNamespace(SOURCES=sources, sources_for=sources_for)
