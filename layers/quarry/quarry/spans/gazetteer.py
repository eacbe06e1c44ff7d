"""The places of the world that questions name: countries, regions, states and larger cities, with their spellings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from quarry.language.demonyms import demonyms
from quarry.language.tokens import keys, unique, without_accents
from quarry.spans.mention import Place, PlaceKind

LARGE_CITY_THOUSANDS = 300
"""From so many thousands of people on a city is meant before a state of its name."""

_DATA = Path(__file__).parent / "data"


class Entry(NamedTuple):
    """A place of the tables. `country` is its ISO 3166 code, `thousands` how many people a city has. `is_usual` and
    `is_demonym` say how this name of it names it.
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
    """Entries by their names as they are compared; states by their abbreviations; cities by what they lie in ("IN", "US-CA"), and
    all that cities of a name lie in.
    """

    by_name: dict[str, tuple[Entry, ...]]
    by_abbreviation: dict[str, Entry]
    by_code: dict[str, Entry]
    cities: dict[str, tuple[Entry, ...]]
    homes: dict[str, set[str]]


@cache
def gazetteer() -> Gazetteer:
    """Read on first use, which takes a fifth of a second; call it when a process starts."""
    by_name: dict[str, list[Entry]] = defaultdict(list)
    by_abbreviation: dict[str, Entry] = {}
    by_code: dict[str, Entry] = {}
    cities: dict[str, list[Entry]] = defaultdict(list)
    homes: dict[str, set[str]] = defaultdict(set)
    for entry, code in (*_countries(), *_regions(), *_states()):
        by_code[code] = entry
        _add(by_name, entry)
        if "-" in code:
            by_abbreviation.setdefault(code[3:].lower(), entry)
    for city, usual in _cities():
        _add(by_name, city, usual)
        cities[city.country].append(city)
        if city.state:
            cities[city.state].append(city)
        for name in city.names[:usual]:
            homes[_key(name)] |= {city.country, city.state} - {""}
    for demonym, place in demonyms().items():
        for entry in by_name[_key(place)][:1]:
            by_name[demonym].append(entry._replace(is_demonym=True))
    return Gazetteer(
        {name: tuple(sorted(all, key=_rank)) if len(all) > 1 else (all[0],) for name, all in by_name.items() if all},
        by_abbreviation,
        by_code,
        {code: tuple(within) for code, within in cities.items()},
        dict(homes),
    )


def places_called(name: str) -> tuple[Place, ...]:
    """What places are called so, the most important first: "Georgia" is a country and a state."""
    return tuple(place_of(entry) for entry in gazetteer().by_name.get(_key(name), ()))


@cache
def place_of(entry: Entry) -> Place:
    """The place with all its spellings, each with and without accents; of a region or state, also those of what lies in it."""
    names = [*entry.names, *(name for member in entry.members for name in _names_of_member(member))]
    if entry.kind == "region" and entry.state:
        names += [name for city in gazetteer().cities.get(entry.state, ()) for name in city.names[:1]]
    return Place(entry.kind, entry.name, unique(each for name in names for each in (name, without_accents(name))))


def _names_of_member(member: str) -> tuple[str, ...]:
    # a country that a table of another year does not have has no names
    entry = gazetteer().by_code.get(member)
    return place_of(entry).names if entry else ()


def _rank(entry: Entry) -> int:
    """The lower, the likelier a place is meant by a name that others have too."""
    if entry.kind == "city":
        return 1 if entry.thousands >= LARGE_CITY_THOUSANDS and entry.is_usual else 3
    return 2 if entry.state else 0


def _add(by_name: dict[str, list[Entry]], entry: Entry, usual: int = 0) -> None:
    """Add a place by all its names, of which the first `usual` are usual ones; all are where that is 0."""
    for place, name in enumerate(entry.names):
        # the other names of cities are in the table as they are compared
        entries = by_name[name if 0 < usual <= place else _key(name)]
        # cities come by size: a name is that of the largest city that has it
        if entry.kind != "city" or all(each.kind != "city" for each in entries):
            entries.append(entry if usual == 0 or place < usual else entry._replace(is_usual=False))


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
    """The cities, the largest first, each with how many of its names are usual."""
    for usual_names, country, state, thousands, others in _rows("cities.tsv"):
        usual = tuple(usual_names.split(","))
        names = (*usual, *others.split(",")) if others else usual
        yield Entry("city", usual[0], names, country, state and f"{country}-{state}", int(thousands)), len(usual)


CITIES_OF_STATE_MAX = 60

_WHAT_SEPARATES_ALTERNATIVES = re.compile(r"[/|;]|\bor\b|\band\b")


def known_place(name: str, kind: PlaceKind | None = None) -> Place | None:
    """The place that `name` is a spelling of, the most important one; of that kind, where one is given."""
    return next((place for place in places_called(name) if kind is None or place.kind == kind), None)


def usual_name(name: str, kind: PlaceKind) -> str:
    """The usual name of a city or country, lower case; `name` itself where none of that kind is known."""
    place = known_place(name, kind)
    return place.name if place else name


def spellings(name: str) -> tuple[str, ...]:
    """All lower-case spellings of a place, `name` first; for a region, also those of the places in it."""
    place = known_place(name)
    if place is None:
        return unique((name, without_accents(name)))
    state = _state(place)
    return unique((name, *(_names_of_state(state) if state else _usual_names(place))))


def country_of(city: str) -> str | None:
    """The usual name of the country that the largest city of this name lies in."""
    entries = gazetteer().by_name.get(city, ())
    code = next((entry.country for entry in entries if entry.kind == "city"), None)
    return gazetteer().by_code[code].name if code in gazetteer().by_code else None


def country_of_region(region: Place) -> str | None:
    """The usual name of the country that a state lies in."""
    state = _state(region)
    return gazetteer().by_code[state.country].name if state else None


def places_in(text: str) -> tuple[str, ...]:
    """The spellings of all places that a free text names as alternatives: "pune or mumbai", "mumbai / thane".

    Commas make a place more precise ("whitefield, bengaluru, india"): the first part counts, unless all parts are places of one
    kind, which are alternatives again.
    """
    names: list[str] = []
    for alternative in _WHAT_SEPARATES_ALTERNATIVES.split(text):
        parts = [part.strip() for part in alternative.split(",") if part.strip()]
        kinds = {place.kind if (place := known_place(part)) else None for part in parts}
        for part in parts if len(kinds) == 1 and kinds != {None} else parts[:1]:
            names += spellings(part)
    return unique(names)


def alternatives_in(text: str) -> list[str]:
    """The alternatives of a free text, each by its most precise part."""
    named = (alternative.partition(",")[0].strip() for alternative in _WHAT_SEPARATES_ALTERNATIVES.split(text))
    return [name for name in named if name]


def each_spelling(names: Iterable[str]) -> tuple[str, ...]:
    """The names, places among them in all their spellings."""
    return unique(each for name in names for each in (spellings(name) if known_place(name) else (name,)))


def _usual_names(place: Place) -> Iterator[str]:
    """The names of a place that the data may have, and not those in all languages: of those some are other places' names."""
    for name in place.names:
        entries = gazetteer().by_name.get(" ".join(keys(name)), ())
        if place.kind != "city" or any(entry.is_usual and entry.name == place.name for entry in entries):
            yield name


def _state(place: Place) -> Entry | None:
    """The state of a federation that a region is."""
    entries = gazetteer().by_name.get(place.name, ()) if place.kind == "region" else ()
    return next((entry for entry in entries if entry.state), None)


def _names_of_state(state: Entry) -> tuple[str, ...]:
    """A state's names, and its abbreviation and larger cities, these with what makes clear that it is those of this state: a city
    of the same name may lie anywhere.
    """
    abbreviation = state.state.partition("-")[2].lower()
    country = gazetteer().by_code[state.country]
    cities = [city.name for city in gazetteer().cities.get(state.state, ())][:CITIES_OF_STATE_MAX]
    sure = [f"{abbreviation} {name}" for name in country.names]
    sure += [f"{city} {name}" for city in cities for name in (abbreviation, *country.names[:4])]
    return (*state.names, *sure)
