"""What the tables of a domain can be filtered, counted and grouped by, as `quarry.toml` declares it."""

from __future__ import annotations

from types import SimpleNamespace

from quarry.collections.facets import facet_source, own_tables
from quarry.domains import module


def of(domain: str) -> SimpleNamespace:
    tables = module(domain, "tables")
    # a domain that writes its own tables leaves their collections to its sources
    collections = tables.COLLECTIONS if hasattr(tables, "COLLECTIONS") else own_tables(tables.__file__, tables.LOADABLE)
    return SimpleNamespace(SEARCHED=tuple(map(facet_source, collections)))
