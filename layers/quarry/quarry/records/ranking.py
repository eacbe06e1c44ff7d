"""One list out of the candidates of all types: pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.core.fusion import Fused, reciprocal_rank_fusion
from quarry.records.contract import RECORD_TYPES
from quarry.records.found import Candidate, RecordKey

SIMILARITY_MIN = 0.2
"""A record less similar than this (cosine) was not found by its meaning: something is always nearest."""


@dataclass(frozen=True)
class RankedRecord:
    """A record in the fused list over all types."""

    key: RecordKey
    score: float
    text_rank: int | None
    semantic_rank: int | None
    similarity: float | None


def fuse_types(candidates: Sequence[Candidate]) -> list[RankedRecord]:
    """One list out of the candidates of all types: reciprocal rank fusion of their order by words and by meaning."""
    by_key = {candidate.key: candidate for candidate in candidates}
    by_words = sorted(
        (item for item in candidates if item.text_score is not None),
        key=lambda item: (-(item.text_score or 0.0), RECORD_TYPES.index(item.type), item.id),
    )
    by_meaning = sorted(
        (item for item in candidates if item.similarity is not None and item.similarity >= SIMILARITY_MIN),
        key=lambda item: (-(item.similarity or 0.0), RECORD_TYPES.index(item.type), item.id),
    )
    fused: list[Fused[RecordKey]] = reciprocal_rank_fusion(
        {"text": [item.key for item in by_words], "semantic": [item.key for item in by_meaning]}
    )
    return [
        RankedRecord(
            item.key, item.score, item.ranks.get("text"), item.ranks.get("semantic"), by_key[item.key].similarity
        )
        for item in fused
    ]
