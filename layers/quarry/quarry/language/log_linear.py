"""Log-linear models: weights of named evidence, how a package holds them, and the probabilities of choices by them. Pure."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TypeVar

Weights = Mapping[str, Mapping[str, float]]
"""For each piece of named evidence what it counts for its targets."""
Target = TypeVar("Target", bound=str)


def stored_weights(package: str, file: str) -> Weights:
    """The weights in a package's folder `weights`: JSON compressed by zlib, since most of it is words that repeat."""
    held: Weights = json.loads(zlib.decompress((files(package) / "weights" / file).read_bytes()))
    return held


def packed_weights(weights: Weights) -> bytes:
    """Weights as `stored_weights` reads them."""
    return zlib.compress(json.dumps(weights, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(), 9)


def softmax(scores: Sequence[float]) -> list[float]:
    """Scores as probabilities."""
    if not scores:
        return []
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def chances_of(evidence: Sequence[str], targets: Sequence[Target], weights: Weights) -> dict[Target, float]:
    """How likely each target is by the evidence."""
    held = [weights[each] for each in evidence if each in weights]
    chances = softmax([sum(each.get(target, 0.0) for each in held) for target in targets])
    return dict(zip(targets, chances, strict=True))
