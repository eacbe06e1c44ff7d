"""Names in questions, and whether others like them are wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.names import NAME_CHARACTERS_MAX, NAMES_MAX, is_about, read_names
from tests.linear.measuring import assert_linear, repeated


@given(st.text(max_size=300))
def test_any_text_is_read_into_a_few_short_names(question: str) -> None:
    read = read_names(question)
    assert len(read.names) <= NAMES_MAX
    assert all(2 <= len(name) <= NAME_CHARACTERS_MAX for name in read.names)
    assert len({name.lower() for name in read.whole}) == len(read.whole)
    assert all(name == name.strip() and "\n" not in name for name in read.names)


@pytest.mark.parametrize(
    "piece",
    [" ?", "A ", "A.", "! ? is ", "3a", "'", "like ", "please ", "1.a:"],
)
def test_twice_the_question_takes_about_twice_as_long(piece: str) -> None:
    def read(question: str) -> None:
        read_names(question)
        is_about(question, ["A"])

    assert_linear(read, repeated(piece), 1000)
