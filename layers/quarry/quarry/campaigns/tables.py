"""The table of campaigns: the fields of its file, and the texts to embed."""

from __future__ import annotations

import datetime

from quarry.platform.tables import EmbeddedTable, Forgettable, Line, LoadableTable, Names, Row, Text
from quarry.platform.text import Identifier


class CampaignRow(Row):
    """A campaign: who advertises what, where, with which words and pictures."""

    id: Identifier
    company: Line
    brand: Line | None = None
    channel: Line
    offer: Line | None = None
    key_value_props: Names = []
    imagery_sentiment: Line | None = None
    imagery_visual_style: Line | None = None
    capture_date: datetime.date | None = None
    campaign_text: Text
    full_campaign_text: Text | None = None
    url: Line | None = None


COLUMNS = tuple(CampaignRow.model_fields)

LOADABLE = (LoadableTable("campaigns", CampaignRow),)

_PROFILE = (
    "company", "brand", "channel", "offer", "key_value_props", "imagery_sentiment", "imagery_visual_style", "campaign_text",
    "full_campaign_text",
)  # fmt: skip

EMBEDDED = (
    EmbeddedTable(
        "campaigns",
        "campaign_embeddings",
        _PROFILE,
        {
            "profile": _PROFILE,
            "campaign_text": ("campaign_text", "full_campaign_text"),
            "offer": ("offer",),
            "key_value_props": ("key_value_props",),
        },
    ),
)

FORGETTABLE = (Forgettable("campaign", "campaigns"),)
