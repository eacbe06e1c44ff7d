"""Where the sentences of a text begin and end. The one place where text is cut into them.

A full stop behind an abbreviation or an initial ends none; which words are abbreviated, `data/abbreviations.toml` says for each
language. A text's language is not known here, so those of all hold. Linear in the length of the text.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from functools import cache
from importlib.resources import files
from itertools import pairwise

# What may lie between two sentences: quotes, brackets and citations of the first one, and white space; or the end of a line.
_GAP = re.compile(r"(?<=[.!?])((?:[\"”’»)*_]*+(?>(?: ?\[\d{1,3}\])*)))\s++(?=\S)|\n+")
_BEGINNING = re.compile(r"[\"“‘„«(*_\[]{0,3}([^\W_]+\.?|[$€£¥])")
_LAST_WORD = re.compile(r"(?<![^\W_])([^\W_](?:[^\W_]|[.-]{1,2}(?=[^\W_]))*)\.$")
_ABBREVIATION_CHARACTERS_MAX = 12
_BEGINNING_CHARACTERS_MAX = 40
_ORDINAL_DIGITS_MAX = 2
_INDENT_MAX = 4
_LETTERS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
"""An initial, or an abbreviation of letters alone: "J", "U.S"."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends, without the white space around it; a citation behind a full stop belongs to it."""
    cuts = [0]
    for gap in _GAP.finditer(text):
        if _is_end(text, gap, cuts[-1]):
            cuts.append(max(gap.start(), gap.end(1)))
    spans = (_trimmed(text, start, end) for start, end in pairwise([*cuts, len(text)]))
    return [(start, end) for start, end in spans if start < end]


def sentences(text: str) -> list[str]:
    """The sentences of `text`, each on one line."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _is_end(text: str, gap: re.Match[str], begin: int) -> bool:
    """Whether the sentence that began at `begin` ends at this gap."""
    lines = text.count("\n", gap.end(1), gap.end())
    if gap.end(1) < 0 or lines > 1:
        return True
    beginning = _BEGINNING.match(text, gap.end(), gap.end() + _BEGINNING_CHARACTERS_MAX)
    following = beginning[1] if beginning else ""
    if not lines and (not following or following[0].islower()):
        return False
    before = _LAST_WORD.search(text, max(begin, gap.start() - _ABBREVIATION_CHARACTERS_MAX), gap.start())
    if before is None:
        return True
    if before[1].isdigit() and len(before[1]) <= _ORDINAL_DIGITS_MAX:
        # the number of what is listed; an ordinal
        is_listed = before.start() - begin <= _INDENT_MAX and not text[begin : before.start()].strip()
        return not is_listed and following.lower() not in _abbreviations()["ordinals"]
    return _ends_with(before[1], following, is_line=lines > 0)


def _ends_with(word: str, following: str, *, is_line: bool) -> bool:
    """Whether a sentence may end with this word and a full stop, before that one."""
    known = _abbreviations()
    if word in known["never"] or (word in known["before_number"] and following[:1].isdigit()):
        return False
    if word in known["may_end"] or _LETTERS.fullmatch(word):
        return is_line or following.lower() in known["begins"]
    return True


@cache
def _abbreviations() -> dict[str, frozenset[str]]:
    """The lists of all languages, by what they say."""
    text = files("quarry.language").joinpath("data/abbreviations.toml").read_text(encoding="utf-8")
    listed: dict[str, frozenset[str]] = defaultdict(frozenset)
    for lists in tomllib.loads(text).values():
        for name, words in lists.items():
            listed[name] |= frozenset(re.split(r"[,\s]+", words.strip()))
    return listed
