"""The facets of campaigns, as `quarry.toml` declares them."""

from __future__ import annotations

from quarry.campaigns.tables import LOADABLE
from quarry.collections.facets import facet_source, own_tables

[COLLECTION] = own_tables(__file__, LOADABLE)
CAMPAIGNS = facet_source(COLLECTION)

SEARCHED = (CAMPAIGNS,)
