"""The things of a workspace as sources, each kind by its own name: a caller's own alone."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace

from quarry.ontology.facets import SEARCHED_BY_TYPE
from quarry.ontology.tables import TITLES
from quarry.query.algebra import Comparison, Condition
from quarry.query.of_table import source_of
from quarry.query.phrases import Phrases
from quarry.query.schema import ACTOR_SETTING, Schema, Source
from quarry.services.services import Caller, Services

PREDICATES: Mapping[str, Sequence[Condition]] = {
    "overdue": (Comparison(field="due", op="<", value="today"), Comparison(field="status", op="!=", value="done")),
    "open": (Comparison(field="status", op="!=", value="done"),),
}
"""Conditions with a name."""

_SOURCES: Mapping[str, Source] = {
    type: replace(
        source_of(
            table, type, title=f"t.{TITLES[type]}", description=f"{table.nouns[0].capitalize()}s of your workspace",
            words="search_vector",
        ),
        predicates=PREDICATES,
    )
    for type, table in SEARCHED_BY_TYPE.items()
}  # fmt: skip
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
