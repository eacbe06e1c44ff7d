"""How the words around a time bound it: "Kunden seit 2020", "factures jusqu'en mars", "orders predating 2019".

A log-linear model chooses from the words next to the time, in any language that it was fitted to (tools/fit/bounds). Pure.
"""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import Literal, NamedTuple, get_args

from quarry.language.recognition import Weights, chances_of, stored_weights
from quarry.language.word_forms import Token
from quarry.reader.denials import OTHER, TELLING, Run
from quarry.spans.mention import DateRange

WEIGHTS_FILE = "bounds.json.zz"
Bound = Literal["in", "since", "after", "before", "until"]
CHOICES: tuple[Bound, ...] = get_args(Bound)
BEFORE, BEHIND = 4, 3
"""How many words before and after a time are evidence."""
SURE = 0.8
"""A probability below which it is open how a time is bounded."""
TELLING_MIN = 1.0
"""A word that changes the odds by this logarithm is part of what bounds a time."""
NUMBER = "#"
_ONE_DAY = datetime.timedelta(days=1)


class Bounded(NamedTuple):
    """How a time is bounded, with the probability of that, and the words that say it, the time included."""

    bound: Bound
    chance: float
    run: Run


@cache
def learned() -> Weights:
    """The packaged weights."""
    return stored_weights("quarry.reader", WEIGHTS_FILE)


def bounded(tokens: Sequence[Token], run: Run, weights: Weights | None = None) -> Bounded:
    """How the words around a run bound the time that it states."""
    held = learned() if weights is None else weights
    chances = chances_of(evidence_of(tokens, run, held[TELLING]), CHOICES, held)
    bound = max(chances, key=lambda each: chances[each])
    places = *_before(tokens, run), *_behind(tokens, run)
    said = [place for place in places if held[TELLING].get(tokens[place].key, 0.0) >= TELLING_MIN]
    reach = (run[0], run[1]) if bound == "in" else (min([run[0], *said]), max([run[1], *(place + 1 for place in said)]))
    return Bounded(bound, chances[bound], reach)


def says_how(word: str) -> bool:
    """Whether a word is known to bound a time next to it, or not to."""
    return word in learned()[TELLING]


def is_closed(days: DateRange) -> bool:
    """Whether days have a first and a last one."""
    return days.first is not None and days.last is not None


def evidence_of(tokens: Sequence[Token], run: Run, telling: Container[str]) -> list[str]:
    """The words next to a run, nearest first, as far as its clause reaches. Words that are not `telling` are alike."""
    before, behind = (
        [_said(tokens[place].key, telling) for place in places]
        for places in (_before(tokens, run), _behind(tokens, run))
    )
    return [
        "",
        *(f"b{length}:{' '.join(before[:length])}" for length in range(1, BEFORE + 1)),
        *(f"a{length}:{' '.join(behind[:length])}" for length in range(1, BEHIND + 1)),
        *(f"b:{word}" for word in _next(before)),
        *(f"a:{word}" for word in _next(behind)),
        f"ba:{' '.join(before[:1])}|{' '.join(behind[:1])}",
    ]


def _next(words: Sequence[str]) -> Iterator[str]:
    """The words up to one that tells nothing."""
    return takewhile(lambda word: word not in (OTHER, NUMBER), words)


def _said(word: str, telling: Container[str]) -> str:
    return word if word in telling else NUMBER if word[0].isdigit() else OTHER


def _before(tokens: Sequence[Token], run: Run) -> Iterator[int]:
    for place in range(run[0] - 1, max(-1, run[0] - 1 - BEFORE), -1):
        if tokens[place + 1].ends_clause:
            return
        yield place


def _behind(tokens: Sequence[Token], run: Run) -> Iterator[int]:
    for place in range(run[1], min(len(tokens), run[1] + BEHIND)):
        if tokens[place].ends_clause:
            return
        yield place


def days_of(days: DateRange, bound: Bound) -> DateRange:
    """The days that a bound leaves: none of the time itself where they are `after` or `before` it."""
    assert days.first
    assert days.last
    match bound:
        case "since":
            return days._replace(last=None)
        case "after":
            return days._replace(first=days.last + _ONE_DAY, last=None)
        case "before":
            return days._replace(first=None, last=days.first - _ONE_DAY)
        case "until":
            return days._replace(first=None)
        case _:
            return days
