"""What the tables of a domain can be filtered, counted and grouped by, as `quarry.toml` declares it."""

from __future__ import annotations

from types import SimpleNamespace

from quarry.collections.facets import facet_source
from quarry.domains import module


def of(domain: str) -> SimpleNamespace:
    return SimpleNamespace(SEARCHED=tuple(map(facet_source, module(domain, "tables").COLLECTIONS)))
