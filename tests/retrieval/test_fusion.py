"""One list out of words and meaning, whatever the formula, with texts that say nearly the same together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.retrieval.fusion import SEMANTIC_WEIGHT, Method, Scored, fold, fuse

SCORES = st.none() | st.integers(0, 20).map(lambda twentieths: twentieths / 20)
FOUND = st.lists(st.builds(Scored, st.sampled_from("abcdefgh"), SCORES, SCORES), unique_by=lambda item: item.key)


def scores(found: list[Scored[str]], method: Method, weight: float = SEMANTIC_WEIGHT) -> dict[str, float]:
    return {item.key: item.score for item in fuse(found, method=method, semantic_weight=weight)}


def test_scores_are_added_with_their_weights() -> None:
    found = [Scored("a", 0.5, None), Scored("b", 0.25, 0.75), Scored("c", None, 0.5)]
    assert scores(found, "scores", 0.4) == pytest.approx({"a": 0.3, "b": 0.45, "c": 0.2})
    assert [item.key for item in fuse(found)] == ["b", "a", "c"]


def test_meaning_weighs_up_to_twice_as_much_where_words_hold_little_of_the_query() -> None:
    found = [Scored("a", 0.2, None), Scored("b", None, 0.5)]
    assert scores(found, "scores", 0.4) == pytest.approx({"a": 0.08, "b": 0.3})
    assert scores([Scored("a", None, 0.5)], "scores", 0.4) == pytest.approx({"a": 0.4})
    assert scores([Scored("a", None, 0.5)], "scores", 0.7) == pytest.approx({"a": 0.5})


def test_reciprocal_ranks_are_summed() -> None:
    found = [Scored("a", 0.9, None), Scored("b", 0.1, 0.8), Scored("c", None, 0.3)]
    assert scores(found, "reciprocal_rank") == pytest.approx({"b": 1 / 52 + 1 / 51, "a": 1 / 51, "c": 1 / 52})


def test_ties_go_to_the_best_rank_and_then_to_the_key() -> None:
    tied = [Scored("b", 0.6, None), Scored("a", 0.6, None), Scored("c", None, 0.6)]
    assert [item.key for item in fuse(tied, semantic_weight=0.5)] == ["a", "c", "b"]


@given(FOUND, st.sampled_from([0.0, 1.0]))
def test_a_weight_of_all_or_nothing_leaves_the_order_of_one_half(found: list[Scored[str]], weight: float) -> None:
    whole = [Scored(item.key, item.text or 0.0, item.similarity or 0.0) for item in found]
    half = {item.key: item.similarity if weight else item.text for item in whole}
    ranked = [half[item.key] for item in fuse(whole, semantic_weight=weight)]
    assert ranked == sorted(half.values(), key=lambda score: -(score or 0.0))


WORDS = st.sampled_from([*"abcdefgh", "2", "17"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=30)

MOTION = (
    "That staff be asked to report on the cost of a covered bicycle shelter beside the northern entrance of the station"
)


def test_what_differs_by_a_word_is_put_together_wherever_the_word_stands() -> None:
    other = "Apples are sold by the pound"
    for copy in (f"Also {MOTION}", MOTION.replace("covered", "roofed"), f"{MOTION} again", MOTION.upper() + "."):
        assert fold([MOTION, other, copy]) == [[0, 2], [1]]


@given(TEXTS)
def test_every_place_is_in_one_group_and_the_order_is_kept(texts: list[str]) -> None:
    groups = fold(texts)
    assert sorted(place for group in groups for place in group) == list(range(len(texts)))
    assert all(group == sorted(group) for group in groups)
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)


@given(TEXTS, st.data())
def test_which_texts_are_put_together_does_not_depend_on_their_order(texts: list[str], data: st.DataObject) -> None:
    def told_of(given: list[str]) -> set[frozenset[str]]:
        return {frozenset(given[place] for place in group) for group in fold(given)}

    once = list(dict.fromkeys(texts))
    assert told_of(data.draw(st.permutations(once))) == told_of(once)
