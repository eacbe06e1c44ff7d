"""Every dimension of a question is read in time linear in its length."""

from __future__ import annotations

import pytest

from tests.linear.measuring import assert_linear, repeated
from tests.query.rooms import ROOMS

HOSTILE = {
    "spaces": repeated(" ", before="from 2015", after="to 2018"),
    "years": repeated("2020 "),
    "digits": repeated("1"),
    "groups": repeated("1,200,"),
    "number words": repeated("two hundred and "),
    "ranges": repeated("5-10-"),
    "months": repeated("may 5 "),
    "leads": repeated("more than from between "),
    "articles": repeated("the last "),
    "days": repeated("12 "),
    "money": repeated("$5 k per "),
    "places": repeated("new york, "),
    "initials": repeated("a. "),
    "accents": repeated("é́"),
}
LENGTH = 3000


@pytest.mark.parametrize("dimension", ROOMS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_dimension_is_read_in_linear_time(dimension: str, hostile: str) -> None:
    assert_linear(ROOMS[dimension].find, HOSTILE[hostile], LENGTH)
