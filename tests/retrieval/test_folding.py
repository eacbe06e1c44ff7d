"""Texts that say nearly the same, put together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.retrieval.folding import fold

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
