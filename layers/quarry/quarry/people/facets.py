"""The facets of people, as `quarry.toml` declares them."""

from __future__ import annotations

from quarry.collections.collection import own_tables
from quarry.collections.search_table import search_table
from quarry.people.tables import LOADABLE

[COLLECTION] = own_tables(__file__, LOADABLE)
PEOPLE = search_table(COLLECTION)

SEARCHED = (PEOPLE,)
