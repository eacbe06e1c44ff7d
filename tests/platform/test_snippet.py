"""Snippets with marked words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.platform.snippet import MATCH_END, MATCH_START, mark, marked_parts, unmark

texts = st.text(st.characters(exclude_characters=MATCH_START + MATCH_END, exclude_categories=["Cs"]))


def test_everything_but_the_marks_is_escaped() -> None:
    assert (
        mark(f'<b>{MATCH_START}elm{MATCH_END}</b> & "co"') == "&lt;b&gt;<mark>elm</mark>&lt;/b&gt; &amp; &quot;co&quot;"
    )


@given(pieces=st.lists(st.tuples(texts, st.booleans())))
def test_marking_loses_no_text(pieces: list[tuple[str, bool]]) -> None:
    snippet = "".join(f"{MATCH_START}{text}{MATCH_END}" if is_match else text for text, is_match in pieces)
    assert unmark(mark(snippet)) == "".join(text for text, _ in pieces)


def test_the_parts_tell_which_words_matched() -> None:
    marked = mark(f"a <mark> {MATCH_START}b{MATCH_END}{MATCH_START}c{MATCH_END}\nd")
    assert list(marked_parts(marked)) == [("a <mark> ", False), ("b", True), ("c", True), ("\nd", False)]
