"""People as a source: those with a visible card, by what a search may show. No contact data is a field."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.core.services import Caller, Services
from quarry.people.facets import PEOPLE
from quarry.query.of_table import source_of
from quarry.query.schema import Source

_SOURCES = {
    "people": source_of(
        PEOPLE,
        "people",
        title="t.name",
        description="People: what they say of themselves, and their visible experience",
    )
}


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name; no setting of the database is needed."""
    return _SOURCES, {}
