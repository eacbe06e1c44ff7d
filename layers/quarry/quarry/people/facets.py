"""The facets of people, as `quarry.toml` declares them."""

from __future__ import annotations

from quarry.collections.facets import facet_source, own_tables
from quarry.people.tables import LOADABLE

[COLLECTION] = own_tables(__file__, LOADABLE)
PEOPLE = facet_source(COLLECTION)

SEARCHED = (PEOPLE,)
