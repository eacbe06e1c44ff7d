"""How the words of a query are meant: as a plain wish, insisted on, preferred, ruled out, or not about the people at all."""

from __future__ import annotations

from functools import cache
from typing import Literal

from quarry.people.parsing.phrases import PhraseBook, phrase_table
from quarry.people.parsing.reading import BOUNDARIES, Reading
from quarry.people.parsing.terms import FILLERS

Mood = Literal["plain", "required", "preferred", "excluded", "unrelated"]

EXCLUDED_WORDS_MAX = 3
"""Words that a "no" or "without" reaches, in one item of its list."""
EXCLUDED_ITEMS_MAX = 20
"""Items that one list of what is ruled out may have."""
REQUIRED_WORDS_MAX = 8

_CUES = """
excludes: not, not from, not based in, not located in, not living in,
 not at, not in, not with, not currently at, not currently working at, not currently in,
 not working at, not working for, not working with, not worked at, not worked for, not worked with, not worked in,
 never worked at, never worked for, never worked in, never worked with, not employed at, not employed by, no, no one from,
 no one at, no one with, nobody from, nobody at, nobody with, other than, but not, but not from, but not at, but not in,
 without, without any, apart from, barring, minus, not a, not an, not any, must not be, must not be from, should not be,
 should not be from, must not have, should not have, shouldn't be, not interested in, non, outside, outside of, nor,
 and not, and not from, nothing in
excludes all: excluding, exclude, excludes, except, except for, except from, except those from, except those at,
 except the ones from, except people from, excluding those from, excluding people from, but not those from, anyone but,
 anyone except, avoid, avoiding, do not want,
 don't want, dont want
requires: only, must, must be, must have, strictly, mandatory, required, exclusively, compulsory, essential, a must,
 is a must, need to be, needs to be, have to be, has to be, non negotiable
prefers: prefer, prefers, preferably, preferred, preferring, preference for, ideally, nice to have, good to have, bonus,
 a plus, is a plus, optional, optionally, would be great, would be nice, if possible
ours: hiring for, recruiting for, to join, join us at, we at, we are, on behalf of, our team at, i work at, i am at,
 we work at, interviewing for
alike: like, like at, similar to, such as, companies like, comparable to
"""
"""What sets the mood. Behind what excludes all, an "and" goes on with what is ruled out; "without PHP and with Go" does not."""

_NOT_EXCLUDING = frozenset(
    """
    only just necessarily sure required needed mandatory must important open looking available interested limited less more too
    need matter problem issue limit preference bar restriction restrictions prior notice constraint constraints minimum idea
    specific particular longer experience doubt later earlier
    """.split()
)
"""Words that make a "no" or "not" before them mean something else."""

_ENDS_EXCLUSION = frozenset(
    """
    but who whose whom that which with having in for near based located living since before after between during until from under
    upto open looking available at knows knowing only must preferably ideally while though as to
    """.split()
)
_BEHIND_BREAK = frozenset("is are was were would will a an the be".split())


def read_moods(reading: Reading) -> list[Mood]:
    """The mood of each word. The words that set it ("not from", "only", …) become "cue" spans."""
    moods: list[Mood] = ["plain"] * len(reading.tokens)
    cues = [_cues().longest_at(reading.tokens, place) for place in range(len(reading.tokens))]
    for place, cue in enumerate(cues):
        if cue and cue.value in _BESIDE_COMPANY and reading.kind_at(place + cue.length) == "company":
            first = place + cue.length
            _set(moods, first, _end_of_list(reading, first), _BESIDE_COMPANY[cue.value])
    for place, cue in enumerate(cues):
        if cue and cue.value in _ABOUT_CLAUSE:
            _set(moods, *_clause_around(reading, place, cue.length), _ABOUT_CLAUSE[cue.value])
            reading.add("cue", cue.value, place, place + cue.length)
    for place, cue in enumerate(cues):
        if _has_minus(reading, place):
            _set(moods, place, _end_of_span(reading, place), "excluded")
        elif cue and cue.value.startswith("excludes") and not _is_harmless(reading, place, cue.length):
            first = place + cue.length
            _set(moods, first, _end_of_exclusion(reading, first, cue.value == "excludes all"), "excluded")
            reading.add("cue", "excluded", place, first)
    return moods


_BESIDE_COMPANY: dict[str, Mood] = {"ours": "unrelated", "alike": "preferred"}
_ABOUT_CLAUSE: dict[str, Mood] = {"requires": "required", "prefers": "preferred"}


@cache
def _cues() -> PhraseBook:
    return phrase_table(_CUES)


def _set(moods: list[Mood], first: int, last: int, mood: Mood) -> None:
    for place in range(first, min(last, len(moods))):
        moods[place] = mood


def _is_harmless(reading: Reading, place: int, length: int) -> bool:
    """ "No experience needed", "not only", "no longer at", and a "no" in or before what was read as an amount or a time."""
    after = place + length
    if not reading.is_free(place, place + 1):
        return True
    if after >= len(reading.tokens) or reading.starts_clause(after):
        return True
    if reading.kind_at(after) in ("salary", "time", "relative", "open_to_work"):
        return True
    return length == 1 and reading.key(place) in ("no", "not", "non") and reading.key(after) in _NOT_EXCLUDING


def _end_of_exclusion(reading: Reading, place: int, takes_all: bool) -> int:
    """Where the list that is ruled out ends: at a word that begins something else, or at punctuation that no further item of the
    list follows.
    """
    end = _end_of_item(reading, place)
    for _ in range(EXCLUDED_ITEMS_MAX - 1):
        if end >= len(reading.tokens):
            break
        joined = reading.key(end) in ("or", "nor", "and")
        start = end + 1 if joined else end
        if not joined and not _list_goes_on(reading, place, end):
            break
        item_end = _end_of_item(reading, start)
        if item_end == start or (reading.key(end) == "and" and not takes_all and not _is_alike(reading, place, start)):
            break
        end = item_end
    return end


def _end_of_item(reading: Reading, start: int) -> int:
    """The end of one item: a span, or a few words up to a boundary."""
    end = start
    while end < len(reading.tokens) and end - start < EXCLUDED_WORDS_MAX:
        if end > start and (reading.starts_clause(end) or _begins_anew(reading, start, end)):
            break
        if reading.key(end) in _ENDS_EXCLUSION or (end > start and reading.key(end) in ("or", "nor", "and")):
            break
        end = _end_of_span(reading, end)
    return end


def _begins_anew(reading: Reading, start: int, place: int) -> bool:
    """Whether a name starts here that is no part of the item before it."""
    return reading.kind_at(place) in ("company", "place", "salary", "time", "relative", "open_to_work", "current") or (
        reading.kind_at(start) in ("company", "place")
    )


def _list_goes_on(reading: Reading, first: int, place: int) -> bool:
    """Whether behind a comma the list of what is ruled out goes on: a name beside a name, or items up to an "or"."""
    if reading.text[reading.tokens[place - 1].end] not in ",/":
        return False
    if reading.kind_at(first) == "company":
        return reading.kind_at(place) == "company"
    end = _end_of_item(reading, place)
    return end > place and reading.key(end) in ("or", "nor") and not reading.starts_clause(end)


def _is_alike(reading: Reading, first: int, place: int) -> bool:
    return reading.kind_at(first) == reading.kind_at(place)


def _end_of_list(reading: Reading, place: int) -> int:
    end = _end_of_span(reading, place)
    while reading.key(end) in ("or", "and") and reading.kind_at(end + 1) == reading.kind_at(place):
        end = _end_of_span(reading, end + 1)
    return end


def _end_of_span(reading: Reading, place: int) -> int:
    span = reading.span_at(place)
    return span.last if span else place + 1


def _has_minus(reading: Reading, place: int) -> bool:
    """ "-agency", as in a search box."""
    start = reading.tokens[place].start
    return start > 0 and reading.text[start - 1] == "-" and (start == 1 or reading.text[start - 2].isspace())


def _clause_around(reading: Reading, place: int, length: int) -> tuple[int, int]:
    """The words that "only" or "preferably" is about: those after it in its clause, or before it where it closes one."""
    after = place + length
    closes = reading.starts_clause(after) or (
        reading.key(after) in BOUNDARIES
        and reading.key(after) not in _BEHIND_BREAK
        and not reading.starts_clause(place)
    )
    if not closes:
        end = after
        while end < len(reading.tokens) and end - after < REQUIRED_WORDS_MAX and not reading.starts_clause(end):
            if reading.key(end) in ("but", "who"):
                break
            end += 1
        return after, end
    first = place
    while first > 0 and not reading.starts_clause(first) and place - first < EXCLUDED_WORDS_MAX + 1:
        before = reading.key(first - 1)
        if before in BOUNDARIES and before not in _BEHIND_BREAK | {"of"}:
            break
        first -= 1
    return first, place


def is_small_talk(reading: Reading, place: int) -> bool:
    """Whether a word by itself says nothing about whom to find."""
    key = reading.key(place)
    return key in FILLERS or key in ("and", "@") or (key.isdigit() and len(key) < 4) or len(key) == 1
