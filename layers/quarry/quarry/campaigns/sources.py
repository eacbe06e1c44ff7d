"""Campaigns as a source."""

from __future__ import annotations

from dataclasses import replace

from quarry.campaigns.facets import CAMPAIGNS, RECENT_DAYS
from quarry.query.algebra import Comparison
from quarry.query.schema import source_of

PREDICATES = {
    "recent": (Comparison(field="capture_date", op="between", values=(f"today-{RECENT_DAYS}d", "today")),),
}
"""Conditions with a name. In questions about campaigns days count from the latest capture."""

SOURCES = {
    "campaigns": replace(
        source_of(
            CAMPAIGNS,
            "campaigns",
            title="t.company || coalesce(': ' || nullif(t.brand, t.company), '') || coalesce(', ' || t.channel, '')",
            description="Marketing campaigns: who advertised what, where, how and when",
        ),
        predicates=PREDICATES,
    )
}
