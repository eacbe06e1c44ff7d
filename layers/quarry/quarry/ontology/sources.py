"""The things of a workspace as sources, each kind by its own name: a caller's own alone."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.ontology.contract import EntityType
from quarry.ontology.facets import SEARCHED_BY_TYPE
from quarry.query.of_table import source_of
from quarry.query.schema import ACTOR_SETTING, Source
from quarry.services.services import Caller, Services

_TITLES: Mapping[EntityType, str] = {
    "task": "t.title", "plan": "t.name", "goal": "t.name", "milestone": "t.title", "document": "t.title",
    "output": "t.name", "requirement": "t.text",
}  # fmt: skip

_SOURCES: Mapping[str, Source] = {
    type: source_of(
        table, type, title=_TITLES[type], description=f"{table.nouns[0].capitalize()}s of your workspace",
        words="search_vector",
    )
    for type, table in SEARCHED_BY_TYPE.items()
}  # fmt: skip


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name, and the setting that tells the database whose workspace is read."""
    return _SOURCES, {ACTOR_SETTING: caller.user_id}
