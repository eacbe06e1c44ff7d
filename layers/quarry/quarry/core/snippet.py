"""Snippets of found texts, with the matched words marked."""

from __future__ import annotations

import html

MATCH_START, MATCH_END = "\ue000", "\ue001"
"""What surrounds a matched word in a snippet from SQL, whose texts are freed of both characters."""


def mark(snippet: str) -> str:
    """A snippet from SQL as HTML: everything escaped but `<mark>` around the matched words."""
    return html.escape(snippet).replace(MATCH_START, "<mark>").replace(MATCH_END, "</mark>")


def unmark(marked: str) -> str:
    """The plain text of a marked snippet."""
    return html.unescape(marked.replace("<mark>", "").replace("</mark>", ""))
