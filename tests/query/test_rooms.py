"""Laws of every dimension."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.spans.places import learned
from tests.query.rooms import ROOMS
from tools.fit.log_linear import is_held_out
from tools.fit.places import read_pairs, wrong_in

PIECES = st.sampled_from(
    """
    2020 1950s 1,200 12 3rd 5k 1.5 million two dozen hundred and or to - – from between since before more than at least
    up + % $ € ₹ lakh lpa per month year years ago last past this next may march 2020-06-11 q3 2021-2022 early the of in . , ' 0
    9999 99999999999999 31 feb half a people employees london paris us, tx new york or later or fewer 1e9 ١٢ ² us u.s. İ ß ﬁ
    """.split()
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=14).map(" ".join), st.lists(PIECES, max_size=14).map("".join), st.text(max_size=60)
)


@pytest.mark.parametrize("dimension", ROOMS)
@given(text=TEXTS)
def test_every_mention_stands_in_the_text_and_no_range_ends_before_it_begins(dimension: str, text: str) -> None:
    ends = ("first", "last") if dimension == "dates" else ("least", "most")
    for mention in ROOMS[dimension].find(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end].strip() == text[mention.start : mention.end]
        first, last = (getattr(mention.value, name, None) for name in ends)
        assert first is None or last is None or first <= last


def test_names_of_places_in_texts_that_were_never_fitted_to_are_read_in_the_sense_that_is_meant() -> None:
    held_out = [pair for pair in read_pairs() if is_held_out(pair[0])]
    assert len(held_out) > 2000
    assert len(list(wrong_in(held_out, learned()))) < 0.05 * len(held_out)
