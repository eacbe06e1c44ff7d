"""One list out of the candidates of all types."""

from __future__ import annotations

import datetime

import pytest

from quarry.records.finding import RECENCY_WEIGHT, fuse_types, latest_first, near_the_best
from quarry.records.retrieval import RankedRecord, RecordCandidate


def test_ranks_are_over_all_types() -> None:
    fused = fuse_types(
        [
            RecordCandidate("motion", "a", 1.5, 0.4),
            RecordCandidate("matter", "b", 1.9, None),
            RecordCandidate("document_section", "c", None, 0.9),
        ]
    )
    assert [(item.key, item.text_rank, item.semantic_rank) for item in fused] == [
        (("matter", "b"), 1, None),
        (("motion", "a"), 2, 2),
        (("document_section", "c"), None, 1),
    ]
    assert [item.score for item in fused] == pytest.approx([0.6 * 1.9, 0.6 * 1.5 + 0.4 * 0.4, 0.4 * 0.9])


def test_what_meets_the_question_s_conditions_is_lifted() -> None:
    [lifted, other] = fuse_types(
        [
            RecordCandidate("motion", "a", 0.5, None),
            RecordCandidate("motion", "b", 0.4, None),
            RecordCandidate("motion", "b", 0.3, None, is_apart=True),
        ]
    )
    assert (lifted.key[1], other.key[1]) == ("b", "a")
    assert lifted.score == pytest.approx(0.6 * 0.4 * 1.5)


def _ranked(*scores: float) -> list[RankedRecord]:
    return [RankedRecord(("motion", f"m{place}"), score, None, None, None) for place, score in enumerate(scores)]


def test_where_the_latest_is_asked_for_dates_lift_by_their_place_among_those_near_the_best() -> None:
    ranked = _ranked(1.0, 0.9, 0.85, 0.3)
    near = [item.key for item in near_the_best(ranked)]
    assert [key[1] for key in near] == ["m0", "m1", "m2"]
    dates = dict(
        zip(near, [datetime.date(2020, 1, 1), datetime.date(2024, 1, 1), datetime.date(2022, 1, 1)], strict=True)
    )
    lifted = latest_first(ranked, dates)
    assert [item.key[1] for item in lifted] == ["m1", "m0", "m2", "m3"]
    assert [item.score for item in lifted] == pytest.approx(
        [0.9 * (1 + RECENCY_WEIGHT), 1.0, 0.85 * (1 + RECENCY_WEIGHT / 2), 0.3]
    )
