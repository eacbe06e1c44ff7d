"""Texts that say nearly the same, put together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.retrieval.folding import fold, is_nearly_same
from tests.linear.measuring import assert_linear, repeated

WORDS = st.sampled_from([*"abcdefgh", "2", "17"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=30)

MOTION = (
    "That staff be asked to report on the cost of a covered bicycle shelter beside the northern entrance of the station"
)


def test_what_differs_by_a_word_is_put_together_wherever_the_word_stands() -> None:
    other = "Apples are sold by the pound"
    for copy in (f"Also {MOTION}", MOTION.replace("covered", "roofed"), f"{MOTION} again", MOTION.upper() + "."):
        assert fold([MOTION, other, copy]) == [[0, 2], [1]]


def test_what_differs_in_a_number_is_not_the_same() -> None:
    assert fold([f"{MOTION} by 2031", f"{MOTION} by 2032", f"{MOTION} by 2031!"]) == [[0, 2], [1]]


def test_what_is_like_one_of_a_group_is_of_the_group() -> None:
    words = [f"word{chr(97 + place)}" for place in range(26)]
    chain = [" ".join(words[start : start + 20]) for start in (0, 1, 2, 3)]
    assert not is_nearly_same(frozenset(chain[0].split()), frozenset(chain[3].split()))
    assert fold(chain) == [[0, 1, 2, 3]]


def test_texts_without_words_are_each_alone() -> None:
    assert fold(["", "…", ""]) == [[0], [1], [2]]


@given(TEXTS)
def test_every_place_is_in_one_group_and_the_order_is_kept(texts: list[str]) -> None:
    groups = fold(texts)
    assert sorted(place for group in groups for place in group) == list(range(len(texts)))
    assert all(group == sorted(group) for group in groups)
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)


@given(TEXTS)
def test_the_same_text_is_always_in_the_same_group(texts: list[str]) -> None:
    of_text: dict[str, int] = {}
    for number, group in enumerate(fold(texts)):
        for place in group:
            if texts[place]:
                assert of_text.setdefault(texts[place], number) == number


@given(TEXTS)
def test_whoever_is_in_a_group_is_nearly_the_same_as_another_of_it(texts: list[str]) -> None:
    words = [frozenset(text.split()) for text in texts]
    for group in fold(texts):
        for place in group if len(group) > 1 else ():
            assert any(is_nearly_same(words[place], words[other]) for other in group if other != place)


@given(TEXTS, st.data())
def test_which_texts_are_put_together_does_not_depend_on_their_order(texts: list[str], data: st.DataObject) -> None:
    def told_of(given: list[str]) -> set[frozenset[str]]:
        return {frozenset(given[place] for place in group) for group in fold(given)}

    once = list(dict.fromkeys(texts))
    assert told_of(data.draw(st.permutations(once))) == told_of(once)


def test_folding_takes_as_long_as_the_texts_are_long() -> None:
    for line in (f"{MOTION}\n", "a\n", "a b " * 40 + "\n", "".join(f"{MOTION} {number}\n" for number in range(40))):
        assert_linear(lambda text: fold(text.split("\n")), repeated(line), 60_000)
