"""The facets of people, as `quarry.toml` declares them, and which of them the conditions of a search are about."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.collections.facets import facet_source, own_tables
from quarry.people.tables import LOADABLE

[COLLECTION] = own_tables(__file__, LOADABLE)
PEOPLE = facet_source(COLLECTION)

SEARCHED = (PEOPLE,)

PLACES = ("workplace", "home", "preferred_place")
OF_CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "company_norm": ("company", "school"), "school_norm": ("school", "company"), "team_norm": ("team",),
    "domain": ("domain",), "sub_domain": ("sub_domain",), "name": ("name",), "location": PLACES, "city": PLACES,
    "country": PLACES, "location_text": PLACES, "preferred_place": ("preferred_place",), "role": ("title",),
    "seniority_level": ("seniority",), "employment_type": ("employment",), "intent_primary": ("intent",),
    "intent_secondary": ("intent",), "skills": ("skill",), "is_current": ("is_current",),
    "open_to_work": ("open_to_work",), "open_to_work_only": ("open_to_work",), "salary": ("salary",),
    "start_date": ("start",), "end_date": ("end",),
}  # fmt: skip
"""The facets that a field of a condition may have the values of; the first has its wording."""
