"""The caller's entities as sources, one for each type."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from quarry.ontology.facets import COLLECTIONS, SEARCHED
from quarry.query.of_collection import own_source
from quarry.query.phrases import Phrases
from quarry.schema.algebra import Condition
from quarry.schema.source import ACTOR_SETTING, Schema, Source
from quarry.services.services import Caller, Services

_SOURCES: Mapping[str, Source] = {
    each.name: own_source(
        each, table, holds_words=lambda row, text: f"{row}.search_vector @@ (select parsed_query({text}))"
    )
    for each, table in zip(COLLECTIONS, SEARCHED, strict=True)
}
SCHEMA = Schema(_SOURCES)


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name, and the setting that tells the database whose workspace is read."""
    return _SOURCES, settings_of(caller)


def settings_of(caller: Caller) -> Mapping[str, str]:
    """The setting that tells the database whose workspace is read."""
    return {ACTOR_SETTING: caller.user_id}


def labels(conditions: Sequence[Condition]) -> list[str]:
    """The conditions in words."""
    # all types have the same fields
    phrases = Phrases(SCHEMA, _SOURCES["task"], datetime.date.min)
    return [phrases.condition(each) for each in conditions]
