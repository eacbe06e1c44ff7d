"""Fits which words of a question name a company, and what is asked about it: `python -m tools.fit.company_names`.

Reads tests/pairs/company_names.jsonl. The names in each question are marked with what is asked about them, as in `alternatives
to [Acme|like]`. Any other run of words is not a name. A fifth of the questions, by checksum, is held out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from quarry.companies.reading import NAME_WEIGHTS_FILE, RELATIONS, Relation, features_of, runs_of
from quarry.language.recognition import chances_of, packed_weights
from quarry.language.word_forms import tokenise
from tools.fit.log_linear import Example, fitted, is_held_out, marked_texts, unmarked

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "tests/pairs/company_names.jsonl"
WEIGHTS = ROOT / "layers/quarry/quarry/companies/weights"
ROUNDS = 8

Marked = tuple[str, dict[tuple[int, int], Relation]]
"""A question, and what is asked about its names, by their start and end."""


def named(marked: str) -> Marked:
    """A question without marks, with its names."""
    text, marks = unmarked(marked)
    return text, {(start, end): next(each for each in RELATIONS if each == said) for start, end, [said] in marks}


def read_pairs(path: Path = PAIRS) -> list[Marked]:
    """The questions of a file."""
    return list(map(named, marked_texts(path)))


def _runs(pair: Marked) -> Iterator[tuple[list[str], Relation]]:
    """Each run of words in a question as evidence, and what is asked about it."""
    text, names = pair
    tokens = tokenise(text)
    placed = {
        (
            min(place for place, each in enumerate(tokens) if each.end > start),
            max(place for place, each in enumerate(tokens) if each.start < end) + 1,
        ): relation
        for (start, end), relation in names.items()
    }
    for first, last in runs_of(tokens):
        yield features_of(text, tokens, first, last), placed.get((first, last), "none")


def main() -> None:
    """Fits, prints the share of held-out questions that are read right, and writes the weights."""
    pairs = read_pairs()
    groups = {
        "fitted": [each for each in pairs if not is_held_out(each[0])],
        "held out": [each for each in pairs if is_held_out(each[0])],
    }
    examples: Sequence[Example[Relation]] = [
        (evidence, RELATIONS, RELATIONS.index(relation))
        for pair in groups["fitted"]
        for evidence, relation in _runs(pair)
    ]
    weights = fitted(examples, lambda relation: (relation,), ROUNDS)
    for name, group in groups.items():
        right = sum(
            all(chances_of(said, RELATIONS, weights)[relation] > 1 / 2 for said, relation in _runs(pair))
            for pair in group
        )
        print(f"{name}: {len(group)} questions, {right / len(group):.3f} read right")
    size = (WEIGHTS / NAME_WEIGHTS_FILE).write_bytes(packed_weights(weights))
    print(f"{sum(map(len, weights.values())):,} weights, {size:,} bytes")


if __name__ == "__main__":
    main()
