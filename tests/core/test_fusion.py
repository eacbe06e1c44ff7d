from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.core.fusion import RRF_K, reciprocal_rank_fusion

RANKED = st.lists(st.sampled_from("abcdefgh"), unique=True)
LISTS = st.dictionaries(st.sampled_from(["text", "semantic", "name", "recent", "popular"]), RANKED, max_size=5)


def test_the_score_is_the_sum_of_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion({"text": ["a", "b"], "semantic": ["b", "c"]})
    assert [item.key for item in fused] == ["b", "a", "c"]
    assert [item.score for item in fused] == pytest.approx([1 / 52 + 1 / 51, 1 / 51, 1 / 52])
    assert fused[0].ranks == {"text": 2, "semantic": 1}


def test_weights_and_k_are_as_given() -> None:
    fused = reciprocal_rank_fusion({"text": ["a"], "semantic": ["b"]}, weights={"semantic": 3.0}, k=9)
    assert [item.key for item in fused] == ["b", "a"]
    assert [item.score for item in fused] == pytest.approx([0.3, 0.1])


def test_a_repeated_key_counts_at_its_first_place_and_takes_no_other() -> None:
    [a, b] = reciprocal_rank_fusion({"text": ["a", "a", "b"]})
    assert (a.ranks["text"], b.ranks["text"]) == (1, 2)


def test_ties_go_to_the_best_rank_and_then_to_the_key() -> None:
    tied = reciprocal_rank_fusion({"text": ["b", "c"], "semantic": ["a", "d"]})
    assert [item.key for item in tied] == ["a", "b", "c", "d"]
    # with k = 0, twice second (1/2 + 1/2) equals once first
    assert [item.key for item in reciprocal_rank_fusion({"x": ["z", "a"], "y": ["y", "a"]}, k=0)] == ["y", "z", "a"]


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank_fusion({}) == []
    assert reciprocal_rank_fusion({"text": []}) == []


@given(LISTS, st.randoms(use_true_random=False))
def test_the_order_of_the_lists_changes_nothing(lists: dict[str, list[str]], random: Random) -> None:
    names = list(lists)
    random.shuffle(names)
    assert reciprocal_rank_fusion({name: lists[name] for name in names}) == reciprocal_rank_fusion(lists)


@given(RANKED, RANKED)
def test_an_item_of_one_list_gains_nothing_from_another(text: list[str], semantic: list[str]) -> None:
    for item in reciprocal_rank_fusion({"text": text, "semantic": semantic}):
        if list(item.ranks) == ["text"]:
            assert item.score == 1 / (RRF_K + text.index(item.key) + 1)


@given(LISTS)
def test_every_item_comes_once_and_scores_never_rise(lists: dict[str, list[str]]) -> None:
    fused = reciprocal_rank_fusion(lists)
    assert sorted(item.key for item in fused) == sorted({key for keys in lists.values() for key in keys})
    assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)
