"""People with a visible card as a source, with the fields that a search may show. Contact details are no fields.

Experiences have the fields that constraints name.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import LiteralString

from quarry.people.facets import COLLECTION, OF_CONDITIONS, PEOPLE
from quarry.query.of_collection import own_source
from quarry.query.phrases import Phrases
from quarry.schema.source import Field, Schema, Source, one_row

_ROLE: LiteralString = (
    "concat_ws(' ', r.title, r.domain, r.sub_domain, r.team, joined_names(r.skills), r.seniority_level,"
    " replace(r.employment_type, '_', ' '))"
)
_FOUND_BY = (
    "only the paid search lists people by conditions: use find_people, or POST /people/search. Counts and groups"
    " are free, except by id, name, headline or bio; so is the row of a person whose `id` you give"
)
_NAMING = frozenset(("name", "headline", "bio"))
_PLACE: LiteralString = "concat_ws(', ', r.location, r.city, r.country)"
_YEARS: LiteralString = "(t.experience_days + coalesce(greatest(current_date - t.experience_since, 0), 0)) / 365.0"


def _source() -> Source:
    # texts made from several columns, and a number that grows every day
    texts = {
        "role": Field("role", "text", one_row(_ROLE), "role", "roles"),
        "location_text": Field("location_text", "text", one_row(_PLACE), "place", "places"),
    }
    source = own_source(COLLECTION, PEOPLE, of_related={"experience": texts, "education": texts})
    fields = {**source.fields, _EXPERIENCE.name: _EXPERIENCE}
    # texts would be another way to list people by what they say
    return replace(source, fields=fields, found_by=_FOUND_BY, naming=_NAMING, texts={})


_EXPERIENCE = Field("experience_years", "number", one_row(_YEARS), "experience", "experience", unit="years")
SOURCES = {COLLECTION.name: _source()}


def _phrases() -> Phrases:
    """The phrases for the conditions of a search, whatever rows they are on."""
    period = Field("period", "date", one_row("r.start_date"), "time", "times", wording="{}")
    fields = {
        period.name: period,
        # without its unit, whose number would differ
        _EXPERIENCE.name: replace(_EXPERIENCE, unit=None, wording="years of experience: {}"),
        **{name: replace(PEOPLE.facets[first], name=name, related=None) for name, (first, *_) in OF_CONDITIONS.items()},
    }
    worded = replace(PEOPLE, fields=fields)
    # dates stay absolute
    return Phrases(Schema({worded.name: worded}), worded, datetime.date.min)


PHRASES = _phrases()
