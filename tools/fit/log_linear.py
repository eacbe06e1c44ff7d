"""Fits a log-linear model that chooses among named choices by named evidence. The product reads the weights."""

from __future__ import annotations

import json
import math
import random
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from quarry.language.recognition import softmax

ROUNDS = 14
RATE = 0.25
SHRINK = 2e-4
SEEN_MIN = 3
"""Evidence with fewer occurrences for a target is not fitted."""
WEIGHT_MIN = 0.04
HELD_OUT_EVERY = 5
ERROR_MIN = 1e-3
"""Choices with a smaller error are not learned from."""

Choice = TypeVar("Choice", bound=Hashable)
Example = tuple[list[str], Sequence[Choice], int]
"""The evidence, the choices, and the index of the right one."""
Targets = Callable[[Choice], Sequence[str]]
"""The targets that evidence for a choice counts for."""
Fitted = dict[str, dict[str, float]]


def unmarked(marked: str) -> tuple[str, list[tuple[int, int, list[str]]]]:
    """A text without its marks, and the marks: `to [Acme|like]` is the text `to Acme`, and its mark has the start and end of
    `Acme` and the values after the bars.
    """
    text, marks = "", list[tuple[int, int, list[str]]]()
    for part in marked.split("["):
        inside, closed, behind = part.partition("]")
        said, *names = inside.split("|") if closed else [inside]
        if closed:
            marks.append((len(text), len(text) + len(said), names))
        text += said + behind
    return text, marks


def marked_texts(path: Path) -> list[str]:
    """The texts of a file of pairs, with their marks."""
    return [json.loads(line)["marked"] for line in path.read_text(encoding="utf-8").splitlines()]


def is_held_out(question: str) -> bool:
    """Whether a question is excluded from fitting."""
    return zlib.crc32(question.lower().encode()) % HELD_OUT_EVERY == 0


def fitted(
    examples: Sequence[Example[Choice]], targets_of: Targets[Choice], rounds: int = ROUNDS
) -> Mapping[str, Mapping[str, float]]:
    """The weights that make the right choices likely, by stochastic gradient descent with AdaGrad steps."""
    weights = _unfitted(examples, targets_of)
    squares = {name: dict.fromkeys(held, 1e-3) for name, held in weights.items()}
    known = [([name for name in said if name in weights], choices, right) for said, choices, right in examples]
    order = random.Random(7)  # noqa: S311
    for _ in range(rounds):
        order.shuffle(known)
        for evidence, choices, right in known:
            targets = [targets_of(choice) for choice in choices]
            held = [weights[name] for name in evidence]
            chances = softmax([sum(each.get(target, 0.0) for target in those for each in held) for those in targets])
            for place, (chance, those) in enumerate(zip(chances, targets, strict=True)):
                error = (place == right) - chance
                if abs(error) > ERROR_MIN:
                    _step(evidence, those, error, weights, squares)
    return _rounded(weights)


def _unfitted(examples: Sequence[Example[Choice]], targets_of: Targets[Choice]) -> Fitted:
    seen = Counter(
        (name, target)
        for evidence, choices, right in examples
        for name in evidence
        for target in targets_of(choices[right])
    )
    weights: Fitted = {}
    for (name, target), count in seen.items():
        if count >= SEEN_MIN:
            weights.setdefault(name, {})[target] = 0.0
    return weights


def _step(evidence: Sequence[str], targets: Sequence[str], error: float, weights: Fitted, squares: Fitted) -> None:
    for name in evidence:
        held, steps = weights[name], squares[name]
        for target in targets:
            if target in held:
                gradient = error - SHRINK * held[target]
                steps[target] += gradient * gradient
                held[target] += RATE * gradient / math.sqrt(steps[target])


def _rounded(weights: Fitted) -> Fitted:
    kept = {
        name: {target: round(weight, 2) for target, weight in held.items() if abs(weight) >= WEIGHT_MIN}
        for name, held in weights.items()
    }
    return {name: held for name, held in kept.items() if held}
