"""Reads the `quarry.toml` in this folder, which declares a city's records as collections."""

from __future__ import annotations

from quarry.civic.tables import LOADABLE
from quarry.collections.own_table import own_tables

COLLECTIONS = own_tables(__file__, LOADABLE)
