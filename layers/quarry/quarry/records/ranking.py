"""One list out of the candidates of all types: pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.core.fusion import Fused, reciprocal_rank_fusion
from quarry.records.candidates import Candidate, RecordKey
from quarry.records.contract import RECORD_TYPES

SIMILARITY_MIN = 0.2
"""A record less similar than this (cosine) was not found by its meaning: something is always nearest."""

APART_WEIGHT = 0.5
"""What the order among the records that meet the question's conditions counts beside that among all."""


@dataclass(frozen=True)
class RankedRecord:
    """A record in the fused list over all types. `has_every_word`: that were asked for."""

    key: RecordKey
    score: float
    text_rank: int | None
    semantic_rank: int | None
    similarity: float | None
    has_every_word: bool = False


def fuse_types(candidates: Sequence[Candidate], semantic_weight: float = 0.5) -> list[RankedRecord]:
    """One list out of the candidates of all types: reciprocal rank fusion of their order by words and by meaning, and of the
    orders of those that were found apart. `semantic_weight` is the share of meaning (0 to 1): at 0.5 both orders weigh 1.
    """
    everywhere = [item for item in candidates if not item.is_apart]
    apart = [item for item in candidates if item.is_apart]
    lists = {
        "text": _by_words(everywhere),
        "semantic": _by_meaning(everywhere),
        "text_apart": _by_words(apart),
        "semantic_apart": _by_meaning(apart),
    }
    similarity = {item.key: item.similarity for item in candidates if item.similarity is not None}
    text, semantic = 2 * (1 - semantic_weight), 2 * semantic_weight
    weights = {
        "text": text,
        "semantic": semantic,
        "text_apart": APART_WEIGHT * text,
        "semantic_apart": APART_WEIGHT * semantic,
    }
    fused: list[Fused[RecordKey]] = reciprocal_rank_fusion(lists, weights=weights)
    return [
        RankedRecord(item.key, item.score, item.ranks.get("text"), item.ranks.get("semantic"), similarity.get(item.key))
        for item in fused
    ]


def _by_words(candidates: Sequence[Candidate]) -> list[RecordKey]:
    found = [item for item in candidates if item.text_score is not None]
    return [item.key for item in sorted(found, key=lambda item: (-(item.text_score or 0.0), *_place(item)))]


def _by_meaning(candidates: Sequence[Candidate]) -> list[RecordKey]:
    found = [item for item in candidates if item.similarity is not None and item.similarity >= SIMILARITY_MIN]
    return [item.key for item in sorted(found, key=lambda item: (-(item.similarity or 0.0), *_place(item)))]


def _place(item: Candidate) -> tuple[int, str]:
    return RECORD_TYPES.index(item.type), item.id
