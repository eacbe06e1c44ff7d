"""A workspace for the tools that look through every source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from psycopg.sql import SQL, Identifier, Literal

from quarry.agent.lookups import Hit
from quarry.agent.sources import Asked
from quarry.ontology.candidates import Candidates
from quarry.ontology.contract import RESULTS_MAX, EntityType
from quarry.ontology.reading import read_sought
from quarry.ontology.retrieval import find_entities, whole_entity
from quarry.ontology.tables import TABLES
from quarry.platform.snippet import mark, unmark
from quarry.services.services import Services


async def search_text(
    text: str, names: Sequence[str], filters: Mapping[str, str], limit: int, asked: Asked, services: Services
) -> list[Hit]:
    """The caller's own entities for a text, best first. Filters are looked at among the best RESULTS_MAX. Raises
    DatabaseUnavailable.
    """
    acting = services.acting(asked.settings)
    with services.run("ontology", asked.caller, text, {"text": text, "types": list(names)}) as run:
        types = cast("Sequence[EntityType]", names)
        found = await find_entities(
            acting.reader,
            asked.caller,
            await read_sought(text, types, asked.caller, services),
            project_id=None,
            types=types,
            limit=RESULTS_MAX,
        )
        kept = {
            (type, id) for type, condition in filters.items() for id in await _meeting(type, condition, found, acting)
        }
        run.end_reason = "answered"
    entities = [each for each in found.entities if not filters or (each.type, each.id) in kept]
    return [
        Hit(source=each.type, id=each.id, title=each.title, text=unmark(mark(each.snippet)))
        for each in entities[:limit]
    ]


async def _meeting(type: str, condition: str, found: Candidates, services: Services) -> list[str]:
    """Those of the entities of a type that meet a condition, by their ids."""
    ids = [each.id for each in found.entities if each.type == type]
    # made by `query.keys.meeting`, which quotes every name and value
    rows = await services.reader.rows(
        SQL("select t.id from {} t where t.id = any({}::text[]) and {}").format(
            Identifier(TABLES[cast("EntityType", type)]), Literal(ids), SQL(condition)
        )
    )
    return [row["id"] for row in rows]


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """One entity of the caller's, whole. Raises NotFound and DatabaseUnavailable."""
    entity = await whole_entity(services.reader, asked.caller, cast("EntityType", name), id)
    return entity.model_dump(mode="json", exclude_none=True)
