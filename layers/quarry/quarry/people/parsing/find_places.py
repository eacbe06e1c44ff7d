"""Places in a query."""

from __future__ import annotations

from quarry.people.parsing.places import AMBIGUOUS
from quarry.people.parsing.reading import BOUNDARIES, Reading
from quarry.people.parsing.terms import FILLERS

PLACE_WORDS_MAX = 3

_LEADS_IN = frozenset("in from near around at within outside".split())
_SETTLES = frozenset("based located living lives live residing resides settled".split())
_MOVES = frozenset("relocate relocating relocation move moving shift shifting transfer travel travelling".split())
_COUNTRY_BY_CAPITALS = {"US": "united states", "U.S": "united states", "U.S.A": "united states", "EU": "europe"}
_NO_PLACE = frozenset("remote remotely house person field charge depth general particular".split())


def find_places(reading: Reading) -> None:
    """Known places anywhere, as "kind:usual name"; misspelt and unknown ones behind "in", "based in" and the like."""
    for place in list(reading.free()):
        found = reading.names.place_at(reading.tokens, place)
        if found and not _means_something_else(reading, place, found.length):
            _add(reading, found.value, place, place + found.length)
        elif (country := _COUNTRY_BY_CAPITALS.get(reading.tokens[place].text)) and reading.has_case:
            _add(reading, f"{'region' if country == 'europe' else 'country'}:{country}", place, place + 1)
    for place in list(reading.free()):
        if reading.key(place - 1) in _LEADS_IN and not reading.starts_clause(place):
            _find_unlisted(reading, place)


def _means_something_else(reading: Reading, place: int, length: int) -> bool:
    if not reading.is_free(place, place + length):
        return True
    if length > 1 or reading.key(place) not in AMBIGUOUS:
        return False
    looks_like_one = reading.is_name_like(place) if reading.has_case else _ends_phrase(reading, place + 1)
    return reading.key(place - 1) not in _LEADS_IN or not looks_like_one


def _find_unlisted(reading: Reading, place: int) -> None:
    word = reading.key(place)
    if word in BOUNDARIES or word in FILLERS or word in _NO_PLACE or word[0].isdigit():
        return
    for length in (2, 1):
        words = [token.key for token in reading.tokens[place : place + length]]
        if len(words) == length and _ends_phrase(reading, place + length) and (near := reading.names.place_near(words)):
            _add(reading, near, place, place + length)
            return
    settled = reading.key(place - 2) in _SETTLES or reading.key(place - 1) == "near"
    if settled and not reading.names.skill_at(reading.tokens, place):
        end = place + 1
        while end - place < PLACE_WORDS_MAX and not _ends_phrase(reading, end) and reading.is_name_like(end):
            end += 1
        if reading.is_name_like(place) or not reading.has_case:
            name = " ".join(token.text for token in reading.tokens[place:end]).lower()
            _add(reading, f"text:{name}", place, end)


def _ends_phrase(reading: Reading, place: int) -> bool:
    """Whether no noun follows that the word before might belong to: "in Indor, …", not "in indoor farming"."""
    return reading.starts_clause(place) or reading.key(place) in BOUNDARIES or not reading.is_free(place, place + 1)


def _add(reading: Reading, value: str, first: int, last: int) -> None:
    """A place that people are to move to is not where their experience is: it stays a word."""
    if any(reading.key(place) in _MOVES for place in range(first - 3, first)):
        reading.add(
            "word", reading.text[reading.tokens[first].start : reading.tokens[last - 1].end].lower(), first, last
        )
    else:
        reading.add("place", value, first, last)
