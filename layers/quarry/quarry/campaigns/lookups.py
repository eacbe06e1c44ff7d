"""Campaigns for the tools that look through every source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quarry.agent.domain_tools import TEXT_CHARACTERS_MAX
from quarry.agent.sources import Asked
from quarry.agent.tools import Hit
from quarry.campaigns.retrieval import campaign_by_id, find_by_theme
from quarry.platform.text import shorten
from quarry.services.services import Services


async def search_text(
    text: str, names: Sequence[str], filters: Mapping[str, str], limit: int, asked: Asked, services: Services
) -> list[Hit]:
    """The campaigns that are about a text, by meaning and by words. Raises DatabaseUnavailable."""
    with services.run("campaigns", asked.caller, text, {"text": text}) as run:
        vector = await services.queries.embed_for(run, text)
        found = await find_by_theme(services.reader, text, vector, (), condition=filters.get("campaigns"))
        run.end_reason = "answered"
    return [
        Hit(
            source="campaigns",
            id=each.id,
            title=f"{each.company} on {each.channel}",
            text=shorten(each.campaign_text, TEXT_CHARACTERS_MAX),
            date=each.capture_date,
        )
        for each in found.campaigns[:limit]
    ]


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """One campaign, whole. Raises NotFound and DatabaseUnavailable."""
    return (await campaign_by_id(services.reader, id)).model_dump(mode="json", exclude_none=True)
