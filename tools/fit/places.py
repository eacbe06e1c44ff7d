"""Fits the sense in which a text means the names of places: `python -m tools.fit.places`.

Reads tests/pairs/places.jsonl, where names are marked with their sense, as in `[reading|latent] apps from [Berlin|place]`. A
name without a mark is not a place. A fifth of the texts, by checksum, is held out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from quarry.language.recognition import Weights, packed_weights
from quarry.language.word_forms import says_something_by_case, tokenise
from quarry.spans.places import SENSES, WEIGHTS_FILE, NamedPlace, Sense, candidates, evidence_of, senses_of
from tools.fit.log_linear import Example, fitted, is_held_out, marked_texts, unmarked

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "tests/pairs/places.jsonl"
WEIGHTS = ROOT / "layers/quarry/quarry/spans/weights"
ROUNDS = 10

Marked = tuple[str, list[tuple[NamedPlace, Sense]]]
"""A text, and the senses of the names in it."""


def sensed(marked: str) -> Marked:
    """A text without marks, with the senses of its names."""
    text, marks = unmarked(marked)
    senses = {start: next(sense for sense in SENSES if sense == said) for start, _, [said] in marks}
    tokens = tokenise(text)
    read = [(each, senses.pop(tokens[each.first].start, "none")) for each in candidates(text, tokens)]
    assert not senses, marked
    return text, read


def read_pairs(path: Path = PAIRS) -> list[Marked]:
    """The texts of a file."""
    return list(map(sensed, marked_texts(path)))


def _examples(pairs: Sequence[Marked]) -> Iterator[Example[Sense]]:
    for text, read in pairs:
        tokens = tokenise(text)
        by_case = says_something_by_case(tokens)
        before: Sense = "none"
        for found, sense in read:
            yield evidence_of(tokens, found, before, by_case=by_case), SENSES, SENSES.index(sense)
            before = sense


def wrong_in(pairs: Sequence[Marked], weights: Weights) -> Iterator[tuple[str, list[str]]]:
    """The texts with names that are read wrong, with these names."""
    for text, read in pairs:
        tokens = tokenise(text)
        found = [sense for _, sense in senses_of(text, tokens, weights)]
        wrong = [
            f"{tokens[each.first].text}: {said}, not {sense}"
            for said, (each, sense) in zip(found, read, strict=True)
            if said != sense
        ]
        if wrong:
            yield text, wrong


def main() -> None:
    """Fits, prints the share of held-out texts that are read right, and writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="also list the texts that are read wrong")
    shown = parser.parse_args().show
    pairs = read_pairs()
    held_out = [pair for pair in pairs if is_held_out(pair[0])]
    others = [pair for pair in pairs if not is_held_out(pair[0])]
    weights = fitted(list(_examples(others)), lambda sense: (sense,), ROUNDS)
    for name, group in (("fitted", others), ("held out", held_out)):
        wrong = list(wrong_in(group, weights))
        print(f"{name}: {len(group)} texts, {1 - len(wrong) / len(group):.3f} read right")
        for text, lines in wrong if shown else ():
            print(f"  {text}\n    " + "\n    ".join(lines))
    WEIGHTS.mkdir(exist_ok=True)
    size = (WEIGHTS / WEIGHTS_FILE).write_bytes(packed_weights(weights))
    print(f"{sum(map(len, weights.values())):,} weights, {size:,} bytes")


if __name__ == "__main__":
    main()
