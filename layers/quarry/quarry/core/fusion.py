"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

RRF_K = 50

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Fused(Generic[Key]):
    """One item of a fused list: its score and, for each list that held it, its rank there (1 is best)."""

    key: Key
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)


def reciprocal_rank_fusion(
    lists: Mapping[str, Sequence[Key]],
    *,
    weights: Mapping[str, float] | None = None,
    k: int = RRF_K,
) -> list[Fused[Key]]:
    """Fuse ranked lists into one: score(item) = Σ over lists of weight / (k + rank), ranks counted from 1.

    A list that does not hold an item adds nothing. Items with equal scores are ordered by their best rank, then by the text
    of their key, so that the same lists always give the same order. A key repeated in a list counts at its first place.
    """
    ranks: dict[Key, dict[str, int]] = {}
    for name, keys in lists.items():
        for rank, key in enumerate(dict.fromkeys(keys), start=1):
            ranks.setdefault(key, {})[name] = rank
    weight = weights or {}
    # fsum rounds once, so a sum does not depend on the order of the lists
    fused = [
        Fused(key, math.fsum(weight.get(name, 1.0) / (k + rank) for name, rank in found.items()), found)
        for key, found in ranks.items()
    ]
    return sorted(fused, key=lambda item: (-item.score, min(item.ranks.values()), str(item.key)))
