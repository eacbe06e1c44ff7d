"""One list out of what was found by words and what was found by meaning: by weighted scores (Bruch, Gai and Ingber, "An analysis
of fusion functions for hybrid retrieval", TOIS 2023) or by reciprocal ranks (Cormack, Clarke and Büttcher, SIGIR 2009).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Key = TypeVar("Key", bound=Hashable)

Method = Literal["scores", "reciprocal_rank"]
"""How the halves' scores are made comparable. scores: as they are, the share of the most that words can reach and a cosine;
reciprocal_rank: 1 / (RRF_K + rank).
"""

RRF_K = 50
SEMANTIC_WEIGHT = 0.4
"""The weight of meaning against words, of 1 in all: the best mean over five judged collections, flat from 0.3 to 0.5."""

WORDS_HELD = 0.4
"""Where the best that words find reaches less than this share of the most, they hold little of a query, and meaning weighs more:
up to twice as much where they hold nothing. Flat from 0.4 to 0.6 on what it was measured with.
"""


@dataclass(frozen=True)
class Scored(Generic[Key]):
    """One thing found: by its words, by its meaning (cosine), or by both; None where that half did not find it."""

    key: Key
    text: float | None
    similarity: float | None


@dataclass(frozen=True)
class Fused(Generic[Key]):
    """One item of the fused list: its score, and its rank among what either half found (1 is best)."""

    key: Key
    score: float
    text_rank: int | None = None
    semantic_rank: int | None = None


def fuse(
    found: Sequence[Scored[Key]], *, method: Method = "scores", semantic_weight: float = SEMANTIC_WEIGHT
) -> list[Fused[Key]]:
    """`found`, each key once, best first: (1 − semantic_weight) · text + semantic_weight · similarity, brought to one scale.
    By scores, meaning weighs more where words hold little of the query.

    A half that did not find an item adds nothing. Reciprocal ranks are added with the weight 1 each, as published. Items with
    equal scores are ordered by their best rank, then by the text of their key, so that the same finds always give the same
    list.
    """
    text = {item.key: item.text for item in found if item.text is not None}
    similarity = {item.key: item.similarity for item in found if item.similarity is not None}
    ranks = _ranks(text), _ranks(similarity)
    if method == "scores":
        semantic_weight = _weight_beside(text.values(), semantic_weight)
        halves = [(1 - semantic_weight, text), (semantic_weight, similarity)]
    else:
        halves = [(1.0, {key: 1 / (RRF_K + rank) for key, rank in each.items()}) for each in ranks]
    fused = [
        Fused(
            key,
            math.fsum(weight * scaled.get(key, 0.0) for weight, scaled in halves),
            ranks[0].get(key),
            ranks[1].get(key),
        )
        for key in dict.fromkeys(item.key for item in found)
        if key in text or key in similarity
    ]
    return sorted(fused, key=_order)


def _weight_beside(text: Iterable[float], semantic_weight: float) -> float:
    """The weight of meaning against words that reach so much."""
    held = min(1.0, max(text, default=0.0) / WORDS_HELD)
    return min(1.0, semantic_weight * (2 - held))


def _order(item: Fused[Key]) -> tuple[float, int, str]:
    ranks = [rank for rank in (item.text_rank, item.semantic_rank) if rank is not None]
    return -item.score, min(ranks), str(item.key)


def _ranks(scores: Mapping[Key, float]) -> dict[Key, int]:
    ordered = sorted(scores, key=lambda key: (-scores[key], str(key)))
    return {key: rank for rank, key in enumerate(ordered, start=1)}
