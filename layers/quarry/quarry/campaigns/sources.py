"""Campaigns as a source."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.campaigns.facets import CAMPAIGNS
from quarry.core.services import Caller, Services
from quarry.query.of_table import source_of
from quarry.query.schema import Source

_SOURCES = {
    "campaigns": source_of(
        CAMPAIGNS,
        "campaigns",
        title="t.company || coalesce(': ' || nullif(t.brand, t.company), '') || coalesce(', ' || t.channel, '')",
        description="Marketing campaigns: who advertised what, where, how and when",
    )
}


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name; no setting of the database is needed."""
    return _SOURCES, {}
