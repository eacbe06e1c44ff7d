"""Results in the size that an agent's context takes: pure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.agent.results import RESULT_CHARACTERS_MAX, bounded
from quarry.platform.errors import BodyTooLarge

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=20,
)


def size(found: dict[str, Any]) -> int:
    return len(json.dumps(found, ensure_ascii=False))


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=5), st.integers(200, 2_000))
def test_a_result_is_as_it_was_or_says_that_it_was_cut(found: dict[str, Any], characters_max: int) -> None:
    try:
        told = bounded(found, characters_max)
    except BodyTooLarge:
        assert size(found) > characters_max
        return
    assert size(told) <= characters_max
    assert told == found or told["shortened"]


@pytest.mark.parametrize(
    "found",
    [
        {"props": {"notes": "x" * 129_000}},
        {"props": {"list": [{"text": "y" * 900}] * 5_000}},
        {"props": {f"name {number}": "z" * 400 for number in range(2_000)}},
        {"props": {"deep": {"er": {"and": {"still": {"more": {"so": ["x" * 50] * 9_000}}}}}}},
    ],
)
def test_a_large_entity_is_told_in_part(found: dict[str, Any]) -> None:
    told = bounded(found)
    assert 1_000 < size(told) <= RESULT_CHARACTERS_MAX
    assert told["shortened"] is True


def test_a_cut_text_says_how_much_is_missing() -> None:
    assert bounded({"text": "x" * 50_000})["text"].endswith("… [30,000 characters more]")
