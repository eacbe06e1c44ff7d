"""A workspace for the tools that look through every source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from quarry.agent.sources import Asked
from quarry.agent.tools import Hit
from quarry.ontology.contract import EntityType
from quarry.ontology.retrieval import whole_entity
from quarry.ontology.search import search_workspace
from quarry.platform.snippet import mark, unmark
from quarry.services.services import Services


async def search_text(
    text: str, names: Sequence[str], filters: Mapping[str, str], limit: int, asked: Asked, services: Services
) -> list[Hit]:
    """The caller's own entities for a text, best first; filters are looked at among the best. Raises DatabaseUnavailable."""
    with services.run("ontology", asked.caller, text, {"text": text, "types": list(names)}) as run:
        types = cast("Sequence[EntityType]", names)
        found, _, _ = await search_workspace(text, types, asked.caller, services, filters=filters)
        run.end_reason = "answered"
    return [
        Hit(source=each.type, id=each.id, title=each.title, text=unmark(mark(each.snippet)))
        for each in found.entities[:limit]
    ]


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """One entity of the caller's, whole. Raises NotFound and DatabaseUnavailable."""
    entity = await whole_entity(services.reader, asked.caller, cast("EntityType", name), id)
    return entity.model_dump(mode="json", exclude_none=True)
