"""Which tables records are read from: those of the built-in types, and what tells of others."""

from __future__ import annotations

from quarry.collections.facets import facet_source
from quarry.records.tables import COLLECTIONS

SEARCHED = tuple(map(facet_source, COLLECTIONS))

DECLARED_IN = ("collections",)
"""The table that says what else there is to search."""
