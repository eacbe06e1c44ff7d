"""Fits what the segments of a query for people are and ask: `python -m tools.fit.people`.

Reads tests/pairs/people.jsonl, where each question is marked. `[Acme|company|exclude]` are words, the kinds that they may be,
and what they ask. `/` separates several kinds; then the right kind precedes what is asked (`company.must`). `~` marks a part of
a name, `?` a name that the data does not contain, `*` a time that depends on today. Words without a mark are ignored.

A fifth of the pairs, by a checksum of the question, is held out: the weights are fitted to the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from quarry.language.recognition import Weights, packed_weights
from quarry.language.word_forms import tokenise
from quarry.people.reading import (
    WEIGHTS_FILE,
    Choice,
    Cut,
    Passed,
    Segment,
    choices_of,
    evidence_of,
    read_parts,
    targets_of,
)
from tools.fit.log_linear import Example, fitted, is_held_out, marked_texts, unmarked

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "tests/pairs/people.jsonl"
WEIGHTS = ROOT / "layers/quarry/quarry/people/weights"

Marked = tuple[Cut, list[Choice]]


def segmented(marked: str) -> Marked:
    """A question with its segments, and what each of them is."""
    text, marks = unmarked(marked)
    tokens = tokenise(text)
    segments: list[Segment] = []
    golds: list[Choice] = []
    place = 0
    while place < len(tokens):
        mark = next((each for each in marks if each[0] <= tokens[place].start < each[1]), None)
        last = place + 1
        while mark and last < len(tokens) and tokens[last].start < mark[1]:
            last += 1
        segment, gold = _marked(place, last, *(mark[2] if mark else ("word", "ignore")))
        segments.append(segment)
        golds.append(gold)
        place = last
    return Cut(text, tokens, segments), golds


def _marked(first: int, last: int, kinds: str, gold: str) -> tuple[Segment, Choice]:
    names = tuple(kinds.strip("~?*").split("/"))
    segment = Segment(first, last, names, is_part="~" in kinds, is_unknown="?" in kinds, is_relative="*" in kinds)
    kind, _, part = gold.rpartition(".")
    choice = (kind or names[0], part)
    assert choice in set(choices_of(segment)), (kinds, gold)
    return segment, choice


def read_pairs(path: Path = PAIRS) -> list[Marked]:
    """The pairs of a file."""
    return list(map(segmented, marked_texts(path)))


def _examples(pairs: Sequence[Marked]) -> Iterator[Example[Choice]]:
    """The evidence of each segment, its choices, and the right one, given that the segments before it were read right."""
    for cut, golds in pairs:
        passed = Passed()
        for segment, gold in zip(cut.segments, golds, strict=True):
            choices = list(choices_of(segment))
            yield evidence_of(cut, segment, passed), choices, choices.index(gold)
            passed = passed.after(segment, gold)


def fit(pairs: Sequence[Marked]) -> Weights:
    """The weights that make the right choices likely."""
    return fitted(list(_examples(pairs)), targets_of)


def wrong_in(pairs: Sequence[Marked], weights: Weights) -> Iterator[tuple[str, list[str]]]:
    """The questions that are read wrong, with the wrong segments."""
    for cut, golds in pairs:
        read = read_parts(cut, weights)
        lines = [
            f"{cut.phrase(segment)}: {'.'.join(choice)}, not {'.'.join(gold)}"
            for (segment, choice, _), gold in zip(read, golds, strict=True)
            if choice != gold
        ]
        if lines:
            yield cut.text, lines


def main() -> None:
    """Fits, prints how well the held-out questions are read, and writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="also list the questions that are read wrong")
    shown = parser.parse_args().show
    pairs = read_pairs()
    held = [each for each in pairs if is_held_out(each[0].text)]
    others = [each for each in pairs if not is_held_out(each[0].text)]
    weights = fit(others)
    for name, group in (("fitted", others), ("held out", held)):
        wrong = list(wrong_in(group, weights))
        print(f"{name}: {len(group)} questions, {1 - len(wrong) / len(group):.3f} read right in every segment")
        for text, lines in wrong if shown else ():
            print(f"  {text}\n    " + "\n    ".join(lines))
    size = (WEIGHTS / WEIGHTS_FILE).write_bytes(packed_weights(weights))
    print(f"{sum(map(len, weights.values())):,} weights, {size:,} bytes")


if __name__ == "__main__":
    main()
