"""One list out of the candidates of all types."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.records.candidates import Candidate
from quarry.records.ranking import RECENCY_WEIGHT, SIMILARITY_MIN, RankedRecord, fuse_types, latest_first, near_the_best
from quarry.records.searched_types import BUILT_IN

SCORES = st.none() | st.sampled_from([0.1, 0.3, 0.5, 1.2])
CANDIDATES = st.lists(
    st.builds(Candidate, st.sampled_from([*BUILT_IN]), st.sampled_from("abcdef"), SCORES, SCORES),
    unique_by=lambda candidate: candidate.key,
)


def test_ranks_are_over_all_types() -> None:
    fused = fuse_types(
        [
            Candidate("motion", "a", 1.5, 0.4),
            Candidate("matter", "b", 1.9, None),
            Candidate("document_section", "c", None, 0.9),
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
            Candidate("motion", "a", 0.5, None),
            Candidate("motion", "b", 0.4, None),
            Candidate("motion", "b", 0.3, None, is_apart=True),
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


def test_reciprocal_ranks_are_those_of_all_records_whatever_conditions_they_meet() -> None:
    everywhere = [Candidate("motion", "a", 0.5, None), Candidate("motion", "b", 0.4, None)]
    apart = [
        Candidate("motion", "b", 0.9, 0.9, is_apart=True),
        Candidate("motion", "c", 0.8, None, is_apart=True),
    ]
    ranked = fuse_types([*everywhere, *apart], method="reciprocal_rank")
    assert ranked == fuse_types(everywhere, method="reciprocal_rank")
    assert [(item.key[1], item.score) for item in ranked] == [("a", 1 / 51), ("b", 1 / 52)]


@given(CANDIDATES, st.randoms())
def test_the_order_of_the_candidates_does_not_matter(candidates: list[Candidate], random: object) -> None:
    shuffled = sorted(candidates, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert fuse_types(shuffled) == fuse_types(candidates)


@given(CANDIDATES)
def test_each_is_listed_once_and_none_that_no_half_found(candidates: list[Candidate]) -> None:
    keys = [item.key for item in fuse_types(candidates)]
    found = {
        item.key
        for item in candidates
        if item.text_score is not None or (item.similarity is not None and item.similarity >= SIMILARITY_MIN)
    }
    assert len(keys) == len(set(keys))
    assert set(keys) == found


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_what_is_searched_by_words_alone_is_weighed_by_its_words(weight: float) -> None:
    other = Candidate("motion", "a", 0.8, None, by_words_alone=True)
    both = Candidate("motion", "b", 0.8, 0.5)
    ranked = {item.key[1]: item for item in fuse_types([other, both], weight)}
    assert ranked["a"].score == 0.8
    assert ranked["b"].score == pytest.approx(0.8 * (1 - weight) + 0.5 * weight)
