"""Companies for the tools that look through every source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quarry.agent.domain_tools import TEXT_CHARACTERS_MAX
from quarry.agent.sources import Asked
from quarry.agent.tools import Hit
from quarry.companies.candidates import Variant
from quarry.companies.store import companies_by_ids, company_by_id, retrieve_variants
from quarry.platform.text import shorten
from quarry.services.services import Services


async def search_text(
    text: str, names: Sequence[str], filters: Mapping[str, str], limit: int, asked: Asked, services: Services
) -> list[Hit]:
    """The companies nearest to a text by words and meaning, as one retrieval of the search loop ranks them. Raises
    DatabaseUnavailable.
    """
    with services.run("companies", asked.caller, text, {"text": text}) as run:
        variant = Variant(text, await services.queries.embed_for(run, text))
        found = await retrieve_variants(
            services.reader, [variant], services.settings, filter=filters.get("companies"), limit=limit
        )
        companies = {
            each.id: each for each in await companies_by_ids(services.reader, [each.company_id for each in found])
        }
        run.end_reason = "answered"
    ordered = [companies[each.company_id] for each in found if each.company_id in companies]
    return [
        Hit(
            source="companies",
            id=each.id,
            title=each.company_name,
            text=shorten(each.description or each.tagline or "", TEXT_CHARACTERS_MAX),
            url=each.website_url,
        )
        for each in ordered
    ]


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """One company, whole. Raises NotFound and DatabaseUnavailable."""
    return (await company_by_id(services.reader, id)).model_dump(mode="json", exclude_none=True)
