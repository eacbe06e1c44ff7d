"""People as a source: those with a visible card, by what a search may show. No contact data is a field.

An experience has the fields that the constraints of a search name, so that they are a Query (`as_query`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import LiteralString

from quarry.people.facets import COLLECTION, PEOPLE
from quarry.query.of_collection import own_source
from quarry.query.schema import Field, Source, of_row, one_row

_ROLE: LiteralString = (
    "concat_ws(' ', r.title, r.domain, r.sub_domain, r.team, joined_names(r.skills), r.seniority_level,"
    " replace(r.employment_type, '_', ' '))"
)
_PLACE: LiteralString = "concat_ws(', ', r.location, r.city, r.country)"
_YEARS: LiteralString = "(t.experience_days + coalesce(greatest(current_date - t.experience_since, 0), 0)) / 365.0"


def _source() -> Source:
    # texts of several columns, in which a constraint looks for words, and a number that grows by the day
    texts = {
        "role": Field("role", "text", one_row(_ROLE), "role", "roles"),
        "location_text": Field("location_text", "text", one_row(_PLACE), "place", "places"),
    }
    source = own_source(COLLECTION, PEOPLE, of_related={"experience": texts, "education": texts})
    years = Field(
        "experience_years", "number", lambda row: of_row(_YEARS, row), "experience", "experience", unit="years"
    )
    return replace(source, fields={**source.fields, years.name: years})


SOURCES = {COLLECTION.name: _source()}
