"""What the words around others make of them. Log-linear models read them, in the languages that they were fitted to. Pure.

How likely a question denies what some of its words say ("not in Lisbon", "any day but Monday", "sans gravier"): from left to
right, since whether the one before is denied is evidence for the next. So a "not" reaches as far as in the training data
(tools/fit/denials). How the words next to a time bound it (tools/fit/bounds): "Kunden seit 2020", "orders predating 2019".
"""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple, get_args

from quarry.language.recognition import Weights, chances_of, stored_weights
from quarry.language.word_forms import Token
from quarry.spans.mention import DateRange

WEIGHTS_FILE = "denials.json.zz"
CHOICES = ("said", "denied")
WINDOW = 7
"""How many words before and after are evidence."""
BEHIND = 4
TELLING = "telling"
"""The name under which the weights hold the words that tell what is denied."""
OTHER = "*"
CUE_MIN = 0.5
"""A word whose presence changes the odds by this logarithm can deny something; without any, nothing is denied."""
SHAPES = (2, 3, 4, 5)
"""How many words before are evidence together: "weren't * by"."""

Run = tuple[int, int]
"""The first word, and the one after the last."""


@cache
def learned(file: str) -> Weights:
    """The packaged weights in a file."""
    return stored_weights("quarry.reader", file)


def chances_denied(tokens: Sequence[Token], runs: Sequence[Run], weights: Weights | None = None) -> dict[Run, float]:
    """The probability that each run of words is denied. Runs may overlap."""
    chances: dict[Run, float] = {}
    weights = learned(WEIGHTS_FILE) if weights is None else weights
    cues = [place for place, each in enumerate(tokens) if weights[TELLING].get(each.key, 0.0) >= CUE_MIN]
    for run in sorted(set(runs)):
        if all(run[0] <= place < run[1] for place in cues):
            chances[run] = 0.0
            continue
        earlier = (each for each in chances if each[1] <= run[0])
        before = max(earlier, key=lambda each: (each[1], -each[0]), default=None)
        is_denied = before is not None and chances[before] >= 1 / 2
        evidence = evidence_of(tokens, run, before, weights[TELLING], is_denied=is_denied)
        chances[run] = chances_of(evidence, CHOICES, weights)["denied"]
    return chances


def evidence_of(
    tokens: Sequence[Token], run: Run, before: Run | None, telling: Container[str], *, is_denied: bool
) -> list[str]:
    """The words around a run, how it begins ("since 2012"), and how it follows the run before it, which `is_denied`. Words that
    are not `telling` are alike.
    """
    first, last = run
    since = before[1] if before else 0
    between = [*_words(tokens, range(first - 1, since - 1, -1), 1, telling)][:WINDOW]
    earlier = [*_words(tokens, range((before[0] if before else 0) - 1, -1, -1), 1, telling)][:WINDOW]
    behind = [*_words(tokens, range(last, len(tokens)), 0, telling)][:BEHIND]
    joint = " ".join(between[:3]) if len(between) <= 3 else "far"
    state = ("denied" if is_denied else "said") if before else "start"
    own = next(_words(tokens, range(first, last - 1), 0, telling), "")
    return [
        "",
        f"b:{' '.join(between[:1])}",
        *(f"s{length}:{' '.join(between[:length])}" for length in SHAPES),
        *(f"in:{word}" for word in between),
        *(f"in:{one} {other}" for one, other in pairwise(between)),
        *(f"far:{word}" for word in earlier),
        f"a:{' '.join(behind[:1])}",
        *(f"after:{word}" for word in behind),
        f"p:{state}",
        f"p:{state}|{joint}",
        f"own:{own}",
        f"p:{state}|{joint}|{own}",
    ]


def _words(tokens: Sequence[Token], places: range, ahead: int, telling: Container[str]) -> Iterator[str]:
    """The words at some positions, with a mark where a clause ends, and one for any word that tells nothing."""
    for place in places:
        if place + ahead < len(tokens) and tokens[place + ahead].ends_clause:
            yield ","
        yield tokens[place].key if tokens[place].key in telling else OTHER


# ---- how times are bounded ----

BOUNDS_FILE = "bounds.json.zz"
Bound = Literal["in", "since", "after", "before", "until"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)
BEFORE, AFTER = 4, 3
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


def bounded(tokens: Sequence[Token], run: Run, weights: Weights | None = None) -> Bounded:
    """How the words around a run bound the time that it states."""
    weights = learned(BOUNDS_FILE) if weights is None else weights
    chances = chances_of(evidence_of_bound(tokens, run, weights[TELLING]), BOUNDS, weights)
    bound = max(chances, key=lambda each: chances[each])
    places = *_before(tokens, run), *_behind(tokens, run)
    cues = [place for place in places if weights[TELLING].get(tokens[place].key, 0.0) >= TELLING_MIN]
    reach = (run[0], run[1]) if bound == "in" else (min([run[0], *cues]), max([run[1], *(place + 1 for place in cues)]))
    return Bounded(bound, chances[bound], reach)


def is_bounding_word(word: str) -> bool:
    """Whether a word is known to bound a time next to it, or not to."""
    return word in learned(BOUNDS_FILE)[TELLING]


def is_closed(days: DateRange) -> bool:
    """Whether days have a first and a last one."""
    return days.first is not None and days.last is not None


def evidence_of_bound(tokens: Sequence[Token], run: Run, telling: Container[str]) -> list[str]:
    """The words next to a run, nearest first, as far as its clause reaches. Words that are not `telling` are alike."""
    before, behind = (
        [_word_class(tokens[place].key, telling) for place in places]
        for places in (_before(tokens, run), _behind(tokens, run))
    )
    return [
        "",
        *(f"b{length}:{' '.join(before[:length])}" for length in range(1, BEFORE + 1)),
        *(f"a{length}:{' '.join(behind[:length])}" for length in range(1, AFTER + 1)),
        *(f"b:{word}" for word in _next(before)),
        *(f"a:{word}" for word in _next(behind)),
        f"ba:{' '.join(before[:1])}|{' '.join(behind[:1])}",
    ]


def _next(words: Sequence[str]) -> Iterator[str]:
    """The words up to one that tells nothing."""
    return takewhile(lambda word: word not in (OTHER, NUMBER), words)


def _word_class(word: str, telling: Container[str]) -> str:
    return word if word in telling else NUMBER if word[0].isdigit() else OTHER


def _before(tokens: Sequence[Token], run: Run) -> Iterator[int]:
    for place in range(run[0] - 1, max(-1, run[0] - 1 - BEFORE), -1):
        if tokens[place + 1].ends_clause:
            return
        yield place


def _behind(tokens: Sequence[Token], run: Run) -> Iterator[int]:
    for place in range(run[1], min(len(tokens), run[1] + AFTER)):
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
