"""Constraints while they are made of a question's mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from quarry.language.tokens import keys, unique
from quarry.people.contract import Constraints
from quarry.platform.contract import Evidence
from quarry.spans.mention import DateRange, FacetName, Known, Mention, ParsedQuery, Place, Span
from quarry.spans.question import Question

ORGANISATIONS = frozenset({"company", "school"})
PLACES = frozenset({"workplace", "home", "preferred_place"})

BOTH_REACH = 3
"""So far before the second of two organisations or places "both" stands of them."""
USED_TO_CHARACTERS = 40
"""So far before something "used to" is said of it."""
_USED_TO = re.compile(r"\bused to (?:\w++ ){1,4}$", re.IGNORECASE)


@dataclass(frozen=True)
class Role:
    """What somebody is, by its names. `is_of_people`: it is what people are called, not what they know; `is_both`: it is asked
    of them together with the one that "and" joins to it.
    """

    names: Sequence[str] = ()
    facets: frozenset[str] = frozenset()
    is_of_people: bool = False
    is_both: bool = False


@dataclass
class Draft:
    """The constraints so far. Roles and places are put to them when all are known."""

    parsed: ParsedQuery
    question: Question
    constraints: Constraints
    roles: list[list[str]] = field(default_factory=list)
    last_role: Role = Role()
    places: list[Place] = field(default_factory=list)
    are_places_apart: bool = False
    """Whether "or" or "and" joins some of the places: somebody is at one of them."""
    place_texts: list[str] = field(default_factory=list)
    is_team_required: bool = False

    @cached_property
    def beginnings(self) -> list[int]:
        """Where words say that something began."""
        return [mention.start for mention in self.parsed.mentions if "start" in facets_of(mention)]

    @cached_property
    def is_about_now_alone(self) -> bool:
        """Whether neither an organisation nor a time is asked for."""
        clauses = (condition for clause in self.question.clauses for condition in clause)
        return not any(each.facet in ORGANISATIONS or isinstance(each.range, DateRange) for each in clauses)

    @cached_property
    def by_span(self) -> Mapping[tuple[int, int], int]:
        """The places of the mentions, by the characters that say them."""
        return {(mention.start, mention.end): place for place, mention in enumerate(self.parsed.mentions)}

    def said_by(self, evidence: Iterable[Span]) -> int | None:
        """The place of the mention that says something."""
        places = (self.by_span.get((each.start, each.end)) for each in evidence)
        return next((place for place in places if place is not None), None)

    def text(self, mention: Mention) -> str:
        return self.parsed.said(mention)

    def is_of_the_past(self, mention: Mention) -> bool:
        """Whether "used to" leads to it: "used to work at", "used to be a"."""
        return bool(_USED_TO.search(self.parsed.text[max(0, mention.start - USED_TO_CHARACTERS) : mention.start]))

    def before(self, place: int, count: int) -> Sequence[Mention]:
        """The last mentions before a place."""
        return self.parsed.mentions[max(0, place - count) : place]

    def words_before(self, place: int, count: int) -> set[str]:
        return {key for mention in self.before(place, count) for key in keys(self.text(mention))}

    def prefer(self, *keywords: str) -> None:
        self.constraints.should.keywords += keywords

    def put(self, name: str, values: Sequence[str], mention: Mention) -> None:
        """Require the values of a field of names, or exclude them, as the mention is meant."""
        part = "exclude" if mention.assertion == "negated" else "must"
        getattr(getattr(self.constraints, part), name).extend(values)
        self.note(f"{part}.{name}", " or ".join(values), mention)

    def note(self, field: str, value: str, mention: Mention) -> None:
        self.constraints.evidence.append(
            Evidence(field=field, value=value, start=mention.start, end=mention.end, assertion=mention.assertion)
        )


def values_of(value: Known, facets: Iterable[str]) -> list[str]:
    """The values that are of one of the facets."""
    return list(unique(known.value for known in value.values if known.facet in facets))


def facets_of(mention: Mention) -> frozenset[str]:
    """The facets that a mention names, or that its values are of."""
    if isinstance(mention.value, FacetName):
        return frozenset(mention.value.facets)
    return frozenset(known.facet for known in mention.value.values) if isinstance(mention.value, Known) else frozenset()
