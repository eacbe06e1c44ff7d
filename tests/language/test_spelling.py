"""One slip of the pen is forgiven, where it can mean one word only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.core.language.spelling import Spelling, is_one_slip

LEXICON = Spelling(["germany", "engineer", "marine", "martin", "oslo"])


@pytest.mark.parametrize("word", ["germany", "germny", "gemrany", "germanny", "garmany"])
def test_a_word_with_one_slip_is_found(word: str) -> None:
    assert LEXICON.near(word) == "germany"


@pytest.mark.parametrize("word", ["", "gremnay", "hermany", "olso", "osl", "germ", "x" * 5000])
def test_another_word_is_not(word: str) -> None:
    assert LEXICON.near(word) is None


def test_what_two_words_are_near_to_is_neither() -> None:
    assert Spelling(["marine", "marina"]).near("marini") is None


@given(word=st.text("abc", max_size=7), place=st.integers(0, 7), letter=st.sampled_from("abcd"))
def test_each_single_change_is_one_slip(word: str, place: int, letter: str) -> None:
    for changed in (
        word[:place] + letter + word[place:],
        word[:place] + letter + word[place + 1 :],
        word[:place] + word[place + 1 :],
        word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
    ):
        assert is_one_slip(word, changed) == is_one_slip(changed, word) == (word != changed)
