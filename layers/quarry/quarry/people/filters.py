"""The filters of retrieval, made from the constraints: values for SQL, and what each tier drops.

Exclusions hold in every tier.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quarry.language.messages import gettext, gettext_noop
from quarry.language.word_forms import is_everyday, keys, stems_of, unique, word_forms
from quarry.language.writing import listed_label
from quarry.people.constraints import OR, between
from quarry.people.contract import Constraints, Exclude, PeopleSearchRequest, PersonResult, Should
from quarry.people.sources import label_of, roles_of
from quarry.platform.text import left_out
from quarry.schema.algebra import Comparison
from quarry.spans.places import country_of, each_spelling, known_place, places_in, spellings

HardConstraint = str
"""The name of a constraint that can be dropped, as in `constraints.must` or the request."""

HARD_CONSTRAINTS: Mapping[HardConstraint, tuple[str, ...]] = {
    "company_norm": ("companies",),
    "school_norm": ("schools",),
    "team_norm": ("teams",),
    "intent_primary": ("intents",),
    "domain": ("domains",),
    "sub_domain": ("sub_domains",),
    "employment_type": ("employment_types",),
    "seniority_level": ("seniority_levels",),
    "location": ("places", "countries", "or_preferred_locations"),
    "time": ("time_start", "time_end", "started_from", "started_until", "ended_from", "ended_until"),
    "is_current": ("is_current",),
    "open_to_work_only": ("open_to_work_only",),
    "preferred_locations": ("preferred_locations",),
    "offer_salary_inr_per_year": ("offer_salary",),
    "experience_years": ("experience_least", "experience_most"),
}
"""Every constraint that can be dropped, with its fields of CardFilters."""

FALLBACK_TIER_STRICT = 0
FALLBACK_TIER_TIME_SOFT = 1
FALLBACK_TIER_LOCATION_SOFT = 2
FALLBACK_TIER_COMPANY_TEAM_SOFT = 3

OF_THE_PERSON: frozenset[HardConstraint] = frozenset(
    {"open_to_work_only", "preferred_locations", "offer_salary_inr_per_year", "experience_years"}
)
"""Constraints on the person; the others are on an experience."""

RELAXED_FROM: Mapping[HardConstraint, int] = {
    "time": FALLBACK_TIER_TIME_SOFT,
    "location": FALLBACK_TIER_LOCATION_SOFT,
    "company_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "school_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
    "team_norm": FALLBACK_TIER_COMPANY_TEAM_SOFT,
}
"""The first tier without a constraint. The others filter in every tier."""

DAYS_A_YEAR = 365

_LISTS = {
    "companies": "company_norm", "schools": "school_norm", "teams": "team_norm", "intents": "intent_primary",
    "domains": "domain", "sub_domains": "sub_domain", "employment_types": "employment_type",
    "seniority_levels": "seniority_level", "names": "name", "texts": "text",
}  # fmt: skip
"""The filters that are lists in the constraints."""


@dataclass(frozen=True)
class CardFilters:
    """Filters on a person's cards and profile. An empty tuple, None or False filters nothing.

    Names are lower case and trimmed. Within one field any value suffices; all fields must hold. The salary is INR a year.
    """

    companies: tuple[str, ...] = ()
    schools: tuple[str, ...] = ()
    """Like `companies`, for an experience in education, if the query names both."""
    teams: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    sub_domains: tuple[str, ...] = ()
    employment_types: tuple[str, ...] = ()
    seniority_levels: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """The spellings of the place ("bengaluru", "bangalore"), or the cities of a region. A card matches if its city, country or
    location contains one of them."""
    countries: tuple[str, ...] = ()
    """The spellings of a country named with a place: "Hyderabad, Pakistan". A card must match both."""
    time_start: datetime.date | None = None
    time_end: datetime.date | None = None
    started_from: datetime.date | None = None
    started_until: datetime.date | None = None
    ended_from: datetime.date | None = None
    ended_until: datetime.date | None = None
    is_current: bool | None = None
    open_to_work_only: bool | None = None
    """False: only people who are not."""
    preferred_locations: tuple[str, ...] = ()
    """Each place in all its spellings."""
    or_preferred_locations: tuple[str, ...] = ()
    """Preferred locations as an alternative to the place: "Chennai or remote"."""
    offer_salary: float | None = None
    experience_least: int | None = None
    experience_most: int | None = None
    """Days of experience in all, until today."""
    excluded_companies: tuple[str, ...] = ()
    excluded_keywords: tuple[str, ...] = ()
    excluded_teams: tuple[str, ...] = ()
    excluded_places: tuple[str, ...] = ()
    excluded_current: bool | None = None
    excluded_time_start: datetime.date | None = None
    excluded_time_end: datetime.date | None = None
    excluded_ever: bool = False
    """Any experience may exclude its person, not only one that is asked for; their headline and name too."""
    roles: tuple[str, ...] = ()
    """What an experience must show, each by any of its names, separated by bars."""
    names: tuple[str, ...] = ()
    """The people asked for by name."""
    texts: tuple[str, ...] = ()
    """Words that a card, a child or the profile must contain, each of them."""
    should_terms: tuple[str, ...] = ()
    """Skills, keywords and secondary intents; each that a card contains adds SHOULD_BOOST."""

    @property
    def has_time(self) -> bool:
        return any(getattr(self, each) is not None for each in HARD_CONSTRAINTS["time"])

    @property
    def has_location(self) -> bool:
        return bool(self.places or self.countries or self.or_preferred_locations)

    @property
    def excludes_anyone(self) -> bool:
        lists = (self.excluded_companies, self.excluded_keywords, self.excluded_teams, self.excluded_places)
        others = (self.excluded_current, self.excluded_time_start, self.excluded_time_end)
        return any(lists) or any(other is not None for other in others)

    @property
    def unexcluded(self) -> CardFilters:
        """The same without exclusions."""
        fields = [name for name in vars(self) if name.startswith("excluded_")]
        return replace(self, **{name: getattr(_NOTHING, name) for name in fields})

    @property
    def excluding(self) -> CardFilters:
        """What an excluded experience must also meet to exclude its person: a required role, else the other conditions."""
        if self.excluded_ever:
            return CardFilters()
        if self.roles:
            return CardFilters(roles=("|".join(self.roles),))
        on_cards = [name for name in HARD_CONSTRAINTS if name not in OF_THE_PERSON]
        conditions = {field: getattr(self, field) for name in on_cards for field in HARD_CONSTRAINTS[name]}
        if self.or_preferred_locations:  # the place is only an alternative
            conditions |= dict.fromkeys(HARD_CONSTRAINTS["location"], ())
        return CardFilters(**conditions)


_NOTHING = CardFilters()


def constraints_in_force(filters: CardFilters) -> list[HardConstraint]:
    """The names of the hard constraints that are set, in the order of HARD_CONSTRAINTS."""
    return [
        name
        for name, fields in HARD_CONSTRAINTS.items()
        if any(getattr(filters, field) != getattr(_NOTHING, field) for field in fields)
    ]


def set_fields(filters: CardFilters) -> dict[str, Any]:
    """The fields that are set, by name."""
    return {name: value for name, value in vars(filters).items() if value != getattr(_NOTHING, name)}


def only(filters: CardFilters, name: HardConstraint) -> CardFilters:
    """The filters of one constraint alone."""
    return CardFilters(**{field: getattr(filters, field) for field in HARD_CONSTRAINTS[name]})


def without(filters: CardFilters, constraints: Iterable[HardConstraint]) -> CardFilters:
    """The filters without these constraints."""
    fields = [field for name in constraints for field in HARD_CONSTRAINTS[name]]
    return replace(filters, **{field: getattr(_NOTHING, field) for field in fields})


def relaxed(filters: CardFilters, tier: int) -> CardFilters:
    """The filters of a tier: all in tier 0; then without time, location, and company and team, one after the other."""
    return without(filters, [name for name, since in RELAXED_FROM.items() if since <= tier])


def with_request(constraints: Constraints, request: PeopleSearchRequest) -> Constraints:
    """The constraints with what the request itself says, which wins over the query: `open_to_work_only`, `salary_max` and
    `preferred_locations`; its `salary_min` filters nothing.
    """
    fields = {
        "open_to_work_only": request.open_to_work_only,
        "offer_salary_inr_per_year": request.salary_max,
        "preferred_locations": [place.lower() for place in request.preferred_locations] or None,
    }
    must = constraints.must.model_copy(update={name: each for name, each in fields.items() if each is not None})
    return constraints.model_copy(update={"must": must})


def card_filters(constraints: Constraints) -> CardFilters:
    """The filters of a search."""
    must, should, exclude = constraints.must, constraints.should, constraints.exclude
    places, countries = _location(constraints)
    if places:
        # an experience may itself be remote
        places = unique((*places, *(name for name in must.or_preferred_locations if known_place(name) is None)))
    as_they_are: dict[str, Any] = {field: tuple(getattr(must, name)) for field, name in _LISTS.items()}
    as_they_are |= {name: day_of(getattr(must, name)) for name in HARD_CONSTRAINTS["time"]}
    role_names = (name for role in must.role for name in role.split("|"))
    return CardFilters(
        **as_they_are,
        places=places,
        countries=countries,
        is_current=must.is_current,
        open_to_work_only=True if must.open_to_work_only else False if exclude.open_to_work else None,
        preferred_locations=each_spelling(must.preferred_locations),
        or_preferred_locations=each_spelling(must.or_preferred_locations),
        offer_salary=must.offer_salary_inr_per_year,
        experience_least=_days(must.experience_years_min),
        experience_most=_days(must.experience_years_max),
        roles=tuple(must.role),
        excluded_companies=tuple(exclude.company_norm),
        excluded_keywords=each_spelling(exclude.keywords),
        excluded_teams=tuple(exclude.team_norm),
        excluded_places=each_spelling(exclude.location),
        excluded_current=exclude.is_current,
        excluded_time_start=day_of(exclude.time_start),
        excluded_time_end=day_of(exclude.time_end),
        excluded_ever=bool(exclude.ever),
        should_terms=unique(
            (
                *should.skills_or_tools, *should.keywords, *role_names,
                *(intent.replace("_", " ") for intent in should.intent_secondary),
                *should.company_norm, *should.team_norm, *should.location,
            )
        ),
    )  # fmt: skip


def _location(constraints: Constraints) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The places, any of which suffices, and the country that they must be in.

    The most precise place counts: the city, else the free text, else the country. A country that a city implies (Pune is in
    India) is not required, so that cards that do not name it match.
    """
    must = constraints.must
    if must.city:
        names_country = must.country and must.country != country_of(must.city)
        state = known_place(must.location_text.rpartition(", ")[2], "region") if must.location_text else None
        if state is not None and not must.country:
            return spellings(must.city), spellings(state.name)
        return spellings(must.city), spellings(must.country) if names_country and must.country else ()
    if must.location_text and must.location_text != must.country:
        return places_in(must.location_text), spellings(must.country) if must.country else ()
    return (spellings(must.country), ()) if must.country else ((), ())


def _days(years: float | None) -> int | None:
    return None if years is None else round(years * DAYS_A_YEAR)


def day_of(text: str | None) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None


# ---- conditions, each by itself, with a label ----

PLACE_AND_TIME: frozenset[HardConstraint] = frozenset({"location", "time", "is_current"})
"""Constraints on place and time."""

IN_ONE = gettext_noop("all in one experience")
"""The label that people miss who need several experiences to meet all conditions, if others need only one."""

CLAUSES_MAX = 6
"""The most conditions on experiences that are tried together."""
PREFERRED_MAX = 20
"""The most preferred clauses that are shown."""


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
    on_cards = [
        *(("company_norm", name, CardFilters(companies=(name,))) for name in part.company_norm),
        *(("team_norm", name, CardFilters(teams=(name,))) for name in part.team_norm),
        *(("location_text", name, CardFilters(places=spellings(name))) for name in part.location),
    ]
    for field, name, filters in on_cards:
        yield Clause(label_of(Comparison(field=field, value=name)), filters)


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
    """The words of the query that no constraint covers, if the constraints say nothing of roles, skills or names."""
    must, should = constraints.must, constraints.should
    if must.role or must.text or must.name or constraints.like or should.keywords or should.skills_or_tools:
        return []
    stated = " ".join(constraints.query_original[each.start : each.end] for each in constraints.evidence)
    return [word for word in left_out(constraints.query_cleaned, stated) if not is_everyday(word)]


def unmatched_subject(constraints: Constraints, people: Sequence[PersonResult]) -> str | None:
    """What the query is looking for and none of these people is: a required role that all of them miss, or the first words of the
    query that say whom to find, the telling ones if it has any. None if somebody is that.
    """
    must = constraints.must
    missed = frozenset.intersection(*(frozenset(each.misses) for each in people)) if people else frozenset()
    roles = [_role_clause(role).label for role in must.role]
    if (lacking := next((each for each in roles if each in missed), None)) is not None:
        return lacking
    words = [clause.label for clause in soft_terms(constraints)]
    telling = [each for each in words if not all(map(is_everyday, keys(each)))]
    text = (constraints.query_cleaned or constraints.query_original).casefold()
    places = {each: text.find(each.casefold()) for each in (*must.text, *(telling or words))}
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
    """The same, with each met clause labelled by the alternatives that are met. `met` has one entry for each alternative of each
    clause.
    """
    is_met = iter(met)
    by_label: dict[str, str] = {}
    for clause in clauses:
        labels = [each.label for each in clause.alternatives if next(is_met, False)]
        by_label[clause.label] = listed_label(labels, is_choice=False) or clause.label
    return replace(stands, meets=tuple(by_label.get(label, label) for label in stands.meets))


def meets_and_misses(clauses: Sequence[Clause], met: Sequence[bool], *, together: bool) -> MeetsAndMisses:
    """The labels that a person meets and misses. `together`: whether one experience meets all, if that is required."""
    misses = [clause.label for clause, is_met in zip(clauses, met, strict=True) if not is_met]
    if not misses and not together:
        misses = [gettext(IN_ONE)]
    meets = [clause.label for clause, is_met in zip(clauses, met, strict=True) if is_met]
    return MeetsAndMisses(tuple(meets), tuple(misses))


def split_by_condition(filters: CardFilters) -> tuple[CardFilters, list[CardFilters]]:
    """The filters on the person, and those of each condition on an experience, which different experiences may meet. There are no
    such filters if they would be too many, or if there is only one condition besides place and time.
    """
    names = constraints_in_force(filters)
    on_cards = [name for name in names if name not in OF_THE_PERSON]
    person = replace(without(filters, on_cards), roles=(), texts=(), names=())
    clauses = [*(only(filters, name) for name in on_cards), *(CardFilters(roles=(role,)) for role in filters.roles)]
    of_place_and_time = sum(name in PLACE_AND_TIME for name in on_cards)
    return person, clauses if 2 + of_place_and_time <= len(clauses) <= CLAUSES_MAX else []
