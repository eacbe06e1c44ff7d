"""The facets of campaigns, as `quarry.toml` declares them."""

from __future__ import annotations

from quarry.campaigns.tables import LOADABLE
from quarry.collections.collection import own_tables
from quarry.collections.search_table import search_table

[COLLECTION] = own_tables(__file__, LOADABLE)
CAMPAIGNS = search_table(COLLECTION)

SEARCHED = (CAMPAIGNS,)
