"""Words that look like a name which the data does not hold: by capitals that say something, or by where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.language.tokens import Token, says_something_by_case
from quarry.spans.cues import cues
from quarry.spans.date_points import WEEKDAYS
from quarry.spans.lexicon import Found, Lexicon

NAME_WORDS_MAX = 5

_SUBJECT_AUXILIARIES = frozenset("did does do has have had was is are were".split())
_CALLED = frozenset("called named titled entitled".split())


def find_names(tokens: Sequence[Token], is_free: Sequence[bool], lexicon: Lexicon) -> list[Found[None]]:
    """Runs of words that nothing else is said to be (`is_free`), and that are written like a name or stand where one would:
    behind "called", behind a word that leads to names ("by"), or as the subject ("how many … has X run").
    """
    speaks_by_case = says_something_by_case(tokens)
    found: list[Found[None]] = []
    place = 0
    while place < len(tokens):
        last = _end(tokens, place, is_free)
        if last == place:
            place += 1
            continue
        if speaks_by_case and tokens[place].is_capital:
            capitals = place
            while capitals < last and tokens[capitals].is_capital:
                capitals += 1
            is_weekday = capitals == place + 1 and tokens[place].key.removesuffix("s") in WEEKDAYS
            if (place > 0 or capitals > place + 1) and not is_weekday:
                found.append(Found(place, capitals, None))
            place = capitals
        elif _stands_as_name(tokens, place, last, lexicon):
            is_subject = tokens[place - 1].key in _SUBJECT_AUXILIARIES
            found.append(Found(place, place + 1 if is_subject else last, None))
            place = last
        else:
            place += 1
    return found


def _end(tokens: Sequence[Token], first: int, is_free: Sequence[bool]) -> int:
    """Where a run of free words from `first` ends."""
    last = first
    while last < min(len(tokens), first + NAME_WORDS_MAX) and is_free[last]:
        if last > first and tokens[last].ends_clause:
            break
        last += 1
    return last


def _stands_as_name(tokens: Sequence[Token], first: int, last: int, lexicon: Lexicon) -> bool:
    """Whether a run of words in small letters is where a name would be."""
    if first == 0:
        return False
    before = tokens[first - 1].key
    if before in _CALLED:
        return True
    if before == "by" and lexicon.leads.get("by"):
        return last == len(tokens) or tokens[last].ends_clause
    if before not in _SUBJECT_AUXILIARIES or first < 2:
        return False
    # the verb may itself be a word that is free: "has kiva filed"
    is_before_verb = last < len(tokens) and last - first == 1 and _is_verb(tokens[last].key)
    return is_before_verb or (last - first == 2 and _is_verb(tokens[first + 1].key))


def _is_verb(word: str) -> bool:
    """Whether a word looks like a verb behind its subject: an everyday one, or a participle."""
    found = cues().longest_at((word,), 0)
    return word.endswith("ed") or (found is not None and found.meaning == "light")
