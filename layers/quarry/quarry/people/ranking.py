"""From evidence to an order of people: pure arithmetic.

base = 0.65 · best card + 0.25 · best child + 0.10 · mean of the three best of both, each by similarity, 0 where there is none.
score = max(0, base + lexical bonus + should bonus − penalties). A penalty is taken where a tier has dropped a constraint and none
of the person's cards that were found meets it.

Who misses less of what is asked stands first, whatever the scores: who misses a condition never stands before who meets all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from types import MappingProxyType

from quarry.people.candidates import PersonEvidence, RankedPerson
from quarry.people.contract import PersonResult
from quarry.people.filters import FALLBACK_TIER_LOCATION_SOFT, FALLBACK_TIER_TIME_SOFT, CardFilters

TOP_PEOPLE = 5
"""People in an answer."""

MIN_RESULTS = 15
"""With fewer people than this a search goes on to the next tier."""

WEIGHT_PARENT_BEST = 0.65
WEIGHT_CHILD_BEST = 0.25
WEIGHT_AVG_TOP3 = 0.10

LEXICAL_BONUS_MAX = 0.25
"""What the person whose words match best gets; the others get their share of it."""

SHOULD_BOOST = 0.02
SHOULD_CAP = 10
SHOULD_BONUS_MAX = 0.25
"""Each should term is worth SHOULD_BOOST, as far as SHOULD_CAP terms, and never more than this in all."""

MISSING_DATE_PENALTY = 0.12
LOCATION_MISMATCH_PENALTY = 0.10

NO_MISSES: Mapping[str, float] = MappingProxyType({})

EQUAL_SCORE_DIGITS = 6
"""Scores that are the same to so many digits are equal."""


def score(evidence: PersonEvidence, filters: CardFilters, text_score_max: float) -> float:
    """How well a person fits, 0 to 1.45. `text_score_max` is the best text score among the candidates."""
    bonuses = lexical_bonus(evidence.text_score, text_score_max) + should_bonus(evidence.should_hits)
    return max(0.0, base_score(evidence) + bonuses - penalties(evidence, filters))


def base_score(evidence: PersonEvidence) -> float:
    """The score by similarity alone, 0 to 1."""
    parents = [hit.similarity for hit in evidence.parents]
    children = [hit.similarity for hit in evidence.children]
    top = sorted(parents + children, reverse=True)[:3]
    return (
        WEIGHT_PARENT_BEST * max(parents, default=0.0)
        + WEIGHT_CHILD_BEST * max(children, default=0.0)
        + WEIGHT_AVG_TOP3 * (fsum(top) / len(top) if top else 0.0)
    )


def lexical_bonus(text_score: float, text_score_max: float) -> float:
    """LEXICAL_BONUS_MAX for the best text score, and in proportion."""
    return LEXICAL_BONUS_MAX * text_score / text_score_max if text_score_max else 0.0


def should_bonus(hits: int) -> float:
    """What `hits` should terms are worth."""
    return min(SHOULD_BONUS_MAX, SHOULD_BOOST * min(hits, SHOULD_CAP))


def penalties(evidence: PersonEvidence, filters: CardFilters) -> float:
    """What is taken off for constraints that the person's tier has dropped and the person does not meet."""
    lost = 0.0
    if (
        evidence.tier >= FALLBACK_TIER_TIME_SOFT
        and filters.has_time
        and not any(hit.time_overlaps for hit in evidence.hits)
    ):
        lost += MISSING_DATE_PENALTY
    if (
        evidence.tier >= FALLBACK_TIER_LOCATION_SOFT
        and filters.has_location
        and not any(hit.location_matches for hit in evidence.hits)
    ):
        lost += LOCATION_MISMATCH_PENALTY
    return lost


def rank_people(
    evidence: Sequence[PersonEvidence], filters: CardFilters, misses: Mapping[str, float] = NO_MISSES
) -> list[RankedPerson]:
    """Everyone, best first: by how much they miss of what is asked, then by score; who scores the same is ordered by id."""
    text_score_max = max((person.text_score for person in evidence), default=0.0)
    ranked = [RankedPerson(person.person_id, score(person, filters, text_score_max), person) for person in evidence]
    return sorted(
        ranked,
        key=lambda person: (misses.get(person.person_id, 0), -person.score, person.person_id),
    )


def break_ties(
    ranked: Sequence[RankedPerson],
    people: Mapping[str, PersonResult],
    filters: CardFilters,
    misses: Mapping[str, float] = NO_MISSES,
) -> list[RankedPerson]:
    """The same people, with those who miss as much and have an equal score in this order: with a salary offered, first who
    says what they ask for; with a time asked for, first who has a card that covers all of it; then by id.
    """

    def place(person: RankedPerson) -> tuple[float, float, bool, bool, str]:
        found = people.get(person.person_id)
        salary_unknown = found is None or found.work_preferred_salary_min is None
        time_covered = any(hit.time_covered for hit in person.evidence.hits)
        return (
            misses.get(person.person_id, 0),
            -round(person.score, EQUAL_SCORE_DIGITS),
            filters.offer_salary is not None and salary_unknown,
            filters.has_time and not time_covered,
            person.person_id,
        )

    return sorted(ranked, key=place)


def similarity_percent(score: float) -> int:
    """A score as the answer shows it, 0 to 100."""
    return round(100 * min(1.0, max(0.0, score)))
