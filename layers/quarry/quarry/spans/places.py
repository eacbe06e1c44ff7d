"""The places of the world, and those that a text names. A log-linear model decides whether a name is meant as a place. Its
weights were fitted to texts with marked places (tools/fit/places).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from quarry.language.recognition import Weights, chances_of, stored_weights
from quarry.language.word_forms import (
    STOP_WORDS,
    Token,
    commonness,
    demonyms,
    keys,
    says_something_by_case,
    unique,
    without_accents,
)
from quarry.spans.mention import Mention, Place, PlaceKind

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


class Gazetteer:
    """Countries, regions and states are made when it is loaded; of the cities, only an index by name: each is made when it is
    named. All names are normalised.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, tuple[Entry, ...]] = {}
        self.by_abbreviation: dict[str, Entry] = {}
        """States."""
        self.by_code: dict[str, Entry] = {}
        for entry, code in _areas():
            self.by_code[code] = entry
            for name in map(_key, entry.names):
                self._by_name[name] = (*self._by_name.get(name, ()), entry)
            if "-" in code:
                self.by_abbreviation.setdefault(code[3:].lower(), entry)
        self._cities = _lines("cities.tsv")
        self._first: dict[str, int] = {}
        """The place in the table of the largest city of this name. Of another name than its usual ones: the complement."""
        self._further: defaultdict[str, list[int]] = defaultdict(list)
        """The places of the smaller cities with this usual name."""
        self._index_cities()

    def entries(self, name: str) -> tuple[Entry, ...]:
        """The places of this name, likeliest first. Of its cities, only the largest."""
        entries = self._undemonymic(name)
        if (place := demonyms().get(name)) is not None:
            entries += tuple(entry._replace(is_demonym=True) for entry in self._undemonymic(_key(place))[:1])
        return tuple(sorted(entries, key=_rank)) if len(entries) > 1 else entries

    def homes(self, name: str) -> set[str]:
        """The codes of the countries and states ("IN", "US-CA") with a city of this usual name."""
        largest = self._first.get(name, -1)
        usual = [*([largest] if largest >= 0 else []), *self._further.get(name, ())]
        return {code for city in map(self._city, usual) for code in (city.country, city.state) if code}

    def cities(self, state: str) -> tuple[Entry, ...]:
        """The cities of a state by its code, largest first."""
        columns = "\t{}\t{}\t".format(*state.split("-"))
        return tuple(_read_city(line) for line in self._cities if columns in line)

    def _undemonymic(self, name: str) -> tuple[Entry, ...]:
        entries = self._by_name.get(name, ())
        number = self._first.get(name)
        return entries if number is None else (*entries, self._city(number))

    def _city(self, number: int) -> Entry:
        city = _read_city(self._cities[max(number, ~number)])
        return city if number >= 0 else city._replace(is_usual=False)

    def _index_cities(self) -> None:
        first, further = self._first, self._further
        for number, line in enumerate(self._cities):
            usual, _, _, _, others, keyed = line.split("\t")
            for name in (keyed or usual).split(","):
                if first.setdefault(name, number) != number:
                    further[name].append(number)
            if others:
                for name in others.split(","):
                    first.setdefault(name, ~number)


@cache
def gazetteer() -> Gazetteer:
    """The gazetteer, loaded on first use."""
    return Gazetteer()


def places_called(name: str) -> tuple[Place, ...]:
    """The places with this name, most important first: "Georgia" is a country and a state."""
    return tuple(place_of(entry) for entry in gazetteer().entries(_key(name)))


@cache
def place_of(entry: Entry) -> Place:
    """The place with all its spellings, with and without accents. For a region or state, also those of the places in it."""
    names = [*entry.names, *(name for member in entry.members for name in _names_of_member(member))]
    if entry.kind == "region" and entry.state:
        names += [name for city in gazetteer().cities(entry.state) for name in city.names[:1]]
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


def _key(name: str) -> str:
    return name.lower() if name.isascii() and name.replace(" ", "").isalnum() else " ".join(keys(name))


def _lines(file: str) -> list[str]:
    return [line for line in (_DATA / file).read_text().splitlines() if not line.startswith("#")]


def _rows(file: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in _lines(file))


def _areas() -> Iterator[tuple[Entry, str]]:
    """Countries, regions and states, each with its code; a region has only its name."""
    for code, names in _rows("countries.tsv"):
        spellings = tuple(names.split(","))
        yield Entry("country", spellings[0], spellings, code), code
    for kind, names, members in _rows("regions.tsv"):
        spellings = tuple(names.split(","))
        region: PlaceKind = "continent" if kind == "continent" else "region"
        yield Entry(region, spellings[0], spellings, members=tuple(members.split(","))), spellings[0]
    for code, names, _ in _rows("states.tsv"):
        spellings = tuple(names.split(","))
        yield Entry("region", spellings[0], spellings, code[:2], code), code


def _read_city(line: str) -> Entry:
    usual_names, country, state, thousands, others, _ = line.split("\t")
    usual = tuple(usual_names.split(","))
    names = (*usual, *others.split(",")) if others else usual
    return Entry("city", usual[0], names, country, state and f"{country}-{state}", int(thousands))


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
    entries = gazetteer().entries(city)
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
    parts = (alternative.partition(",")[0].strip() for alternative in _WHAT_SEPARATES_ALTERNATIVES.split(text))
    return [name for name in parts if name]


def each_spelling(names: Iterable[str]) -> tuple[str, ...]:
    """The names, with places in all their spellings."""
    return unique(each for name in names for each in (spellings(name) if known_place(name) else (name,)))


def _usual_names(place: Place) -> Iterator[str]:
    """The names of a place that the data may contain. Names in other languages are left out; some belong to other places."""
    for name in place.names:
        entries = gazetteer().entries(" ".join(keys(name)))
        if place.kind != "city" or any(entry.is_usual and entry.name == place.name for entry in entries):
            yield name


def _state(place: Place) -> Entry | None:
    """The federal state that a region is."""
    entries = gazetteer().entries(place.name) if place.kind == "region" else ()
    return next((entry for entry in entries if entry.state), None)


def _names_of_state(state: Entry) -> tuple[str, ...]:
    """A state's names and abbreviation, and its larger cities. Cities are qualified with the state, because a city of the same
    name may exist elsewhere.
    """
    abbreviation = state.state.partition("-")[2].lower()
    country = gazetteer().by_code[state.country]
    cities = [city.name for city in gazetteer().cities(state.state)][:CITIES_OF_STATE_MAX]
    sure = [f"{abbreviation} {name}" for name in country.names]
    sure += [f"{city} {name}" for city in cities for name in (abbreviation, *country.names[:4])]
    return (*state.names, *sure)


Sense = Literal["place", "latent", "language", "none"]
"""What a name in the gazetteer is meant as. latent: a place only if something else confirms it. language: "speaks Dutch"."""
SENSES: tuple[Sense, ...] = get_args(Sense)

NAME_WORDS_MAX = 6
GAP_CHARACTERS_MAX = 10
"""Most characters between the names of a list: ", and the "."""
LENGTH_MAX = 3
"""Longer names share one feature."""
WEIGHTS_FILE = "places.json.zz"

AREAS = frozenset("city town municipality village country region province county continent locality".split())
"""Names of columns that hold places."""


class NamedPlace(NamedTuple):
    """The words `first` to `last` (exclusive) are the name of a place. `lead` is the word before it or before its list, and
    `link` is what connects it with the previous name.
    """

    first: int
    last: int
    entry: Entry
    within: Entry | None = None
    lead: str = ""
    link: str = ""


@cache
def learned() -> Weights:
    """The weights in the package."""
    return stored_weights("quarry.spans", WEIGHTS_FILE)


def find_places(text: str, tokens: Sequence[Token]) -> list[Mention]:
    """The places that a text names, in order; the longest of overlapping names.

    A place is latent if its name may also be a word or a person's name, or if the place is little known, unless nearby words
    show that it is meant. A demonym names its place.
    """
    mentions: list[Mention] = []
    for name, sense in senses_of(text, tokens, learned()):
        if sense in ("place", "latent"):
            where = place_of(name.entry)
            if name.within:
                where = where._replace(within=name.within.name)
            start, end = tokens[name.first].start, _end(text, tokens[name.last - 1])
            mentions.append(Mention(where, start, end, is_latent=sense == "latent"))
    return mentions


def senses_of(text: str, tokens: Sequence[Token], weights: Weights) -> Iterator[tuple[NamedPlace, Sense]]:
    """The place names in a text, each with its likeliest sense."""
    by_case = says_something_by_case(tokens)
    before: Sense = "none"
    for name in candidates(text, tokens):
        chances = chances_of(evidence_of(tokens, name, before, by_case=by_case), SENSES, weights)
        before = max(SENSES, key=lambda sense: chances[sense])
        yield name, before


def candidates(text: str, tokens: Sequence[Token]) -> Iterator[NamedPlace]:
    """The place names in a text, meant as places or not, in order and without overlaps."""
    before: NamedPlace | None = None
    place = 0
    while place < len(tokens):
        name = _longest(tokens, place)
        if name is None:
            place += 1
            continue
        lead = _key_before(tokens, place)
        gap = text[tokens[before.last - 1].end : tokens[place].start] if before else ""
        if before and len(gap) <= GAP_CHARACTERS_MAX:
            name = name._replace(link=" ".join(gap.lower().split()) or "-", lead=before.lead)
        before = _with_home(text, tokens, name._replace(lead=name.lead or lead))
        yield before
        place = before.last


def evidence_of(tokens: Sequence[Token], place: NamedPlace, before: Sense, *, by_case: bool) -> list[str]:
    """The evidence for the sense of a name: what it names, its spelling, and the words around it. `before` is the sense of the
    previous name; `by_case`: capitals are significant in this text.
    """
    inside = tokens[place.first : place.last]
    name = " ".join(each.key for each in inside)
    kind = _kind(place.entry)
    what = f"{kind}{place.entry.thousands.bit_length()}{place.entry.is_usual:d}{'>' if place.within else ''}"
    case = "A" if inside[0].is_capital else "a"
    case = "U" if len(inside[0].text) > 1 and inside[0].text.isupper() else case
    case += f"{by_case:d}{'' if place.first else '^'}"
    common = "".join(commonness(each.key) for each in inside[:LENGTH_MAX])
    near, far = _key_before(tokens, place.first), _key_behind(tokens, place.last)
    beside = f"{_look(near, tokens[place.first - 1 : place.first])}|{_look(far, tokens[place.last : place.last + 1])}"
    link = f"{before} {place.link}" if place.link else ""
    form = f"{kind} {case}"
    second = _look(_key_before(tokens, place.first - 1), tokens[max(0, place.first - 2) : place.first - 1])
    return [
        "",
        *_each("what:", what, case, common),
        *_each(f"form:{form} ", common, what),
        *_each(f"within:{place.within is not None:d} ", "", kind, case),
        f"all:{what} {case} {common}",
        *_each(f"w:{name} ", "", case, f"b:{near}", f"a:{far}"),
        *_each(f"b:{near} ", "", kind, case, common, form, f"{form} {common}", f"{what} {case}", f"a:{_look(far)}"),
        *_each(f"a:{far} ", "", kind, case, common, form),
        *_each(f"lead:{place.lead} ", "", kind, form, link),
        *_each(f"list:{link} ", "", kind, case, common),
        *_each(f"beside:{beside} ", "", kind, case, form, f"{case} {common}"),
        *_each(f"far:{second} {near} ", "", kind, case, form),
        f"b2:{_key_before(tokens, place.first - 1)} {near}",
        f"a2:{far} {_key_behind(tokens, place.last + 1)}",
    ]


def _each(start: str, *ends: str) -> Iterator[str]:
    return (start + end for end in ends)


def _kind(entry: Entry) -> str:
    return "demonym" if entry.is_demonym else "state" if entry.state and entry.kind == "region" else entry.kind


def _look(key: str, tokens: Sequence[Token] = ()) -> str:
    """The appearance of a neighbour: punctuation as it is; for a word, how common it is and whether it is capitalised."""
    if not key[:1].isalnum():
        return key
    return commonness(key) + ("A" if tokens and tokens[0].is_capital else "")


def _key_before(tokens: Sequence[Token], place: int) -> str:
    """The word before a position in the text; a comma if a clause ends there, and empty at the start."""
    return "" if place <= 0 else "," if tokens[place].ends_clause else tokens[place - 1].key


def _key_behind(tokens: Sequence[Token], place: int) -> str:
    return "" if place >= len(tokens) else "," if tokens[place].ends_clause else tokens[place].key


def _longest(tokens: Sequence[Token], first: int) -> NamedPlace | None:
    """The place with the longest name that starts with the word at `first`."""
    best: NamedPlace | None = None
    name = ""
    entries_of = gazetteer().entries
    for last in range(first, min(first + NAME_WORDS_MAX, len(tokens))):
        if last > first and tokens[last].ends_clause:
            break
        name = f"{name} {tokens[last].key}" if name else tokens[last].key
        one = name.removesuffix("s") if len(name) > 4 else ""
        entries = entries_of(name) or tuple(entry for entry in entries_of(one) if entry.is_demonym)
        if entries:
            best = NamedPlace(first, last + 1, entries[0])
            if last + 1 < len(tokens) and tokens[last + 1].key in ("state", "province"):
                best = best._replace(
                    entry=next((each for each in entries if each.kind != "city" and each.state), entries[0])
                )
    return best


def _with_home(text: str, tokens: Sequence[Token], city: NamedPlace) -> NamedPlace:
    """A city with the state or country that follows it, once or twice: "Portland, OR, USA"."""
    if city.entry.kind != "city":
        return city
    name = " ".join(token.key for token in tokens[city.first : city.last])
    homes: Collection[str] = gazetteer().homes(name)
    for _ in range(2):
        last = city.last
        if last >= len(tokens):
            break
        gap = text[tokens[last - 1].end : tokens[last].start]
        home = _home(tokens, last, is_behind_comma=gap.strip() in (",", ".,"))
        if home is None or not (city.within or _is_home(home.entry, homes)):
            break
        city = city._replace(last=home.last, within=city.within or home.entry)
    return city


def _is_home(entry: Entry, homes: Collection[str]) -> bool:
    """Whether cities of this name are in a state or country. Outside the United States, only countries are known."""
    return (entry.state in homes) if entry.country == "US" and entry.state else entry.country in homes


def _home(tokens: Sequence[Token], first: int, *, is_behind_comma: bool) -> NamedPlace | None:
    """The country or state that starts at a word. An abbreviation in capitals needs no comma; in lower case, one that is also a
    word ("Cambridge, in 1950") does not count.
    """
    token = tokens[first]
    abbreviated = gazetteer().by_abbreviation.get(token.key)
    is_recognisable = token.text.isupper() or (is_behind_comma and token.key not in STOP_WORDS)
    if abbreviated and len(token.text) <= 3 and is_recognisable:
        return NamedPlace(first, first + 1, abbreviated)
    if not is_behind_comma:
        return None
    whole = _longest(tokens, first)
    if whole is None or whole.entry.is_demonym:
        return None
    name = " ".join(token.key for token in tokens[first : whole.last])
    entries = gazetteer().entries(name)
    entry = next((each for each in entries if each.kind == "country" or (each.state and each.kind == "region")), None)
    return whole._replace(entry=entry) if entry else None


def _end(text: str, token: Token) -> int:
    """The end of a word, including the last dot of "U.S."."""
    return token.end + ("." in token.text and text.startswith(".", token.end))
