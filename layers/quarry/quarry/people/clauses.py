"""What is asked of people, condition by condition: to say who meets which, and which of them one experience can meet together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quarry.language.tokens import keys, stem, unique
from quarry.language.word_forms import word_forms
from quarry.people.as_query import OR
from quarry.people.constraints import condition_label, listed
from quarry.people.contract import Constraints
from quarry.people.filters import CardFilters, HardConstraint, constraints_in_force, only, without
from quarry.people.places import spellings

OF_THE_PERSON: frozenset[HardConstraint] = frozenset(
    {"open_to_work_only", "preferred_locations", "offer_salary_inr_per_year", "experience_years"}
)
OF_THE_REST: frozenset[HardConstraint] = frozenset({"location", "time", "is_current"})
"""Where, when and whether still: said of another condition, and asked of the same experience as it."""

IN_ONE = "all in one experience"
"""What somebody misses who meets each condition, but by different experiences, where others meet them by one."""

CLAUSES_MAX = 6
"""So many conditions on experiences are tried together."""
PREFERRED_MAX = 20
"""So many things that are only preferred are told of."""


@dataclass(frozen=True)
class Clause:
    """A condition by itself, in words: filters on a card, or words that a card or the profile must hold. `alternatives` are
    those of which any meets it, where there are several.
    """

    label: str
    filters: CardFilters | None = None
    text: str | None = None
    alternatives: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class Standing:
    """The labels of the conditions that a person meets and misses."""

    meets: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

    @property
    def missed(self) -> float:
        """How much of what is asked is missed: one for each condition, a half where each is met, but by different experiences."""
        return 0.5 if self.misses == (IN_ONE,) else float(len(self.misses))


def clauses_of(filters: CardFilters) -> list[Clause]:
    """All conditions that can be met or missed: hard ones first, then roles, then words."""
    hard = [Clause(condition_label(name, filters), only(filters, name)) for name in constraints_in_force(filters)]
    return [*hard, *map(_role_clause, filters.roles), *(Clause(text, text=text) for text in filters.texts)]


def preferred_clauses(constraints: Constraints) -> list[Clause]:
    """What is only preferred, each by itself; a role that must hold is not told twice."""
    should = constraints.should
    roles = {name for role in constraints.must.role for name in role.split("|")}
    # "colonels" and "colonel" are one
    terms = unique((*should.skills_or_tools, *should.keywords), _stems)
    words = [term for term in terms if term not in roles]
    on_cards: list[tuple[HardConstraint, CardFilters]] = [
        *(("company_norm", CardFilters(companies=(name,))) for name in should.company_norm),
        *(("team_norm", CardFilters(teams=(name,))) for name in should.team_norm),
        *(("location", CardFilters(places=spellings(name))) for name in should.location),
    ]
    cards = [Clause(condition_label(name, filters), filters) for name, filters in on_cards]
    return [*cards, *(Clause(term, text=term) for term in words)][:PREFERRED_MAX]


def named_clauses(constraints: Constraints) -> list[Clause]:
    """What the query names beside its conditions, as one or in its other forms: its own words, but for those that a condition
    tells. Nobody is left out for want of it, but who is shown lacks it.
    """
    said = set(map(stem, keys(constraints.query_original)))
    must = constraints.must
    told = set(map(_stems, (*must.company_norm, *must.school_norm, *must.team_norm, *must.text)))
    terms = [
        term
        for term in unique(constraints.should.keywords, _stems)
        if all(stem(key) in said for key in keys(term)) and _stems(term) not in told
    ]
    return [
        Clause(term, alternatives=tuple(Clause(form, text=form) for form in (term, *word_forms(term))))
        for term in terms[:PREFERRED_MAX]
    ]


def ruled_out_words(constraints: Constraints) -> list[tuple[str, ...]]:
    """The words that are ruled out, those together that the same characters of the query say: "physicists" and physics."""
    keywords = constraints.exclude.keywords
    together = [each.value.split(OR) for each in constraints.evidence if each.field == "exclude.keywords"]
    told = {name for names in together for name in names}
    groups = [tuple(name for name in names if name in keywords) for names in together]
    return [group for group in (*groups, *((name,) for name in keywords if name not in told)) if group]


def _stems(term: str) -> str:
    return " ".join(map(stem, keys(term)))


def _role_clause(role: str) -> Clause:
    """A role, and where its names are of several roles, each of these."""
    named: dict[str, list[str]] = {}
    for name in role.split("|"):
        named.setdefault(next((first for first in named if _is_of_role(name, first)), name), []).append(name)
    each = tuple(Clause(first, CardFilters(roles=("|".join(names),))) for first, names in named.items())
    return Clause(listed(named), CardFilters(roles=(role,)), alternatives=each if len(each) > 1 else ())


def _is_of_role(name: str, role: str) -> bool:
    """Whether a name says a role too: in another form ("designers", "design"), or more closely ("backend engineer")."""
    words, said = keys(name), keys(role)
    if not (words and said):
        return False
    family = {stem(form) for form in (said[-1], *word_forms(said[-1]))}
    return {stem(word) for word in said[:-1]} <= {stem(word) for word in words} and any(
        stem(word) in family for word in words
    )


def naming_alternatives(stands: Standing, clauses: Sequence[Clause], met: Sequence[bool]) -> Standing:
    """The same; a clause that is met is named by those of its alternatives that are, as `met` says of those of all clauses."""
    is_met = iter(met)
    by_label: dict[str, str] = {}
    for clause in clauses:
        named = [each.label for each in clause.alternatives if next(is_met, False)]
        by_label[clause.label] = " and ".join(named) or clause.label
    return replace(stands, meets=tuple(by_label.get(label, label) for label in stands.meets))


def hard_alone(filters: CardFilters) -> CardFilters:
    """The filters without what people are expected to be or to say."""
    return replace(filters, roles=(), texts=())


def nothing_else_asked(filters: CardFilters) -> bool:
    """Whether people are asked for by name alone."""
    return not clauses_of(filters)


def standing(clauses: Sequence[Clause], met: Sequence[bool], *, together: bool) -> Standing:
    """How a person stands who meets the clauses as `met` says; `together`: by one experience, as far as was asked."""
    misses = [clause.label for clause, is_met in zip(clauses, met, strict=True) if not is_met]
    if not misses and not together:
        misses = [IN_ONE]
    meets = [clause.label for clause, is_met in zip(clauses, met, strict=True) if is_met]
    return Standing(tuple(meets), tuple(misses))


def apart(filters: CardFilters) -> tuple[CardFilters, list[CardFilters], list[CardFilters]]:
    """The filters on the person, and those on experiences: what stands by itself, and what is said of it."""
    names = constraints_in_force(filters)
    person = replace(
        without(filters, [name for name in names if name not in OF_THE_PERSON]), roles=(), texts=(), names=()
    )
    own = [only(filters, name) for name in names if name not in OF_THE_PERSON | OF_THE_REST]
    own += [CardFilters(roles=(role,)) for role in filters.roles]
    return person, own, [only(filters, name) for name in names if name in OF_THE_REST]


def merged(one: CardFilters, other: CardFilters) -> CardFilters:
    """What asks for all that both do."""
    changed: dict[str, Any] = dict(_set_in(other)) | {"roles": (*one.roles, *other.roles)}
    return replace(one, **changed)


def _set_in(filters: CardFilters) -> Iterator[tuple[str, Any]]:
    unset = vars(CardFilters())
    return ((name, value) for name, value in vars(filters).items() if value != unset[name])
