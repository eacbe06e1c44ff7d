"""Fits how the words around a time bound it: `python -m tools.fit.bounds`.

Reads tests/pairs/bounds.jsonl, where times are marked as `[2020|since]`. A fifth of the questions, by checksum, is held out; with
`--forms`, every fifth group of questions that say the same words next to the time is.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

from quarry.language.recognition import Weights, packed_weights
from quarry.language.word_forms import STOP_WORDS, tokenise
from quarry.reader.surroundings import (
    AFTER,
    BEFORE,
    BOUNDS,
    BOUNDS_FILE,
    CUE_MIN,
    SURE,
    TELLING,
    WEIGHTS_FILE,
    Run,
    bounded,
    evidence_of_bound,
    learned,
)
from quarry.spans.dates import find_dates
from quarry.spans.mention import DateRange
from tools.fit.denials import OFTEN, PAIRS, TODAY, WEIGHTS
from tools.fit.log_linear import HELD_OUT_EVERY, Example, fitted, is_held_out, marked_texts, unmarked

ROUNDS = 12
ODDS_MIN = 0.3
"""By which logarithm a word must raise the odds that a time is bounded, to tell it."""
PLAIN_MAX = -2.0
"""Odds up to which a word that is no stop word tells that a time is not bounded. Nouns and verbs beside a time are above."""
Marked = tuple[str, dict[Run, int]]
"""A question, and the number of the choice for each of its times."""


def pairs() -> Iterator[Marked]:
    """The marked questions. Times that the English grammar bounds already are left out."""
    for marked in marked_texts(PAIRS / "bounds.jsonl"):
        text, marks = unmarked(marked)
        tokens, runs = tokenise(text), dict[Run, int]()
        for each in find_dates(text, tokens, TODAY):
            days = each.value
            said = [names[-1] for start, end, names in marks if each.start < end and start < each.end]
            inside = [place for place, token in enumerate(tokens) if each.start < token.end and token.start < each.end]
            if len(said) == 1 and isinstance(days, DateRange) and days.first and days.last and inside:
                runs[inside[0], inside[-1] + 1] = [*BOUNDS].index(said[0])  # type: ignore[arg-type]
        yield text, runs


def telling_words(marked: Sequence[Marked]) -> dict[str, float]:
    """The words that change the odds that a time is bounded, where they stand next to it, stop words, and words that deny
    ("nicht vor 2019").
    """
    seen = {False: Counter[str](), True: Counter[str]()}
    for text, runs in marked:
        keys = [each.key for each in tokenise(text)]
        for (first, last), choice in runs.items():
            near = {*keys[max(0, first - BEFORE) : first], *keys[last : last + AFTER]}
            seen[choice > 0].update(near)
    share = (seen[True].total() + 1) / (seen[False].total() + 1)
    odds = {
        word: math.log((seen[True][word] + 1) / (seen[False][word] + 1) / share) for word in (*seen[True], *seen[False])
    }
    denials = learned(WEIGHTS_FILE)[TELLING]
    often = {word for word in odds if seen[True][word] + seen[False][word] >= OFTEN and not word[0].isdigit()}
    return {
        word: round(odds[word], 2)
        for word in sorted(often)
        if word in STOP_WORDS or denials.get(word, 0.0) >= CUE_MIN or odds[word] >= ODDS_MIN or odds[word] <= PLAIN_MAX
    }


def weights_of(marked: Sequence[Marked]) -> Weights:
    """The weights fitted to these questions."""
    telling = telling_words(marked)
    examples: list[Example[str]] = [
        (evidence_of_bound(tokenise(text), run, telling), BOUNDS, choice)
        for text, runs in marked
        for run, choice in runs.items()
    ]
    return {**fitted(examples, lambda choice: (choice,), ROUNDS), TELLING: telling}


def right_of(marked: Sequence[Marked], weights: Weights) -> Counter[str]:
    """How many times are read, read right, taken for sure and wrong though sure."""
    found = Counter[str]()
    for text, runs in marked:
        for run, choice in runs.items():
            read = bounded(tokenise(text), run, weights)
            is_right, is_sure = read.bound == BOUNDS[choice], read.chance >= SURE
            found.update({"all": 1, "right": is_right, "sure": is_sure, "sure and wrong": is_sure and not is_right})
    return found


def main() -> None:
    """Fits, prints how many times of held-out questions are read right, and writes the weights."""
    every = [*pairs()]
    by_form = "--forms" in sys.argv

    def held(pair: Marked) -> bool:
        return zlib.crc32(_form(pair).encode()) % HELD_OUT_EVERY == 0 if by_form else is_held_out(pair[0])

    weights = weights_of([pair for pair in every if not held(pair)])
    print(dict(right_of([pair for pair in every if held(pair)], weights)))
    if not by_form:
        size = (WEIGHTS / BOUNDS_FILE).write_bytes(packed_weights(weights))
        print(f"{sum(map(len, weights.values())):,} weights, {size:,} bytes")


def _form(pair: Marked) -> str:
    text, runs = pair
    tokens = tokenise(text)
    return "|".join(
        " ".join(each.key for each in [*tokens[max(0, first - 1) : first], *tokens[last : last + 1]])
        for first, last in runs
    )


if __name__ == "__main__":
    main()
