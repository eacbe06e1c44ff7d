"""How likely records answer a question: laws of the arithmetic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.records.absence import (
    DOUBTED_BELOW,
    REFUSED_BELOW,
    REFUSED_BELOW_UNMEASURED,
    ROWS_FITTED,
    ROWS_MEASURED,
    Answerability,
    Held,
    doubted_below,
    probability,
    refused_below,
)

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
    assert told.is_refused or not Answerability(likely, refused_below=REFUSED_BELOW_UNMEASURED).is_refused


@given(st.floats(1, 1e9), st.floats(1, 1e9))
def test_of_few_rows_less_is_refused_and_whatever_is_refused_is_doubtful(one: float, other: float) -> None:
    assert refused_below(min(one, other)) <= refused_below(max(one, other)) < DOUBTED_BELOW
    assert refused_below(one) < doubted_below(one) <= doubted_below(ROWS_FITTED) == doubted_below(1e9) == DOUBTED_BELOW
    fewest, most = ROWS_MEASURED
    assert refused_below(1) == refused_below(fewest) < refused_below(ROWS_FITTED) < refused_below(most)
    assert refused_below(1e9) == refused_below(most)
    assert abs(refused_below(ROWS_FITTED) - REFUSED_BELOW) < 1e-9


def test_neither_meaning_nor_words_alone_are_enough() -> None:
    assert probability(0.3, Held(1.0, is_all=False)) < REFUSED_BELOW
    assert probability(0.7, Held(1.0, is_all=False)) > DOUBTED_BELOW
    assert probability(0.4, Held(4.0, is_all=True)) > DOUBTED_BELOW
