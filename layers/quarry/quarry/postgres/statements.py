"""A file of SQL as single statements: a distributed Postgres takes one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\* )
  | (?P<quoted> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$ )
  | (?P<word> [A-Za-z_][\w$]* )
  | (?P<number> \d\w* | \$\d+ )
  | (?P<mark> [;()] )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def statements_of(text: str) -> Iterator[str]:
    """The statements of `text`, without their semicolons. Semicolons in quotes, dollar quotes, comments, parentheses and bodies
    (`begin atomic … end`) end none.
    """
    start = place = parentheses = blocks = 0
    has_words, word = False, ""
    while match := _TOKEN.search(text, place):
        place = match.end()
        if match["comment"]:
            place = _end_of_comment(text, match.start()) if match["comment"] == "/*" else place
            continue
        before, word = word, (match["word"] or "").lower()
        if match["mark"] == ";" and not parentheses and not blocks:
            if has_words:
                yield text[start : match.start()].strip()
            start, has_words = place, False
            continue
        has_words = True
        parentheses += {"(": 1, ")": -1}.get(match["mark"], 0)
        if (before, word) == ("begin", "atomic") or (blocks and word == "case"):
            blocks += 1
        elif blocks and word == "end":
            blocks -= 1
    if has_words:
        yield text[start:].strip()


def _end_of_comment(text: str, start: int) -> int:
    """Where the comment that begins at `start` ends; comments may contain others."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)
