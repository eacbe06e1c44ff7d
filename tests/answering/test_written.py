"""The form of an answer that a model writes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.answering.written import WrittenAnswer

WHOLE = (
    "Sources: 2, 5\n\nIt was closed [2].\n\nNext steps were agreed.\n\nNext: When does it open?\nNext: Who decided?\n"
)


def read(text: str, *cuts: int) -> tuple[frozenset[int] | None, str, list[str]]:
    answer = WrittenAnswer()
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[start:end] for start, end in pairwise(places)]
    said = "".join([*map(answer.feed, pieces), answer.finish()])
    return answer.source_numbers, said, answer.followups


def test_the_first_line_names_the_sources_and_the_last_ones_what_to_ask_next() -> None:
    assert read(WHOLE) == (
        frozenset({2, 5}),
        "It was closed [2].\n\nNext steps were agreed.",
        ["When does it open?", "Who decided?"],
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sources: none\n\nThe records do not say.", (frozenset(), "The records do not say.", [])),
        ("**Sources:** [1], [3]\nYes.", (frozenset({1, 3}), "Yes.", [])),
        ("Sourcing was hard.\nNext: Why?", (None, "Sourcing was hard.", ["Why?"])),
        ("Next: A?\nNext: A?\nNext: B?\nNext: C?\nNext: D?", (None, "", ["A?", "B?", "C?"])),
    ],
)
def test_parts_may_be_missing(text: str, expected: tuple[frozenset[int] | None, str, list[str]]) -> None:
    assert read(text) == expected


@given(st.lists(st.integers(0, len(WHOLE)), max_size=12))
def test_how_the_text_is_cut_changes_nothing(cuts: list[int]) -> None:
    assert read(WHOLE, *cuts) == read(WHOLE)
