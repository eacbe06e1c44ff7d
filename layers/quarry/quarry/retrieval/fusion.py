"""One list out of what was found by words and what was found by meaning.

By scores (Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS 2023): both halves' scores,
brought to one scale by the method named, are added with a weight. By ranks: reciprocal rank fusion (Cormack, Clarke and
Büttcher, SIGIR 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Generic, Literal, TypeVar

Key = TypeVar("Key", bound=Hashable)

Method = Literal["scores", "min_max", "z_score", "reciprocal_rank"]
"""How the halves' scores are made comparable. scores: as they are, where the share of the most that words can reach stands
beside a cosine; min_max: from 0, the worst found, to 1, the best; z_score: by mean and standard deviation of what was found;
reciprocal_rank: 1 / (RRF_K + rank).
"""

RRF_K = 50
SEMANTIC_WEIGHT = 0.4
"""What meaning weighs beside words, of 1 in all: the best mean over five judged collections, flat from 0.3 to 0.5."""

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

    A half that did not find an item adds what its worst find has, nothing at all for scores and ranks. Reciprocal ranks are added
    with the weight 1 each, as published. Items with equal scores are ordered by their best rank, then by the text of their key,
    so that the same finds always give the same list.
    """
    text = {item.key: item.text for item in found if item.text is not None}
    similarity = {item.key: item.similarity for item in found if item.similarity is not None}
    ranks = _ranks(text), _ranks(similarity)
    scale = _SCALES[method]
    if method == "scores":
        semantic_weight = _weight_beside(text.values(), semantic_weight)
    weights = (1.0, 1.0) if method == "reciprocal_rank" else (1 - semantic_weight, semantic_weight)
    halves = [(weight, *scale(half)) for weight, half in zip(weights, (text, similarity), strict=True)]
    fused = [
        Fused(
            key,
            math.fsum(weight * scaled.get(key, missing) for weight, scaled, missing in halves),
            ranks[0].get(key),
            ranks[1].get(key),
        )
        for key in dict.fromkeys(item.key for item in found)
        if key in text or key in similarity
    ]
    return sorted(fused, key=_order)


def _weight_beside(text: Iterable[float], semantic_weight: float) -> float:
    """What meaning weighs beside words that reach so much."""
    held = min(1.0, max(text, default=0.0) / WORDS_HELD)
    return min(1.0, semantic_weight * (2 - held))


def _order(item: Fused[Key]) -> tuple[float, int, str]:
    ranks = [rank for rank in (item.text_rank, item.semantic_rank) if rank is not None]
    return -item.score, min(ranks), str(item.key)


def _ranks(scores: Mapping[Key, float]) -> dict[Key, int]:
    ordered = sorted(scores, key=lambda key: (-scores[key], str(key)))
    return {key: rank for rank, key in enumerate(ordered, start=1)}


# ---- scales: the scores of a half as they are added, and what an item adds that it lacks ----


def _as_they_are(scores: Mapping[Key, float]) -> tuple[Mapping[Key, float], float]:
    return scores, 0.0


def _min_max(scores: Mapping[Key, float]) -> tuple[Mapping[Key, float], float]:
    least, most = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {key: (score - least) / (most - least) if most > least else 1.0 for key, score in scores.items()}, 0.0


def _z_score(scores: Mapping[Key, float]) -> tuple[Mapping[Key, float], float]:
    if not scores:
        return scores, 0.0
    mean, deviation = fmean(scores.values()), pstdev(scores.values()) or 1.0
    scaled = {key: (score - mean) / deviation for key, score in scores.items()}
    return scaled, min(scaled.values())


def _reciprocal_ranks(scores: Mapping[Key, float]) -> tuple[Mapping[Key, float], float]:
    return {key: 1 / (RRF_K + rank) for key, rank in _ranks(scores).items()}, 0.0


_SCALES: Mapping[Method, Callable[[Mapping[Key, float]], tuple[Mapping[Key, float], float]]] = {
    "scores": _as_they_are,
    "min_max": _min_max,
    "z_score": _z_score,
    "reciprocal_rank": _reciprocal_ranks,
}
