"""The rules that read a query for people where no model does.

Names, places, amounts, times and terms are recognised first; then how they are meant: insisted on, preferred, ruled out. A
company, a place, a period, a salary and being open to work are hard unless they are only preferred; all else is soft unless the
query insists. Every word that is left and says something is a keyword.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from quarry.people.contract import Constraints
from quarry.people.parsing.find_names import find_companies, find_known_companies, find_teams
from quarry.people.parsing.find_places import find_places
from quarry.people.parsing.find_traits import (
    find_amounts_and_times,
    find_availability,
    find_current,
    find_taxonomy,
    find_topics,
)
from quarry.people.parsing.gist import confidence, gist, search_phrases
from quarry.people.parsing.known import KnownNames
from quarry.people.parsing.moods import Mood, is_small_talk, read_moods
from quarry.people.parsing.periods import TimeMention
from quarry.people.parsing.places import country_of, spellings
from quarry.people.parsing.reading import Reading, Span
from quarry.people.parsing.salaries import SalaryMention
from quarry.people.parsing.terms import domain_book, intent_book

FORMER = frozenset("ex former formerly previously earlier left longer past was".split())
HARD_INTENTS = frozenset({"education", "project", "community", "certification", "career_break"})
"""Kinds of experience that are made hard where the query insists; people work, teach and do research under other headings too."""


def parse(query: str, names: KnownNames) -> Constraints:
    """The constraints that a query holds."""
    reading = Reading(query, names)
    find_known_companies(reading)
    salaries, times = find_amounts_and_times(reading)
    find_availability(reading)
    find_companies(reading)
    find_teams(reading)
    find_places(reading)
    find_current(reading)
    find_taxonomy(reading)
    find_topics(reading)
    moods = read_moods(reading)
    for place in list(reading.free()):
        if not is_small_talk(reading, place):
            reading.add("word", reading.key(place), place, place + 1)

    constraints = Constraints(query_original=query, query_cleaned=query)
    _put_amounts_and_times(constraints, reading, salaries, times)
    _put_names(constraints, reading, moods)
    _put_places(constraints, reading, moods)
    _put_current(constraints, reading, moods)
    _put_traits(constraints, reading, moods)
    _put_words(constraints, reading, moods)
    _put_intents(constraints, reading, moods)
    constraints.query_embedding_text = gist(reading, moods)
    constraints.search_phrases = search_phrases(constraints, reading, moods)
    constraints.confidence_score = confidence(reading)
    return constraints


def _put_amounts_and_times(
    constraints: Constraints, reading: Reading, salaries: list[SalaryMention], times: list[TimeMention]
) -> None:
    """The first clear salary, the first period; a beginning and an end may be said apart. What is not clear is kept as words."""
    must, unclear = constraints.must, []
    for salary, span in zip(salaries, reading.of_kind("salary"), strict=True):
        if salary.inr_per_year is None or must.offer_salary_inr_per_year is not None:
            unclear.append(span)
        else:
            must.offer_salary_inr_per_year = salary.inr_per_year
    for time, span in zip(times, reading.of_kind("time"), strict=True):
        start, end = time.time_start, time.time_end
        if (start and must.time_start) or (end and must.time_end):
            unclear.append(span)
            continue
        must.time_start = start.isoformat() if start else must.time_start
        must.time_end = end.isoformat() if end else must.time_end
    constraints.should.keywords += [span.value for span in (*unclear, *reading.of_kind("relative"))]


def _put_names(constraints: Constraints, reading: Reading, moods: list[Mood]) -> None:
    must, former = constraints.must, False
    for span in reading.of_kind("company", "team"):
        match moods[span.first]:
            case "excluded":
                (constraints.exclude.company_norm if span.kind == "company" else constraints.exclude.keywords).append(
                    span.value
                )
            case "preferred":
                constraints.should.keywords.append(span.value)
            case "plain" | "required":
                (must.company_norm if span.kind == "company" else must.team_norm).append(span.value)
                former |= any(reading.key(place) in FORMER for place in range(span.first - 3, span.first))
    must.is_current = False if former and must.company_norm else None


def _put_places(constraints: Constraints, reading: Reading, moods: list[Mood]) -> None:
    """One city, country or both go to their fields; several alternatives, a region or an unknown place to the text alone."""
    must = constraints.must
    by_kind: dict[str, list[str]] = {"city": [], "country": [], "region": [], "text": []}
    for span in reading.of_kind("place"):
        kind, _, name = span.value.partition(":")
        if moods[span.first] == "excluded":
            constraints.exclude.keywords.append(name)
        elif moods[span.first] == "preferred":
            constraints.should.keywords.append(name)
        elif name not in by_kind[kind]:
            by_kind[kind].append(name)
    cities, countries = by_kind["city"], by_kind["country"]
    # "Kochi, Kerala" is Kochi, "Kochi or Goa" is both
    regions = [name for name in by_kind["region"] if not set(cities) & set(spellings(name))]
    # "Berlin or Kenya" is both, "London, Canada" is one place
    abroad = [name for name in countries if len(cities) == 1 and country_of(cities[0]) not in (None, name)]
    if any(_is_in(*pair) for pair in pairwise(reading.of_kind("place"))):
        abroad = []
    if len(cities) == 1 and not regions and not abroad and len(countries) <= 1:
        must.city, must.country = cities[0], countries[0] if countries else None
        must.location_text = ", ".join([*cities, *countries])
    elif not cities and not regions and len(countries) == 1:
        must.country = must.location_text = countries[0]
    elif any(by_kind.values()):
        must.location_text = " or ".join([*cities, *regions, *countries] or by_kind["text"])


def _is_in(city: Span, country: Span) -> bool:
    return city.value.startswith("city:") and country.value.startswith("country:") and city.last == country.first


def _put_current(constraints: Constraints, reading: Reading, moods: list[Mood]) -> None:
    """Being there now is asked of the card that all else is asked of: only where nothing of the past is asked for beside it."""
    must = constraints.must
    for span in reading.of_kind("current"):
        if moods[span.first] not in ("plain", "required"):
            continue
        governs = any(
            reading.kind_at(place) == "company"
            for place in range(span.last, min(span.last + 5, len(reading.tokens)))
            if not any(reading.starts_clause(n) for n in range(span.last, place + 1))
        )
        alone = not (must.company_norm or must.time_start or must.time_end)
        if governs or alone:
            must.is_current = None if must.is_current is False else True


def _put_traits(constraints: Constraints, reading: Reading, moods: list[Mood]) -> None:
    must, should = constraints.must, constraints.should
    for span in reading.of_kind("open_to_work"):
        if moods[span.first] == "preferred":
            should.keywords.append("open to work")
        elif span.value == "yes" and moods[span.first] != "excluded":
            must.open_to_work_only = True
    for span in reading.of_kind("seniority", "employment", "skill", "topic"):
        typed = reading.words(span).lower()
        if moods[span.first] == "excluded":
            constraints.exclude.keywords.append(typed)
        elif not (moods[span.first] == "required" and _put_required(constraints, reading, span)):
            if span.kind == "skill":
                should.skills_or_tools.append(span.value)
            else:
                should.keywords += [typed, span.value.replace("_", " ")]


def _put_required(constraints: Constraints, reading: Reading, span: Span) -> bool:
    """Make a soft trait hard. False where there is no field for it."""
    must, typed = constraints.must, reading.words(span)
    if span.kind == "seniority":
        must.seniority_level.append(span.value)
    elif span.kind == "employment":
        must.employment_type.append(span.value)
    elif domain := reading.names.domains.get(typed) or domain_book().get(typed):
        must.domain.append(domain)
    elif span.kind == "topic" and (sub_domain := reading.names.sub_domains.get(typed)):
        must.sub_domain.append(sub_domain)
    else:
        return False
    return True


def _put_words(constraints: Constraints, reading: Reading, moods: list[Mood]) -> None:
    """Words that nothing was recognised in, one by one; what is ruled out as the phrases that it is."""
    words = reading.of_kind("word")
    constraints.should.keywords += [span.value for span in words if moods[span.first] not in ("excluded", "unrelated")]
    constraints.exclude.keywords += [" ".join(run) for run in _runs(reading, moods)]


def _runs(reading: Reading, moods: list[Mood]) -> Iterator[list[str]]:
    """The words ruled out, those side by side together."""
    run: list[str] = []
    for place in range(len(reading.tokens)):
        if reading.starts_clause(place) and run:
            yield run
            run = []
        if moods[place] == "excluded" and reading.kind_at(place) == "word":
            run.append(reading.tokens[place].text.lower())
        elif run:
            yield run
            run = []
    if run:
        yield run


def _put_intents(constraints: Constraints, reading: Reading, moods: list[Mood]) -> None:
    """Kinds of experience, which the words stay keywords beside. That people work goes without saying."""
    for place in range(len(reading.tokens)):
        found = intent_book().longest_at(reading.tokens, place)
        if found is None or found.value == "work" or moods[place] in ("excluded", "unrelated"):
            continue
        hard = moods[place] == "required" and found.value in HARD_INTENTS
        (constraints.must.intent_primary if hard else constraints.should.intent_secondary).append(found.value)
