"""People as a source: those with a visible card, by what a search may show. No contact data is a field."""

from __future__ import annotations

from quarry.people.facets import PEOPLE
from quarry.query.of_table import source_of

SOURCES = {
    "people": source_of(
        PEOPLE,
        "people",
        title="t.name",
        description="People: what they say of themselves, and their visible experience",
    )
}
