"""What `quarry.toml` beside this declares: of a city's records, all that a search must know."""

from __future__ import annotations

from quarry.civic.tables import LOADABLE
from quarry.collections.own_table import own_tables

COLLECTIONS = own_tables(__file__, LOADABLE)
