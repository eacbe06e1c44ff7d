"""How likely a question denies what some of its words say: "not in Lisbon", "any day but Monday", "sans gravier".

A log-linear model reads the values, times and names of a question from left to right. Whether the one before is denied is
evidence for the next, so that a "not" reaches as far as in the training data (tools/fit/denials). Pure.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import pairwise

from quarry.language.recognition import Weights, chances_of, stored_weights
from quarry.language.word_forms import Token

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
def learned() -> Weights:
    """The packaged weights."""
    return stored_weights("quarry.reader", WEIGHTS_FILE)


def chances_denied(tokens: Sequence[Token], runs: Sequence[Run], weights: Weights | None = None) -> dict[Run, float]:
    """The probability that each run of words is denied. Runs may overlap."""
    found: dict[Run, float] = {}
    held = learned() if weights is None else weights
    cues = [place for place, each in enumerate(tokens) if held[TELLING].get(each.key, 0.0) >= CUE_MIN]
    for run in sorted(set(runs)):
        if all(run[0] <= place < run[1] for place in cues):
            found[run] = 0.0
            continue
        before = max((each for each in found if each[1] <= run[0]), key=lambda each: (each[1], -each[0]), default=None)
        is_denied = before is not None and found[before] >= 1 / 2
        found[run] = chances_of(evidence_of(tokens, run, before, held[TELLING], is_denied=is_denied), CHOICES, held)[
            "denied"
        ]
    return found


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
