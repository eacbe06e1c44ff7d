"""Features by the hash of their names, in bundles that candidates share, and the weights that score them. Pure."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from zlib import crc32

DIMENSIONS = 1 << 20
"""Weights that there are. Features whose names have the same hash share one."""


@lru_cache(maxsize=1 << 17)
def index_of(name: str) -> int:
    """The place of a feature's weight."""
    return crc32(name.encode()) & (DIMENSIONS - 1)


class Bundle:
    """Features that always come together, with their values, and what they add to a score."""

    __slots__ = ("features", "score")

    def __init__(self, features: Sequence[tuple[int, float]], weights: Sequence[float]) -> None:
        self.features = features
        self.score = sum(weights[place] * value for place, value in features)


class Scorer:
    """Makes bundles for one question, each once."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = weights
        self._made: dict[object, Bundle] = {}

    def bundle(self, features: Iterable[tuple[str, float]]) -> Bundle:
        """A bundle of features by their names."""
        return Bundle([(index_of(name), value) for name, value in features], self.weights)

    def known(self, key: object) -> Bundle | None:
        """The bundle that was made for a key."""
        return self._made.get(key)

    def keys_of(self, bundles: Container[Bundle]) -> Iterator[object]:
        """The keys that some bundles were made for."""
        return (key for key, bundle in self._made.items() if bundle in bundles)

    def keep(self, key: object, features: Iterable[tuple[str, float]]) -> Bundle:
        """Make the bundle for a key."""
        made = self._made[key] = self.bundle(features)
        return made


def softmax(scores: Sequence[float]) -> list[float]:
    """Scores as probabilities."""
    if not scores:
        return []
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
