"""The filters of retrieval, made from the constraints: values for SQL, what each tier drops, and labels.

Exclusions hold in every tier.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quarry.language.messages import gettext, ngettext, pgettext, writing
from quarry.language.word_forms import STOP_WORDS, stems_of, unique
from quarry.people.contract import Constraints, PeopleSearchRequest
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

LAKH, CRORE = 100_000, 10_000_000
DAYS_A_YEAR = 365
LABEL_NAMES_MAX = 3

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
        return any(getattr(self, bound) is not None for bound in HARD_CONSTRAINTS["time"])

    @property
    def has_location(self) -> bool:
        return bool(self.places or self.countries or self.or_preferred_locations)

    @property
    def excludes_anyone(self) -> bool:
        named = (self.excluded_companies, self.excluded_keywords, self.excluded_teams, self.excluded_places)
        others = (self.excluded_current, self.excluded_time_start, self.excluded_time_end)
        return any(named) or any(other is not None for other in others)

    @property
    def unexcluded(self) -> CardFilters:
        """The same without exclusions."""
        fields = [name for name in vars(self) if name.startswith("excluded_")]
        return replace(self, **{name: getattr(_NOTHING, name) for name in fields})

    @property
    def excluding(self) -> CardFilters:
        """What an excluded experience must meet to exclude its person: a required role, else the other conditions on it."""
        if self.excluded_ever:
            return CardFilters()
        if self.roles:
            return CardFilters(roles=("|".join(self.roles),))
        on_cards = [name for name in HARD_CONSTRAINTS if name not in OF_THE_PERSON]
        conditions = {field: getattr(self, field) for name in on_cards for field in HARD_CONSTRAINTS[name]}
        if self.or_preferred_locations:  # the place is only an alternative
            conditions |= dict.fromkeys(HARD_CONSTRAINTS["location"], ())
        return CardFilters(**conditions)

    @property
    def expects_more(self) -> bool:
        """Whether roles or words are required."""
        return bool(self.roles or self.texts)


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


def card_filters(constraints: Constraints, request: PeopleSearchRequest) -> CardFilters:
    """The filters of a search. Fields of the request win over the query: `open_to_work_only`, `salary_max` and
    `preferred_locations`; its `salary_min` filters nothing.
    """
    must, should, exclude = constraints.must, constraints.should, constraints.exclude
    open_to_work = request.open_to_work_only if request.open_to_work_only is not None else must.open_to_work_only
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
        open_to_work_only=True if open_to_work else False if exclude.open_to_work else None,
        preferred_locations=each_spelling(
            place.lower() for place in request.preferred_locations or must.preferred_locations
        ),
        or_preferred_locations=each_spelling(must.or_preferred_locations),
        offer_salary=request.salary_max if request.salary_max is not None else must.offer_salary_inr_per_year,
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
                *should.skills_or_tools, *should.keywords, *role_names, *map(worded, should.intent_secondary),
                *should.company_norm, *should.team_norm, *should.location,
            )
        ),
    )  # fmt: skip


def embedding_text(constraints: Constraints, request: PeopleSearchRequest) -> str:
    """The text to embed: the subject of the query in few words, or else the query itself."""
    return constraints.query_embedding_text or constraints.query_original or request.query


def relaxation_label(constraint: HardConstraint, filters: CardFilters) -> str:
    """The label of a relaxation."""
    return gettext("Not only {label}", label=condition_label(constraint, filters))


def condition_label(constraint: HardConstraint, filters: CardFilters) -> str:
    """The label of a constraint: "at Tarang Pay"."""
    return _LABELS[constraint](filters)


def exclusions(
    filters: CardFilters, never_said: Collection[str] = ()
) -> list[tuple[str, list[CardFilters], list[str]]]:
    """The exclusions: the label of each, and the filters and the words that show it on an experience. Words that no profile
    contains are left out.
    """
    companies = tuple(name for name in filters.excluded_companies if name not in never_said)
    # "colonels" and "colonel" are one exclusion
    words = unique((name for name in filters.excluded_keywords if name not in never_said), stems_of)
    out = CardFilters(
        companies=companies,
        teams=filters.excluded_teams,
        places=filters.excluded_places,
        is_current=filters.excluded_current,
        time_start=filters.excluded_time_start,
        time_end=filters.excluded_time_end,
    )
    on_cards: list[tuple[str, list[CardFilters], list[str]]] = [
        (gettext("not {label}", label=condition_label(name, out)), [only(out, name)], [])
        for name in constraints_in_force(out)
    ]
    return [*on_cards, *([(gettext("not {label}", label=listed(words)), [], list(words))] if words else [])]


def rupees(amount: float) -> str:
    """An amount in the Indian style: ₹18 lakh, ₹1.2 crore, ₹80,000."""
    for unit, name in ((CRORE, "crore"), (LAKH, "lakh")):
        if amount >= unit:
            return f"₹{writing().number(round(amount / unit, 2))} {name}"
    return f"₹{writing().number(amount, ',.0f')}"


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


def _experience(filters: CardFilters) -> str:
    least, most = (
        None if days is None else round(days / DAYS_A_YEAR, 1)
        for days in (filters.experience_least, filters.experience_most)
    )
    if least is not None and most is not None:
        ends = {"least": writing().number(least), "most": writing().number(most)}
        return gettext("with {least} to {most} years of experience", **ends)
    if least is None:
        return ngettext(
            "with at most {number} year of experience", "with at most {number} years of experience", most or 0
        )
    return ngettext("with at least {number} year of experience", "with at least {number} years of experience", least)


def day_of(text: str | None) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None


def worded(value: str) -> str:
    return value.replace("_", " ")


def listed(names: Iterable[str]) -> str:
    shown = list(names)
    more = [gettext("others")] if len(shown) > LABEL_NAMES_MAX else []
    return pgettext("list", " or ").join([*shown[:LABEL_NAMES_MAX], *more])


def _place_label(filters: CardFilters) -> str:
    """The place and its alternative: "Chennai or ready to work remotely"."""
    place = listed(map(titled, _place_names(filters)))
    if not filters.or_preferred_locations:
        return place
    return pgettext("list", " or ").join([place, _preference(filters.or_preferred_locations)])


def _preference(locations: Sequence[str]) -> str:
    if tuple(locations) == ("remote",):
        return gettext("ready to work remotely")
    return gettext("ready to work there")


def _place_names(filters: CardFilters) -> tuple[str, ...]:
    """The names of the places, each once; of a region, its name alone."""
    names = tuple(name for name in filters.places if name not in filters.or_preferred_locations) or filters.countries
    first = known_place(names[0])
    if first is not None and first.kind == "region":
        return names[:1]
    return unique(place.name if (place := known_place(name)) else name for name in names)


def titled(name: str) -> str:
    """A lower-case name with capitals."""
    parts = name.split()
    return " ".join(
        part if place and (part in STOP_WORDS or part in ("de", "da")) else part[:1].upper() + part[1:]
        for place, part in enumerate(parts)
    )


def period(start: datetime.date | None, end: datetime.date | None) -> str:
    """ "2019 to 2021", "since March 2020"; nothing where it has no bounds."""
    if start and end:
        whole_years = (start.month, start.day, end.month, end.day) == (1, 1, 12, 31)
        first, last = (f"{start.year}", f"{end.year}") if whole_years else (_month(start), _month(end))
        return first if first == last else gettext("{first} to {last}", first=first, last=last)
    if start:
        return pgettext("month", "since {month}", month=_month(start))
    return pgettext("month", "until {month}", month=_month(end)) if end else ""


def _period(filters: CardFilters) -> str:
    return period(
        filters.time_start or filters.started_from or filters.ended_from,
        filters.time_end or filters.started_until or filters.ended_until,
    )


def _month(day: datetime.date) -> str:
    return writing().month_of(day)


_LABELS: Mapping[HardConstraint, Callable[[CardFilters], str]] = {
    "company_norm": lambda filters: gettext("at {names}", names=listed(map(titled, filters.companies))),
    "school_norm": lambda filters: gettext("at {names}", names=listed(map(titled, filters.schools))),
    "team_norm": lambda filters: gettext("in the team {names}", names=listed(map(titled, filters.teams))),
    "intent_primary": lambda filters: listed(map(worded, filters.intents)),
    "domain": lambda filters: listed(map(worded, filters.domains)),
    "sub_domain": lambda filters: listed(map(worded, filters.sub_domains)),
    "employment_type": lambda filters: listed(map(worded, filters.employment_types)),
    "seniority_level": lambda filters: listed(map(worded, filters.seniority_levels)),
    "location": lambda filters: gettext("in {place}", place=_place_label(filters)),
    "time": _period,
    "is_current": lambda filters: gettext("now") if filters.is_current else gettext("formerly"),
    "open_to_work_only": lambda filters: (
        gettext("open to work") if filters.open_to_work_only else gettext("not open to work")
    ),
    "preferred_locations": lambda filters: _preference(filters.preferred_locations),
    "offer_salary_inr_per_year": lambda filters: gettext(
        "for at most {amount} a year", amount=rupees(filters.offer_salary or 0)
    ),
    "experience_years": _experience,
}
