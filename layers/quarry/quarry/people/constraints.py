"""From constraints to what is searched: the request's own wishes put above the query's, filters, and the text to embed."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quarry.language.tokens import keys, stem, unique
from quarry.language.word_forms import word_forms
from quarry.people.contract import Constraints, PeopleSearchRequest
from quarry.people.filters import HARD_CONSTRAINTS, CardFilters, HardConstraint, constraints_in_force
from quarry.people.normalisation import normalise
from quarry.people.places import country_of, each_spelling, known_place, places_in, spellings

LAKH, CRORE = 100_000, 10_000_000
DAYS_A_YEAR = 365
LABEL_NAMES_MAX = 3
ROLE_FORMS_MAX = 60
ANYBODY = "people"
"""What is embedded of a query that does nothing but rule somebody out."""


_LISTS = {
    "companies": "company_norm", "schools": "school_norm", "teams": "team_norm", "intents": "intent_primary",
    "domains": "domain", "sub_domains": "sub_domain", "employment_types": "employment_type",
    "seniority_levels": "seniority_level", "names": "name", "texts": "text",
}  # fmt: skip
"""The filters that are lists as they stand in the constraints."""


def card_filters(constraints: Constraints, request: PeopleSearchRequest) -> CardFilters:
    """What is filtered by. What the request says itself wins over the query: `open_to_work_only` where it is given, `salary_max`
    over the salary offered, its `preferred_locations` over those of the query, and its `salary_min` filters nothing.
    """
    must, should, exclude = constraints.must, constraints.should, constraints.exclude
    open_to_work = request.open_to_work_only if request.open_to_work_only is not None else must.open_to_work_only
    places, countries = _location(constraints)
    if places:
        # an experience may itself be where no place is: "remote"
        places = unique((*places, *(name for name in must.or_preferred_locations if known_place(name) is None)))
    as_they_are: dict[str, Any] = {field: tuple(getattr(must, name)) for field, name in _LISTS.items()}
    as_they_are |= {name: _date(getattr(must, name)) for name in HARD_CONSTRAINTS["time"]}
    role_terms = (term for role in must.role for term in _role_terms(role, should.skills_or_tools))
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
        roles=tuple(map(_in_all_forms, must.role)),
        excluded_companies=tuple(exclude.company_norm),
        excluded_keywords=each_spelling(exclude.keywords),
        excluded_teams=tuple(exclude.team_norm),
        excluded_places=each_spelling(exclude.location),
        excluded_current=exclude.is_current,
        excluded_time_start=_date(exclude.time_start),
        excluded_time_end=_date(exclude.time_end),
        should_terms=unique(
            (
                *should.skills_or_tools, *should.keywords, *role_terms, *map(_words, should.intent_secondary),
                *should.company_norm, *should.team_norm, *should.location,
            )
        ),
    )  # fmt: skip


def embedding_text(constraints: Constraints, request: PeopleSearchRequest) -> str:
    """What is embedded: what the query is about in few words, or else the query itself."""
    return constraints.query_embedding_text or constraints.query_original or request.query


def edited(constraints: Constraints, query: str) -> Constraints:
    """Constraints that a request brings itself, in their one form; what is embedded is made of them."""
    update = {
        "query_original": query,
        "query_cleaned": constraints.query_cleaned or query,
        "query_embedding_text": about(constraints),
    }
    return normalise(constraints.model_copy(update=update))


def about(constraints: Constraints) -> str:
    """What constraints look for, in few words."""
    must, should = constraints.must, constraints.should
    named = [
        *(role.partition("|")[0] for role in must.role), *should.skills_or_tools, *should.keywords, *must.company_norm,
        *must.school_norm, *must.team_norm, *should.company_norm, *should.team_norm, *should.location, *must.domain,
        *must.sub_domain, *must.text, *must.name,
        *filter(None, [must.location_text or must.city or must.country]),
    ]  # fmt: skip
    return " ".join(unique(named))


def relaxation_label(constraint: HardConstraint, filters: CardFilters) -> str:
    """What dropping the constraint means, in plain words."""
    return f"Not only {condition_label(constraint, filters)}"


def condition_label(constraint: HardConstraint, filters: CardFilters) -> str:
    """What the constraint asks for, in words that can follow "who is" or stand by themselves."""
    return _LABELS[constraint](filters)


def exclusion_labels(filters: CardFilters, never_said: Collection[str] = ()) -> tuple[str, ...]:
    """What everybody shown is not, in words, but for what nobody says in the first place."""
    filters = replace(
        filters,
        excluded_companies=tuple(name for name in filters.excluded_companies if name not in never_said),
        excluded_keywords=tuple(name for name in filters.excluded_keywords if name not in never_said),
    )
    # "colonels" and "colonel" are one exclusion
    keywords = unique(filters.excluded_keywords, lambda name: " ".join(map(stem, keys(name))))
    labels = [f"not {listed(keywords)}"] if keywords else []
    out = CardFilters(
        companies=filters.excluded_companies,
        teams=filters.excluded_teams,
        places=filters.excluded_places,
        is_current=filters.excluded_current,
        time_start=filters.excluded_time_start,
        time_end=filters.excluded_time_end,
    )
    return (*(f"not {condition_label(name, out)}" for name in constraints_in_force(out)), *labels)


def rupees(amount: float) -> str:
    """An amount as it is said in India: ₹18 lakh, ₹1.2 crore, ₹80,000."""
    for unit, name in ((CRORE, "crore"), (LAKH, "lakh")):
        if amount >= unit:
            return f"₹{round(amount / unit, 2):g} {name}"
    return f"₹{amount:,.0f}"


def _location(constraints: Constraints) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The places, any of which suffices, and the country they must be in.

    The most precise that is known counts: the city, else the free text, else the country. A country that goes without saying
    (Pune is in India) is not asked for, so that a card that does not name it is found all the same.
    """
    must = constraints.must
    if must.city:
        said = must.country and must.country != country_of(must.city)
        state = known_place(must.location_text.rpartition(", ")[2], "region") if must.location_text else None
        if state is not None and not must.country:
            return spellings(must.city), spellings(state.name)
        return spellings(must.city), spellings(must.country) if said and must.country else ()
    if must.location_text and must.location_text != must.country:
        return places_in(must.location_text), spellings(must.country) if must.country else ()
    return (spellings(must.country), ()) if must.country else ((), ())


def _role_terms(role: str, skills: Collection[str]) -> Sequence[str]:
    """What raises the rank of who is in a role: its names, and the words of one that is no skill."""
    names = role.split("|")
    return names if set(names) & set(skills) else [*names, *names[0].split()]


def _in_all_forms(role: str) -> str:
    """A role by its names, and by the words of one stem for who does that and what they do ("designers": "design")."""
    names = role.split("|")
    others = [
        " ".join((*words[:-1], form))
        for words in map(keys, names)
        for form in (word_forms(words[-1]) if words else ())
        if stem(form) == stem(words[-1])
    ]
    return "|".join(unique((*names, *others))[:ROLE_FORMS_MAX])


def _days(years: float | None) -> int | None:
    return None if years is None else round(years * DAYS_A_YEAR)


def _experience(filters: CardFilters) -> str:
    least, most = (
        None if days is None else round(days / DAYS_A_YEAR, 1)
        for days in (filters.experience_least, filters.experience_most)
    )
    if least is not None and most is not None:
        return f"with {least:g} to {most:g} years of experience"
    bound, years = ("at most", most) if least is None else ("at least", least)
    return f"with {bound} {years:g} {'year' if years == 1 else 'years'} of experience"


def _date(text: str | None) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None


def _words(value: str) -> str:
    return value.replace("_", " ")


def listed(names: Iterable[str]) -> str:
    shown = list(names)
    more = ["others"] if len(shown) > LABEL_NAMES_MAX else []
    return " or ".join([*shown[:LABEL_NAMES_MAX], *more])


def _place_label(filters: CardFilters) -> str:
    """The place, and what suffices in its stead: "Chennai or ready to work remotely"."""
    place = listed(map(_titled, _place_names(filters)))
    return f"{place} or {_preference(filters.or_preferred_locations)}" if filters.or_preferred_locations else place


def _preference(locations: Sequence[str]) -> str:
    return "ready to work remotely" if tuple(locations) == ("remote",) else "ready to work there"


def _place_names(filters: CardFilters) -> tuple[str, ...]:
    """The places asked for, each by one of its spellings; of a region, its name alone."""
    names = tuple(name for name in filters.places if name not in filters.or_preferred_locations) or filters.countries
    first = known_place(names[0])
    if first is not None and first.kind == "region":
        return names[:1]
    return unique(place.name if (place := known_place(name)) else name for name in names)


def _titled(name: str) -> str:
    """A name with capitals, as far as one can tell from its lower case."""
    small = {"of", "and", "the", "in", "for", "de", "do", "da", "or"}
    parts = name.split()
    return " ".join(
        part if place and part in small else part[:1].upper() + part[1:] for place, part in enumerate(parts)
    )


def period(start: datetime.date | None, end: datetime.date | None) -> str:
    """ "2019 to 2021", "since March 2020"; nothing where it has no bounds."""
    if start and end:
        whole_years = (start.month, start.day, end.month, end.day) == (1, 1, 12, 31)
        first, last = (f"{start.year}", f"{end.year}") if whole_years else (_month(start), _month(end))
        return first if first == last else f"{first} to {last}"
    return f"since {_month(start)}" if start else f"until {_month(end)}" if end else ""


def _period(filters: CardFilters) -> str:
    return period(
        filters.time_start or filters.started_from or filters.ended_from,
        filters.time_end or filters.started_until or filters.ended_until,
    )


def _month(day: datetime.date) -> str:
    return f"{day:%B %Y}"


_LABELS: Mapping[HardConstraint, Callable[[CardFilters], str]] = {
    "company_norm": lambda filters: f"at {listed(map(_titled, filters.companies))}",
    "school_norm": lambda filters: f"at {listed(map(_titled, filters.schools))}",
    "team_norm": lambda filters: f"in the team {listed(map(_titled, filters.teams))}",
    "intent_primary": lambda filters: listed(map(_words, filters.intents)),
    "domain": lambda filters: listed(map(_words, filters.domains)),
    "sub_domain": lambda filters: listed(map(_words, filters.sub_domains)),
    "employment_type": lambda filters: listed(map(_words, filters.employment_types)),
    "seniority_level": lambda filters: listed(map(_words, filters.seniority_levels)),
    "location": lambda filters: f"in {_place_label(filters)}",
    "time": _period,
    "is_current": lambda filters: "now" if filters.is_current else "formerly",
    "open_to_work_only": lambda filters: "open to work" if filters.open_to_work_only else "not open to work",
    "preferred_locations": lambda filters: _preference(filters.preferred_locations),
    "offer_salary_inr_per_year": lambda filters: f"for at most {rupees(filters.offer_salary or 0)} a year",
    "experience_years": _experience,
}
