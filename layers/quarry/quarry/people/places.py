"""Places that constraints name, by all the names that the data may have for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from quarry.language.tokens import keys, unique, without_accents
from quarry.spans.mention import Place, PlaceKind
from quarry.spans.places import Entry, gazetteer, places_called

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
