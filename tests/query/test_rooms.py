"""Laws of every dimension."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.query.rooms import ROOMS

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
def test_every_mention_stands_in_the_text(dimension: str, text: str) -> None:
    for mention in ROOMS[dimension].find(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end].strip() == text[mention.start : mention.end]


@pytest.mark.parametrize("dimension", ["dates", "numbers", "money", "durations"])
@given(text=TEXTS)
def test_no_range_ends_before_it_begins(dimension: str, text: str) -> None:
    for mention in ROOMS[dimension].find(text):
        value = mention.value
        first, last = (
            getattr(value, name) for name in (("first", "last") if dimension == "dates" else ("least", "most"))
        )
        assert first is None or last is None or first <= last
