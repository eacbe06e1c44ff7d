"""The facets of companies, as `quarry.toml` declares them."""

from __future__ import annotations

from quarry.collections.facets import facet_source, own_tables
from quarry.companies.tables import LOADABLE

[COLLECTION] = own_tables(__file__, LOADABLE)
COMPANIES = facet_source(COLLECTION)

SEARCHED = (COMPANIES,)

NAME_FACETS = frozenset(("name", "former_name", "domain"))
TAG_FACETS = ("sector", "category", "business_model", "niche")
STATUS = "status"
STAGE = "funding_stage"
