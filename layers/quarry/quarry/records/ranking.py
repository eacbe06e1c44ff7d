"""One list out of the candidates of all types: pure arithmetic."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quarry.records.candidates import Candidate, RecordKey
from quarry.retrieval.fusion import SEMANTIC_WEIGHT, Method, Scored, fuse

SIMILARITY_MIN = 0.2
"""A record less similar than this (cosine) was not found by its meaning: something is always nearest."""

APART_WEIGHT = 0.5
"""What a record's score gains, as a share of it, by meeting the question's conditions."""

DATED_MAX = 20
"""Where the latest is asked for, so many of the first records may gain by their dates,"""
DATED_SHARE = 0.5
"""those that have this share of the best score: what is less about it is not asked for, however late."""
RECENCY_WEIGHT = 0.25
"""What the latest of them gains, as a share of its score; the earliest gains nothing."""


@dataclass(frozen=True)
class RankedRecord:
    """A record in the fused list over all types, and what each half says of it."""

    key: RecordKey
    score: float
    text_rank: int | None
    semantic_rank: int | None
    similarity: float | None


def fuse_types(
    candidates: Sequence[Candidate], semantic_weight: float = SEMANTIC_WEIGHT, method: Method = "scores"
) -> list[RankedRecord]:
    """One list out of the candidates of all types, whose scores mean the same in each; those found apart are lifted.

    By another method than "scores" it is that formula and no more: nothing is lifted, nor listed for being found apart.
    """
    if method != "scores":
        candidates = [item for item in candidates if not item.is_apart]
    by_key = _by_key(candidates)
    found = [_of_one_record(key, same) for key, same in by_key.items()]
    apart = {item.key for item in candidates if item.is_apart}
    halves = {item.key: item for item in found}
    by_words = {item.key: item.text_score or 0.0 for item in candidates if item.by_words_alone}
    ranked = [
        RankedRecord(
            item.key,
            item.score,
            item.text_rank,
            item.semantic_rank,
            halves[item.key].similarity,
        )
        for item in fuse(found, method=method, semantic_weight=semantic_weight)
    ]
    if method != "scores":
        return ranked
    # of what could not be found by its meaning, words weigh all
    ranked = [replace(item, score=by_words.get(item.key, item.score)) for item in ranked]
    lifted = [replace(item, score=item.score * (1 + APART_WEIGHT)) if item.key in apart else item for item in ranked]
    return sorted(lifted, key=lambda item: -item.score)


def may_be_ranked(candidate: Candidate) -> bool:
    """Whether anything speaks for it: a word of the query, or a meaning that is not far off."""
    return candidate.text_score is not None or (candidate.similarity or 0.0) >= SIMILARITY_MIN


def near_the_best(ranked: Sequence[RankedRecord]) -> list[RankedRecord]:
    """The first records that may gain by their dates."""
    return [item for item in ranked[:DATED_MAX] if item.score >= DATED_SHARE * ranked[0].score]


def latest_first(ranked: Sequence[RankedRecord], dates: Mapping[RecordKey, datetime.date]) -> list[RankedRecord]:
    """The list with those of `dates` lifted, by the place of the date of each among all of these."""
    days = sorted(set(dates.values()))
    gain = {day: RECENCY_WEIGHT * place / max(1, len(days) - 1) for place, day in enumerate(days)}
    lifted = [
        replace(item, score=item.score * (1 + gain[dates[item.key]])) if item.key in dates else item for item in ranked
    ]
    return sorted(lifted, key=lambda item: -item.score)


def _by_key(candidates: Iterable[Candidate]) -> dict[RecordKey, list[Candidate]]:
    by_key: dict[RecordKey, list[Candidate]] = {}
    for item in candidates:
        by_key.setdefault(item.key, []).append(item)
    return by_key


def _of_one_record(key: RecordKey, found: Iterable[Candidate]) -> Scored[RecordKey]:
    """The best of what several searches say of one record."""
    texts = [item.text_score for item in found if item.text_score is not None]
    likenesses = [
        item.similarity for item in found if item.similarity is not None and item.similarity >= SIMILARITY_MIN
    ]
    return Scored(key, max(texts, default=None), max(likenesses, default=None))
