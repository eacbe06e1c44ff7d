"""One list out of words and meaning, whatever the formula, with texts that say nearly the same together."""

from __future__ import annotations

import pytest

from quarry.retrieval.fusion import SEMANTIC_WEIGHT, Method, Scored, fold, fuse


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


MOTION = (
    "That staff be asked to report on the cost of a covered bicycle shelter beside the northern entrance of the station"
)


def test_what_differs_by_a_word_is_put_together_wherever_the_word_stands() -> None:
    other = "Apples are sold by the pound"
    for copy in (f"Also {MOTION}", MOTION.replace("covered", "roofed"), f"{MOTION} again", MOTION.upper() + "."):
        assert fold([MOTION, other, copy]) == [[0, 2], [1]]
