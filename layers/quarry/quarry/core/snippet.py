"""Snippets of found texts, with the matched words marked."""

from __future__ import annotations

import html
import re
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
    for place, part in enumerate(re.split("<mark>(.*?)</mark>", marked, flags=re.DOTALL)):
        if part:
            yield html.unescape(part), place % 2 == 1
