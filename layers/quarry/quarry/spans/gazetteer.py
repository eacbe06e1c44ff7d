"""The places in the world that questions name: countries, regions, states and larger cities, with their spellings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from quarry.language.word_forms import demonyms, keys, unique, without_accents
from quarry.spans.mention import Place, PlaceKind

LARGE_CITY_THOUSANDS = 300
"""From this population in thousands, a city takes precedence over a state of the same name."""

_DATA = Path(__file__).parent / "data"


class Entry(NamedTuple):
    """A row of the place tables. `country` is an ISO 3166 code, `thousands` the population of a city. `is_usual` and
    `is_demonym` describe this name of the place.
    """

    kind: PlaceKind
    name: str
    names: tuple[str, ...]
    country: str = ""
    state: str = ""
    thousands: int = 0
    members: tuple[str, ...] = ()
    is_usual: bool = True
    is_demonym: bool = False


@dataclass(frozen=True)
class Gazetteer:
    """Entries by normalised name, states by abbreviation, cities by the country or state they are in ("IN", "US-CA"), and for
    each city name all countries and states with such a city.
    """

    by_name: dict[str, tuple[Entry, ...]]
    by_abbreviation: dict[str, Entry]
    by_code: dict[str, Entry]
    cities: dict[str, tuple[Entry, ...]]
    homes: dict[str, set[str]]


@cache
def gazetteer() -> Gazetteer:
    """The gazetteer, loaded on first use. Loading takes 0.1 seconds, so call it when a process starts."""
    by_name: dict[str, tuple[Entry, ...]] = {}
    by_abbreviation: dict[str, Entry] = {}
    by_code: dict[str, Entry] = {}
    cities: dict[str, list[Entry]] = defaultdict(list)
    homes: dict[str, set[str]] = defaultdict(set)
    for entry, code in (*_countries(), *_regions(), *_states()):
        by_code[code] = entry
        for name in map(_key, entry.names):
            by_name[name] = (*by_name.get(name, ()), entry)
        if "-" in code:
            by_abbreviation.setdefault(code[3:].lower(), entry)
    for city, usual in _cities():
        known_as = [_key(name) for name in city.names[:usual]]
        within = [city.country, city.state] if city.state else [city.country]
        for code in within:
            cities[code].append(city)
        for key in known_as:
            homes[key].update(within)
        _add_city(by_name, city, known_as, city.names[usual:])
    for demonym, place in demonyms().items():
        for entry in by_name.get(_key(place), ())[:1]:
            by_name[demonym] = (*by_name.get(demonym, ()), entry._replace(is_demonym=True))
    for name in [name for name, entries in by_name.items() if len(entries) > 1]:
        by_name[name] = tuple(sorted(by_name[name], key=_rank))
    return Gazetteer(
        by_name,
        by_abbreviation,
        by_code,
        {code: tuple(within) for code, within in cities.items()},
        dict(homes),
    )


def places_called(name: str) -> tuple[Place, ...]:
    """The places with this name, most important first: "Georgia" is a country and a state."""
    return tuple(place_of(entry) for entry in gazetteer().by_name.get(_key(name), ()))


@cache
def place_of(entry: Entry) -> Place:
    """The place with all its spellings, with and without accents. For a region or state, also those of the places in it."""
    names = [*entry.names, *(name for member in entry.members for name in _names_of_member(member))]
    if entry.kind == "region" and entry.state:
        names += [name for city in gazetteer().cities.get(entry.state, ()) for name in city.names[:1]]
    return Place(entry.kind, entry.name, unique(each for name in names for each in (name, without_accents(name))))


def _names_of_member(member: str) -> tuple[str, ...]:
    # countries missing from a table of another year have no names
    entry = gazetteer().by_code.get(member)
    return place_of(entry).names if entry else ()


def _rank(entry: Entry) -> int:
    """The rank of a place among those with the same name; lower is likelier."""
    if entry.kind == "city":
        return 1 if entry.thousands >= LARGE_CITY_THOUSANDS and entry.is_usual else 3
    return 2 if entry.state else 0


def _add_city(by_name: dict[str, tuple[Entry, ...]], city: Entry, usual: Sequence[str], others: Sequence[str]) -> None:
    """Adds a city under its usual names, as keys, and its others, which the table holds as such. Cities come after all other
    places and sorted by size: the largest with a name gets it.
    """
    unusual = city._replace(is_usual=False) if others else city
    for names, entry in ((usual, city), (others, unusual)):
        for name in names:
            if (entries := by_name.get(name)) is None:
                by_name[name] = (entry,)
            elif entries[-1].kind != "city":
                by_name[name] = (*entries, entry)


def _key(name: str) -> str:
    return name.lower() if name.isascii() and name.replace(" ", "").isalnum() else " ".join(keys(name))


def _rows(file: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in (_DATA / file).read_text().splitlines() if not line.startswith("#"))


def _countries() -> Iterator[tuple[Entry, str]]:
    for code, names in _rows("countries.tsv"):
        spellings = tuple(names.split(","))
        yield Entry("country", spellings[0], spellings, code), code


def _regions() -> Iterator[tuple[Entry, str]]:
    for kind, names, members in _rows("regions.tsv"):
        spellings = tuple(names.split(","))
        region: PlaceKind = "continent" if kind == "continent" else "region"
        yield Entry(region, spellings[0], spellings, members=tuple(members.split(","))), spellings[0]


def _states() -> Iterator[tuple[Entry, str]]:
    for code, names, _ in _rows("states.tsv"):
        spellings = tuple(names.split(","))
        yield Entry("region", spellings[0], spellings, code[:2], code), code


def _cities() -> Iterator[tuple[Entry, int]]:
    """The cities, largest first, each with the number of its usual names."""
    for usual_names, country, state, thousands, others in _rows("cities.tsv"):
        usual = tuple(usual_names.split(","))
        names = (*usual, *others.split(",")) if others else usual
        yield Entry("city", usual[0], names, country, state and f"{country}-{state}", int(thousands)), len(usual)


CITIES_OF_STATE_MAX = 60

_WHAT_SEPARATES_ALTERNATIVES = re.compile(r"[/|;]|\bor\b|\band\b")


def known_place(name: str, kind: PlaceKind | None = None) -> Place | None:
    """The most important place with the spelling `name`, of `kind` if given."""
    return next((place for place in places_called(name) if kind is None or place.kind == kind), None)


def usual_name(name: str, kind: PlaceKind) -> str:
    """The usual name of a city or country, in lower case; `name` itself if no such place is known."""
    place = known_place(name, kind)
    return place.name if place else name


def spellings(name: str) -> tuple[str, ...]:
    """All lower-case spellings of a place, `name` first. For a region, also those of the places in it."""
    place = known_place(name)
    if place is None:
        return unique((name, without_accents(name)))
    state = _state(place)
    return unique((name, *(_names_of_state(state) if state else _usual_names(place))))


def country_of(city: str) -> str | None:
    """The usual name of the country of the largest city with this name."""
    entries = gazetteer().by_name.get(city, ())
    code = next((entry.country for entry in entries if entry.kind == "city"), None)
    return gazetteer().by_code[code].name if code in gazetteer().by_code else None


def country_of_region(region: Place) -> str | None:
    """The usual name of the country of a state."""
    state = _state(region)
    return gazetteer().by_code[state.country].name if state else None


def places_in(text: str) -> tuple[str, ...]:
    """The spellings of all places that a text lists as alternatives: "pune or mumbai", "mumbai / thane".

    Commas make a place more precise ("whitefield, bengaluru, india"): the first part counts. But if all parts are places of one
    kind, they are alternatives.
    """
    names: list[str] = []
    for alternative in _WHAT_SEPARATES_ALTERNATIVES.split(text):
        parts = [part.strip() for part in alternative.split(",") if part.strip()]
        kinds = {place.kind if (place := known_place(part)) else None for part in parts}
        for part in parts if len(kinds) == 1 and kinds != {None} else parts[:1]:
            names += spellings(part)
    return unique(names)


def alternatives_in(text: str) -> list[str]:
    """The alternatives in a text, each reduced to its most precise part."""
    named = (alternative.partition(",")[0].strip() for alternative in _WHAT_SEPARATES_ALTERNATIVES.split(text))
    return [name for name in named if name]


def each_spelling(names: Iterable[str]) -> tuple[str, ...]:
    """The names, with places in all their spellings."""
    return unique(each for name in names for each in (spellings(name) if known_place(name) else (name,)))


def _usual_names(place: Place) -> Iterator[str]:
    """The names of a place that the data may contain. Names in other languages are left out; some belong to other places."""
    for name in place.names:
        entries = gazetteer().by_name.get(" ".join(keys(name)), ())
        if place.kind != "city" or any(entry.is_usual and entry.name == place.name for entry in entries):
            yield name


def _state(place: Place) -> Entry | None:
    """The federal state that a region is."""
    entries = gazetteer().by_name.get(place.name, ()) if place.kind == "region" else ()
    return next((entry for entry in entries if entry.state), None)


def _names_of_state(state: Entry) -> tuple[str, ...]:
    """A state's names and abbreviation, and its larger cities. Cities are qualified with the state, because a city of the same
    name may exist elsewhere.
    """
    abbreviation = state.state.partition("-")[2].lower()
    country = gazetteer().by_code[state.country]
    cities = [city.name for city in gazetteer().cities.get(state.state, ())][:CITIES_OF_STATE_MAX]
    sure = [f"{abbreviation} {name}" for name in country.names]
    sure += [f"{city} {name}" for city in cities for name in (abbreviation, *country.names[:4])]
    return (*state.names, *sure)
