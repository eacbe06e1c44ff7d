"""How likely records answer a question: laws of the arithmetic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.records.absence import DOUBTED_BELOW, REFUSED_BELOW, Answerability, Held, probability

SIMILARITIES = st.floats(0, 1)
WORTHS = st.floats(0, 30)


@given(SIMILARITIES, SIMILARITIES, WORTHS, WORTHS, st.booleans())
def test_what_is_nearer_and_holds_more_is_likelier(
    one: float, other: float, worth: float, more: float, is_all: bool
) -> None:
    less = probability(min(one, other), Held(min(worth, more), is_all))
    assert 0 <= less <= probability(max(one, other), Held(max(worth, more), is_all)) <= 1
    assert probability(one, Held(worth, True, ["moon"])) <= probability(one, Held(worth, True))


@given(st.floats(0, 1))
def test_what_is_refused_is_doubtful(likely: float) -> None:
    told = Answerability(likely)
    assert told.is_doubtful or not told.is_refused
    assert told.is_refused or not Answerability(likely, is_measured=False).is_refused


def test_neither_meaning_nor_words_alone_are_enough() -> None:
    assert probability(0.3, Held(1.0, is_all=False)) < REFUSED_BELOW
    assert probability(0.7, Held(1.0, is_all=False)) > DOUBTED_BELOW
    assert probability(0.4, Held(4.0, is_all=True)) > DOUBTED_BELOW
