"""Snippets with marked words."""

from __future__ import annotations

from quarry.platform.snippet import MATCH_END, MATCH_START, mark


def test_everything_but_the_marks_is_escaped() -> None:
    assert (
        mark(f'<b>{MATCH_START}elm{MATCH_END}</b> & "co"') == "&lt;b&gt;<mark>elm</mark>&lt;/b&gt; &amp; &quot;co&quot;"
    )
