"""Log-linear models: weights of named evidence, their storage in a package, and the resulting probabilities of choices. Pure."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

Weights = Mapping[str, Mapping[str, float]]
"""The weight of each piece of named evidence for each of its targets."""
Target = TypeVar("Target", bound=str)


def stored_weights(package: str, file: str) -> Weights:
    """Reads weights from a package's folder `weights`: JSON compressed with zlib, since most of it is repeated words."""
    from importlib.resources import files

    held: Weights = json.loads(zlib.decompress((files(package) / "weights" / file).read_bytes()))
    return held


def packed_weights(weights: Weights) -> bytes:
    """Weights in the format that `stored_weights` reads."""
    return zlib.compress(json.dumps(weights, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(), 9)


def softmax(scores: Sequence[float]) -> list[float]:
    """Turns scores into probabilities."""
    if not scores:
        return []
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def chances_of(evidence: Sequence[str], targets: Sequence[Target], weights: Weights) -> dict[Target, float]:
    """The probability of each target, given the evidence."""
    held = [weights[each] for each in evidence if each in weights]
    chances = softmax([sum(each.get(target, 0.0) for each in held) for target in targets])
    return dict(zip(targets, chances, strict=True))
