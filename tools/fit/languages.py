"""Fits the language of a question: `python -m tools.fit.languages`.

Reads the questions of tests/pairs that have a language. The databases that the reader is not fitted to are held out here too, and
a fifth of `spoken.jsonl` by checksum.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from quarry.language.recognition import (
    CODES,
    SURE,
    TARGETS,
    WEIGHTS_FILE,
    Weights,
    chances_of,
    evidence_of,
    packed_weights,
)
from tools.fit.log_linear import Example, fitted, is_held_out
from tools.fit.pairs import OWN, Pair, part_of

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "tests/pairs"
SPOKEN = "spoken"
WEIGHTS = ROOT / "layers/quarry/quarry/language/weights"
ROUNDS = 14

Spoken = tuple[str, str, bool]
"""A question, its language, and whether it is held out."""


def read_questions() -> Iterator[Spoken]:
    """The questions that have a language."""
    for path in sorted(PAIRS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            each = json.loads(line)
            if language := each.get("language"):
                pair = Pair(f"{OWN}{path.stem}", each["question"], None, kind="own")
                is_out = is_held_out(pair.question) if path.stem == SPOKEN else part_of(pair) == "held out"
                yield pair.question, CODES.get(language, "other"), is_out


def report(questions: Sequence[Spoken], weights: Weights, *, shown: bool) -> None:
    """Prints by language how many questions are surely recognised, and how many are taken for another language."""
    for language in TARGETS:
        own = [question for question, each, _ in questions if each == language]
        right, wrong = 0, list[tuple[str, str]]()
        for question in own:
            chances = chances_of([*evidence_of(question)], TARGETS, weights)
            best = max(chances, key=lambda each: chances[each])
            if chances[best] >= SURE and best != language:
                wrong.append((question, best))
            right += chances[best] >= SURE and best == language
        print(
            f"  {language}: {len(own)}, sure {right / max(1, len(own)):.3f}, wrong {len(wrong) / max(1, len(own)):.4f}"
        )
        for question, best in wrong if shown else ():
            print(f"    {best}: {question}")


def main() -> None:
    """Fits, prints how well questions are recognised, and writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="also list the questions taken for another language")
    shown = parser.parse_args().show
    questions = [*read_questions()]
    examples: list[Example[str]] = [
        ([*evidence_of(question)], TARGETS, TARGETS.index(language))
        for question, language, is_out in questions
        if not is_out
    ]
    weights = fitted(examples, lambda language: (language,), ROUNDS)
    for name, is_out in (("fitted", False), ("held out", True)):
        print(f"{name}:")
        report([each for each in questions if each[2] is is_out], weights, shown=shown)
    WEIGHTS.mkdir(exist_ok=True)
    size = (WEIGHTS / WEIGHTS_FILE).write_bytes(packed_weights(weights))
    print(f"{sum(map(len, weights.values())):,} weights, {size:,} bytes")


if __name__ == "__main__":
    main()
