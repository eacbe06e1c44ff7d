"""The tables of a domain as sources of queries."""

from __future__ import annotations

from types import SimpleNamespace

from quarry.domains import module
from quarry.query.of_collection import own_source


def of(domain: str) -> SimpleNamespace:
    searched = zip(module(domain, "tables").COLLECTIONS, module(domain, "facets").SEARCHED, strict=True)
    return SimpleNamespace(SOURCES={each.name: own_source(each, table) for each, table in searched})
