"""Cities, countries and regions: their spellings, and how a name of one is recognised."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from quarry.people.parsing.gazetteer import COUNTRIES, REGIONS
from quarry.people.parsing.phrases import PhraseBook
from quarry.people.parsing.tokens import keys, unique, without_accents

PlaceKind = Literal["city", "country", "region"]

AMBIGUOUS = frozenset(
    """
    america austin bath bern florence galway george gulf jordan kano kl kota lima male malaga naples perth portland rio rome sea
    salem santos sf sofia surat turkey valencia wales washington waterloo wellington
    """.split()
)
"""Names that are also other words or people's names: places only behind "in" or the like."""

_WHAT_SEPARATES_ALTERNATIVES = re.compile(r"[/|;]|\bor\b|\band\b")


class Place(NamedTuple):
    """A place by its usual name, lower case."""

    kind: PlaceKind
    name: str


class _Gazetteer(NamedTuple):
    spellings: dict[Place, tuple[str, ...]]
    by_words: dict[tuple[str, ...], Place]
    countries: dict[str, str]
    regions: dict[str, tuple[str, ...]]


@cache
def _gazetteer() -> _Gazetteer:
    spellings: dict[Place, tuple[str, ...]] = {}
    countries: dict[str, str] = {}
    regions: dict[str, tuple[str, ...]] = {}
    for country, cities in _lines(COUNTRIES):
        spellings[Place("country", country[0])] = country
        for city in cities:
            spellings[Place("city", city[0])] = city
            countries[city[0]] = country[0]
    for region, members in _lines(REGIONS):
        spellings[Place("region", region[0])] = region
        regions[region[0]] = tuple(member[0] for member in members)
    by_words: dict[tuple[str, ...], Place] = {}
    # a city first: "singapore" is looked for as one
    for kind in ("city", "country", "region"):
        for place, names in spellings.items():
            if place.kind == kind:
                for name in names:
                    by_words.setdefault(keys(name), place)
    return _Gazetteer(spellings, by_words, countries, regions)


def _lines(table: str) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """The lines of a table: the spellings of their heads, and those of each member."""
    lines = [line.partition(":") for line in table.strip().replace("\n ", " ").split("\n")]
    return [
        (tuple(head.split("=")), [tuple(member.strip().split("=")) for member in members.split(",")])
        for head, _, members in lines
    ]


def known_place(name: str) -> Place | None:
    """The place that `name` is a spelling of, if it is in the gazetteer."""
    return _gazetteer().by_words.get(keys(name))


def usual_name(name: str, kind: PlaceKind) -> str:
    """The usual name of a city or country, lower case; `name` itself where the gazetteer has none of that kind."""
    place = known_place(name)
    if place is not None and place.kind != kind:
        # "singapore" is a city before it is a country
        place = next((each for each in _gazetteer().spellings if each.kind == kind and each.name == place.name), None)
    return place.name if place else name


@cache
def gazetteer_book() -> PhraseBook:
    """Every place; a name stands for "kind:usual name"."""
    return PhraseBook((" ".join(words), f"{place.kind}:{place.name}") for words, place in _gazetteer().by_words.items())


def country_of(city: str) -> str | None:
    """The country in which the gazetteer has the city of this usual name."""
    return _gazetteer().countries.get(city)


def spellings(name: str) -> tuple[str, ...]:
    """All lower-case spellings of a place, `name` first, each with and without accents; for a region, also those of the places
    in it.
    """
    names = [name]
    place = known_place(name)
    if place is not None:
        gazetteer = _gazetteer()
        names += gazetteer.spellings[place]
        for member in gazetteer.regions.get(place.name, ()) if place.kind == "region" else ():
            names += spellings(member)
    return unique(each for name in names for each in (name, without_accents(name)))


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
