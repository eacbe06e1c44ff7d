"""Which tables records are read from: those of the built-in types, and what tells of others."""

from __future__ import annotations

from quarry.civic.tables import COLLECTIONS
from quarry.collections.search_table import search_table

SEARCHED = tuple(map(search_table, COLLECTIONS))

DECLARED_IN = ("collections",)
"""The table that says what else there is to search."""
