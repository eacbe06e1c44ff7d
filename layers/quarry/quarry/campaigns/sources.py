"""Campaigns as a source."""

from __future__ import annotations

from quarry.campaigns.facets import CAMPAIGNS
from quarry.query.of_table import source_of

SOURCES = {
    "campaigns": source_of(
        CAMPAIGNS,
        "campaigns",
        title="t.company || coalesce(': ' || nullif(t.brand, t.company), '') || coalesce(', ' || t.channel, '')",
        description="Marketing campaigns: who advertised what, where, how and when",
    )
}
