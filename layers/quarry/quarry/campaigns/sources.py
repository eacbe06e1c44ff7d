"""Campaigns as a source."""

from __future__ import annotations

from dataclasses import replace

from quarry.campaigns.tables import LOADABLE
from quarry.collections.facets import facet_source, own_tables
from quarry.query.of_collection import own_source
from quarry.schema.source import one_row

[COLLECTION] = own_tables(__file__, LOADABLE)
CAMPAIGNS = facet_source(COLLECTION)

_TITLE = "t.company || coalesce(': ' || nullif(t.brand, t.company), '') || coalesce(', ' || t.channel, '')"
"""As declared, but without a brand that has the name of its company."""

SOURCES = {COLLECTION.name: replace(own_source(COLLECTION, CAMPAIGNS), title=one_row(_TITLE))}
PREDICATES = SOURCES[COLLECTION.name].predicates
"""The declared predicates. In questions about campaigns, days count from the latest capture."""
