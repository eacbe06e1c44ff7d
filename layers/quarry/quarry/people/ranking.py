"""Ranks people by the conditions that they meet, and by a score. Pure.

base = 0.65 · best card + 0.25 · best child + 0.10 · mean of the three best of both, by similarity; 0 for those missing.
score = max(0, base + lexical bonus + should bonus − penalties). A penalty applies if a tier dropped a constraint and none of the
person's cards found meets it.

People who miss fewer conditions come first, whatever their scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from types import MappingProxyType

from quarry.language.messages import gettext, gettext_noop
from quarry.language.word_forms import is_everyday, keys, stems_of, unique, word_forms
from quarry.people.contract import Constraints, Exclude, PersonResult, Should
from quarry.people.filters import (
    FALLBACK_TIER_LOCATION_SOFT,
    FALLBACK_TIER_TIME_SOFT,
    OF_THE_PERSON,
    CardFilters,
    HardConstraint,
    constraints_in_force,
    day_of,
    only,
    without,
)
from quarry.people.normalisation import OR
from quarry.people.understood import between, label_of, roles_of
from quarry.platform.text import left_out
from quarry.schema.algebra import Comparison
from quarry.spans.places import each_spelling, spellings

MATCHED_CARDS_PER_PERSON = 3
"""The most cards shown of a person."""

OF_THE_REST: frozenset[HardConstraint] = frozenset({"location", "time", "is_current"})
"""Constraints on place and time."""

IN_ONE = gettext_noop("all in one experience")
"""What people miss who meet each condition by different experiences, if others meet all by one."""

CLAUSES_MAX = 6
"""The most conditions on experiences that are tried together."""
PREFERRED_MAX = 20
"""The most preferred clauses that are shown."""

TOP_PEOPLE = 5
"""The most people in an answer."""

MIN_RESULTS = 15
"""With fewer people, a search goes on to the next tier."""

WEIGHT_PARENT_BEST = 0.65
WEIGHT_CHILD_BEST = 0.25
WEIGHT_AVG_TOP3 = 0.10

LEXICAL_BONUS_MAX = 0.25
"""The bonus of the person whose words match best; others get it in proportion."""

SHOULD_BOOST = 0.02
SHOULD_CAP = 10
SHOULD_BONUS_MAX = 0.25
"""Each should term adds SHOULD_BOOST, up to SHOULD_CAP terms, and at most this in all."""

MISSING_DATE_PENALTY = 0.12
LOCATION_MISMATCH_PENALTY = 0.10

NO_MISSES: Mapping[str, float] = MappingProxyType({})

EQUAL_SCORE_DIGITS = 6
"""Scores that agree to so many digits are equal."""


@dataclass(frozen=True)
class CardHit:
    """A card near the query, or a child of it. Similarity is 1 / (1 + cosine distance), 1/3 to 1. Without a vector it is derived
    from words: from 1/2 (none) to 2/3 (every word of the query).

    The other fields are those of the card, also for a child, and compare it with the query before relaxation: whether its dates
    overlap the time (false without dates), whether they cover it, and whether its place matches. They are true if the query has
    no time or place.
    """

    card_id: str
    child_id: str | None
    similarity: float
    time_overlaps: bool
    time_covered: bool
    location_matches: bool


@dataclass(frozen=True)
class PersonEvidence:
    """The evidence for one person: the nearest cards and children that pass the filters of `tier`, nearest first.

    `text_score` is the best text rank of all their cards and children that pass (ts_rank_cd); `should_hits` is the number of
    should terms that any of them contains.
    """

    person_id: str
    parents: tuple[CardHit, ...]
    children: tuple[CardHit, ...]
    text_score: float
    should_hits: int
    tier: int = 0

    @property
    def hits(self) -> tuple[CardHit, ...]:
        return self.parents + self.children


@dataclass(frozen=True)
class RankedPerson:
    """A person with a score."""

    person_id: str
    score: float
    evidence: PersonEvidence

    @cached_property
    def matched_card_ids(self) -> tuple[str, ...]:
        """The cards to show, best first, by the best similarity of a card and its children."""
        best: dict[str, float] = {}
        for hit in self.evidence.hits:
            best[hit.card_id] = max(hit.similarity, best.get(hit.card_id, 0.0))
        return tuple(sorted(best, key=lambda card_id: (-best[card_id], card_id))[:MATCHED_CARDS_PER_PERSON])

    @cached_property
    def matched_child_ids(self) -> tuple[str, ...]:
        """The children found of the cards to show, best first."""
        found = (hit for hit in self.evidence.children if hit.card_id in self.matched_card_ids)
        return tuple(hit.child_id for hit in sorted(found, key=lambda hit: -hit.similarity) if hit.child_id)


@dataclass(frozen=True)
class Clause:
    """One condition with its label: filters on a card, or words that a card or the profile must contain. It is met if any of its
    `alternatives` is.
    """

    label: str
    filters: CardFilters | None = None
    text: str | None = None
    alternatives: tuple[Clause, ...] = ()

    @property
    def terms(self) -> frozenset[str]:
        """The words, and the companies, that it is about."""
        return frozenset(filter(None, (self.text, *(self.filters.companies if self.filters else ()))))


@dataclass(frozen=True)
class MeetsAndMisses:
    """The labels of the conditions that a person meets and misses."""

    meets: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

    @property
    def missed(self) -> float:
        """The number of missed conditions; one half if all are met, but by different experiences."""
        return 0.5 if self.misses == (gettext(IN_ONE),) else float(len(self.misses))


def clauses_of(filters: CardFilters, labels: Mapping[HardConstraint, str]) -> list[Clause]:
    """All conditions: hard ones first, by their `labels`, then roles, then words."""
    hard = [Clause(labels[name], only(filters, name)) for name in constraints_in_force(filters)]
    return [*hard, *map(_role_clause, filters.roles), *(Clause(text, text=text) for text in filters.texts)]


def preferred_clauses(constraints: Constraints) -> list[Clause]:
    """The preferred conditions, without those that repeat a required role."""
    should = constraints.should
    roles = {name for role in constraints.must.role for name in role.split("|")}
    # "colonels" and "colonel" are one
    terms = unique((*should.skills_or_tools, *should.keywords), stems_of)
    words = [term for term in terms if term not in roles]
    return [*_card_clauses(should), *(Clause(term, text=term) for term in words)][:PREFERRED_MAX]


def exclusion_clauses(constraints: Constraints) -> list[Clause]:
    """What shows that somebody is excluded, each with the label of the exclusion."""
    exclude = constraints.exclude
    cards = [*_card_clauses(exclude)]
    if exclude.is_current is not None:
        condition = Comparison(field="is_current", value=exclude.is_current)
        cards.append(Clause(label_of(condition), CardFilters(is_current=exclude.is_current)))
    for _, period in between(exclude, "period"):
        filters = CardFilters(time_start=day_of(exclude.time_start), time_end=day_of(exclude.time_end))
        cards.append(Clause(label_of(period), filters))
    words = (Clause(group[0], text=word) for group in excluded_terms(constraints) for word in each_spelling(group))
    return [replace(each, label=gettext("not {label}", label=each.label)) for each in (*cards, *words)]


def _card_clauses(part: Should | Exclude) -> Iterator[Clause]:
    """The companies, teams and places of a part, each by itself."""
    for name in part.company_norm:
        yield Clause(label_of(Comparison(field="company_norm", value=name)), CardFilters(companies=(name,)))
    for name in part.team_norm:
        yield Clause(label_of(Comparison(field="team_norm", value=name)), CardFilters(teams=(name,)))
    for name in part.location:
        yield Clause(label_of(Comparison(field="location_text", value=name)), CardFilters(places=spellings(name)))


def soft_terms(constraints: Constraints) -> list[Clause]:
    """The query's own words that no condition covers, each with its other forms. They exclude nobody, but are shown as missing if
    nobody has them.
    """
    stems = set(stems_of(f"{constraints.query_original} {constraints.query_cleaned}"))
    must = constraints.must
    names = set(map(stems_of, (*must.company_norm, *must.school_norm, *must.team_norm, *must.text)))
    terms = [
        term
        for term in unique((*constraints.should.keywords, *_left_out(constraints)), stems_of)
        if stems.issuperset(stems_of(term)) and stems_of(term) not in names
    ]
    return [
        Clause(term, alternatives=tuple(Clause(form, text=form) for form in (term, *word_forms(term))))
        for term in terms[:PREFERRED_MAX]
    ]


def _left_out(constraints: Constraints) -> list[str]:
    """The words of a query that a reading left out, where it says nothing of what to be or to know."""
    must, should = constraints.must, constraints.should
    if must.role or must.text or must.name or constraints.like or should.keywords or should.skills_or_tools:
        return []
    stated = " ".join(constraints.query_original[each.start : each.end] for each in constraints.evidence)
    return [word for word in left_out(constraints.query_cleaned, stated) if not is_everyday(word)]


def nobody_is(constraints: Constraints, filters: CardFilters, people: Sequence[PersonResult]) -> str | None:
    """Whom the query asks for, if none of these people is that: a required role that all of them miss; or else what the query
    names first of whom to find, in words that tell people apart where it has such.
    """
    missed = frozenset.intersection(*(frozenset(each.misses) for each in people)) if people else frozenset()
    roles = [_role_clause(role).label for role in filters.roles]
    if (lacking := next((each for each in roles if each in missed), None)) is not None:
        return lacking
    words = [clause.label for clause in soft_terms(constraints)]
    telling = [each for each in words if not all(map(is_everyday, keys(each)))]
    text = (constraints.query_cleaned or constraints.query_original).casefold()
    places = {each: text.find(each.casefold()) for each in (*filters.texts, *(telling or words))}
    first = min(places, key=lambda each: (places[each] < 0, places[each]), default=None)
    of_roles = [each.start for each in constraints.evidence if each.field == "must.role"]
    is_first = first is not None and (not roles or places[first] < min(of_roles, default=0))
    return first if is_first and first in missed else None


def excluded_terms(constraints: Constraints) -> list[Sequence[str]]:
    """The excluded words, grouped by the characters of the query that state them ("physicists" and "physics"), and by the stems
    of the first ("colonels" and "colonel").
    """
    keywords = constraints.exclude.keywords
    together = [each.value.split(OR) for each in constraints.evidence if each.field == "exclude.keywords"]
    stated = {name for names in together for name in names}
    groups: dict[tuple[str, ...], list[str]] = {}
    for names in (*together, *([name] for name in keywords if name not in stated)):
        if terms := [name for name in names if name in keywords]:
            groups.setdefault(stems_of(terms[0]), []).extend(terms)
    return [*groups.values()]


def _role_clause(role: str) -> Clause:
    """The clause of a role, with alternatives if its names are of several roles."""
    names = role.split("|")
    each = tuple(Clause(first, CardFilters(roles=("|".join(own),))) for first, own in roles_of(names).items())
    label = label_of(Comparison(field="role", op="contains", values=tuple(names)))
    return Clause(label, CardFilters(roles=(role,)), alternatives=each if len(each) > 1 else ())


def naming_alternatives(stands: MeetsAndMisses, clauses: Sequence[Clause], met: Sequence[bool]) -> MeetsAndMisses:
    """The same with each met clause labelled by its alternatives that are met. `met` covers the alternatives of all clauses."""
    is_met = iter(met)
    by_label: dict[str, str] = {}
    for clause in clauses:
        named = [each.label for each in clause.alternatives if next(is_met, False)]
        by_label[clause.label] = " and ".join(named) or clause.label
    return replace(stands, meets=tuple(by_label.get(label, label) for label in stands.meets))


def standing(clauses: Sequence[Clause], met: Sequence[bool], *, together: bool) -> MeetsAndMisses:
    """The labels that a person meets and misses. `together`: by one experience, if that was asked."""
    misses = [clause.label for clause, is_met in zip(clauses, met, strict=True) if not is_met]
    if not misses and not together:
        misses = [gettext(IN_ONE)]
    meets = [clause.label for clause, is_met in zip(clauses, met, strict=True) if is_met]
    return MeetsAndMisses(tuple(meets), tuple(misses))


def apart(filters: CardFilters) -> tuple[CardFilters, list[CardFilters]]:
    """The filters on the person, and each filter on experiences that different ones may meet; none where those are too many, or
    only one besides place and time.
    """
    names = constraints_in_force(filters)
    on_cards = [name for name in names if name not in OF_THE_PERSON]
    person = replace(without(filters, on_cards), roles=(), texts=(), names=())
    clauses = [*(only(filters, name) for name in on_cards), *(CardFilters(roles=(role,)) for role in filters.roles)]
    of_the_rest = sum(name in OF_THE_REST for name in on_cards)
    return person, clauses if 2 + of_the_rest <= len(clauses) <= CLAUSES_MAX else []


def score(evidence: PersonEvidence, filters: CardFilters, text_score_max: float) -> float:
    """The score of a person, 0 to 1.45. `text_score_max` is the best text score among the candidates."""
    lexical_bonus = LEXICAL_BONUS_MAX * evidence.text_score / text_score_max if text_score_max else 0.0
    bonuses = lexical_bonus + should_bonus(evidence.should_hits)
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


def should_bonus(hits: int) -> float:
    """The bonus for `hits` should terms."""
    return min(SHOULD_BONUS_MAX, SHOULD_BOOST * min(hits, SHOULD_CAP))


def penalties(evidence: PersonEvidence, filters: CardFilters) -> float:
    """The penalties for constraints that the tier dropped and the person does not meet."""
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
    """All people, best first: by misses, then by score, then by id."""
    text_score_max = max((person.text_score for person in evidence), default=0.0)
    ranked = [RankedPerson(person.person_id, score(person, filters, text_score_max), person) for person in evidence]
    return sorted(ranked, key=lambda person: (misses.get(person.person_id, 0), -person.score, person.person_id))


def break_ties(
    ranked: Sequence[RankedPerson],
    people: Mapping[str, PersonResult],
    filters: CardFilters,
    misses: Mapping[str, float] = NO_MISSES,
) -> list[RankedPerson]:
    """The same people; those with equal misses and scores in this order: for an offered salary, people who state theirs first;
    for a time, people with a card that covers it first; then by id.
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
    """A score in percent, 0 to 100."""
    return round(100 * min(1.0, max(0.0, score)))
