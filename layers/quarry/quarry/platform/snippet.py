"""Snippets of found texts, with the matched words marked."""

from __future__ import annotations

import html
from collections.abc import Iterator

MATCH_START, MATCH_END = "\ue000", "\ue001"
"""What surrounds a matched word in a snippet from SQL, whose texts are freed of both characters."""


def mark(snippet: str) -> str:
    """A snippet from SQL as HTML: everything escaped but `<mark>` around the matched words."""
    return html.escape(snippet).replace(MATCH_START, "<mark>").replace(MATCH_END, "</mark>")


def unmark(marked: str) -> str:
    """The plain text of a marked snippet."""
    return "".join(part for part, _ in marked_parts(marked))


def marked_parts(marked: str) -> Iterator[tuple[str, bool]]:
    """The parts of a marked snippet in order, as plain text, each with whether it is a matched word."""
    rest = marked
    while rest:
        before, _, behind = rest.partition("<mark>")
        inside, closed, after = behind.partition("</mark>")
        if not closed:
            break
        yield from ((html.unescape(part), is_match) for part, is_match in ((before, False), (inside, True)) if part)
        rest = after
    if rest:
        yield html.unescape(rest), False
