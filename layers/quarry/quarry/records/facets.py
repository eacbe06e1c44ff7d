"""Which tables records are read from: those of the built-in types, and what tells of others."""

from __future__ import annotations

from quarry.records.sources import BUILT_IN

SEARCHED = tuple(BUILT_IN.counted.values())

DECLARED_IN = ("collections",)
"""The table that says what else there is to search."""
