"""People with a visible card as a source, with the fields that a search may show. Contact details are no fields.

Experiences have the fields that constraints name.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import LiteralString

from quarry.language.word_forms import STOP_WORDS, keys, stem, word_forms
from quarry.people.facets import COLLECTION, OF_CONDITIONS, PEOPLE
from quarry.query.of_collection import own_source
from quarry.query.phrases import Phrases
from quarry.schema.algebra import AnyOf, Comparison, Condition, Exists, Not, Scalar, Words
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


# ---- conditions in words ----

EXPERIENCE, EDUCATION = "experience", "education"


def innermost(condition: Condition) -> Condition:
    """What a condition is about: without its negation, and the last that is required of one experience."""
    match condition:
        case Not():
            return innermost(condition.negated)
        case Exists() if condition.where:
            return innermost(condition.where[-1])
    return condition


def label_of(condition: Condition, related: str = EXPERIENCE) -> str:
    """A condition in words, whether it is required, preferred or excluded: "at Tarang Pay"."""
    inner = innermost(condition)
    match inner:
        case AnyOf():
            return PHRASES.say("or").join(label_of(each) for each in inner.any_of)
        case Words():
            return inner.words
        case Comparison():
            is_school = related == EDUCATION and inner.field == "company_norm"
            name = "school_norm" if is_school else inner.field
            values = tuple(_in_capitals(name, inner.scalars))
            return PHRASES.condition(inner.model_copy(update={"field": name, "value": None, "values": values}))
    return ""


def _in_capitals(name: str, values: Sequence[Scalar]) -> Iterable[Scalar]:
    """The values as people write them. The names of a role are called by the first of each."""
    if name == "role":
        return roles_of(map(str, values))
    field = PHRASES.source.fields.get(name)
    is_name = field is not None and field.facet in ("name", "place")
    return map(titled, map(str, values)) if is_name else values


def titled(name: str) -> str:
    """A lower-case name with capitals."""
    return " ".join(
        part if place and (part in STOP_WORDS or part in ("de", "da")) else part[:1].upper() + part[1:]
        for place, part in enumerate(name.split())
    )


def roles_of(names: Iterable[str]) -> dict[str, list[str]]:
    """The different roles among the names of one, each with its own names."""
    roles: dict[str, list[str]] = {}
    for name in names:
        roles.setdefault(next((first for first in roles if _is_of_role(name, first)), name), []).append(name)
    return roles


def _is_of_role(name: str, role: str) -> bool:
    """Whether a name is of a role: in another form ("designers", "design"), or more specific ("backend engineer")."""
    words, role_words = keys(name), keys(role)
    if not (words and role_words):
        return False
    family = {stem(form) for form in (role_words[-1], *word_forms(role_words[-1]))}
    return {stem(word) for word in role_words[:-1]} <= {stem(word) for word in words} and any(
        stem(word) in family for word in words
    )
