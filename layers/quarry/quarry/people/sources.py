"""People as a source: those with a visible card, by what a search may show. No contact data is a field.

An experience has the fields that the constraints of a search name, so that they are a Query (`as_query`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import LiteralString

from quarry.people.facets import PEOPLE
from quarry.query.schema import Field, Kind, Source, of_row, source_of

_ROLE: LiteralString = (
    "concat_ws(' ', r.title, r.domain, r.sub_domain, r.team, joined_names(r.skills), r.seniority_level,"
    " replace(r.employment_type, '_', ' '))"
)
_EXPERIENCE: tuple[tuple[str, Kind, LiteralString, str, str | None], ...] = (
    ("company_norm", "text", "r.company_name", "company", "company"),
    ("team_norm", "text", "r.team", "team", "team"),
    ("role", "text", _ROLE, "role", None),
    ("employment_type", "text", "r.employment_type", "employment type", "employment"),
    ("seniority_level", "text", "r.seniority_level", "level", "seniority"),
    ("city", "text", "r.city", "city", None),
    ("country", "text", "r.country", "country", None),
    ("location_text", "text", "concat_ws(', ', r.location, r.city, r.country)", "place", None),
    ("start_date", "date", "r.start_date", "start", None),
    ("end_date", "date", "r.end_date", "end", None),
    ("is_current", "boolean", "r.is_current", "current", None),
)
"""Name, kind, SQL over a card, label, and the facet whose values the dictionary holds."""
_YEARS: LiteralString = "(t.experience_days + coalesce(greatest(current_date - t.experience_since, 0), 0)) / 365.0"


def _source() -> Source:
    source = source_of(
        PEOPLE,
        "people",
        title="t.name",
        description="People: what they say of themselves, and their visible experience",
    )
    years = Field(
        "experience_years", "number", lambda row: of_row(_YEARS, row), "experience", "experience", unit="years"
    )
    of_cards = {name: _field(name, kind, sql, label, facet) for name, kind, sql, label, facet in _EXPERIENCE}
    links = {
        name: replace(link, fields={**link.fields, **(of_cards if name != "work" else {})})
        for name, link in source.links.items()
    }
    fields = {
        name: replace(field, related=links[field.related.name]) if field.related else field
        for name, field in source.fields.items()
    }
    return replace(source, fields={**fields, years.name: years}, links=links)


def _field(name: str, kind: Kind, sql: LiteralString, label: str, facet: str | None) -> Field:
    listed = (PEOPLE, facet) if facet else None
    return Field(name, kind, lambda row: of_row(sql, row, row), label, f"{label}s", listed=listed)


SOURCES = {"people": _source()}
