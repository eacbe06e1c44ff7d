"""The names in a statement, and whether its evidence has them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Set

from quarry.language.word_forms import is_everyday
from quarry.platform.text import STOP_WORDS
from quarry.spans.quantities import currency_code
from quarry.verification.passages import NAME

_RUN = re.compile(rf"(?:{NAME.pattern})(?:[ -](?:(?:de|van|von|der|of the|of|and the|&) )?(?:{NAME.pattern}))*")
_INSIDE = re.compile(r"[\w,;:)\]–-]\s$|[(“\"„]$")
_POSSESSIVE = re.compile(r"['’]s?$")


def names_in(text: str, known: Set[str]) -> Iterator[tuple[str, ...]]:
    """The names in a text, each as its words in lower case: words with a capital, without one that only begins a sentence. A word
    that begins one is part of a name if it is `known` as such, or no common word.
    """
    if not any(letter.isupper() for letter in text):
        return
    for match in _RUN.finditer(text):
        words = [
            _POSSESSIVE.sub("", word) for word in re.split(r"[ -]", match.group()) if not any(map(str.isdigit, word))
        ]
        if not words:
            continue
        begins = not _INSIDE.search(text[: match.start()])
        first = words[0].lower()
        if begins and first not in known and (first in STOP_WORDS or is_everyday(first) or len(words) == 1):
            words = words[1:] if first in STOP_WORDS or is_everyday(first) else words
        name = tuple(
            word.lower() for word in words if word and word.lower() not in _NO_NAMES and not currency_code(word.lower())
        )
        if name and not (len(name) == 1 and len(name[0]) == 1):
            yield name


_NO_NAMES = frozenset("i mr mrs ms dr prof q1 q2 q3 q4 of the and van von de der & a.m p.m".split())


def has_name(name: tuple[str, ...], folded: str, words: Collection[str]) -> bool:
    """Whether a text has a name: all of its words that are no common ones or, where it has only common ones, all. One that ends
    in a letter ("Building C") stands there as a whole.
    """
    if len(name) > 1 and len(name[-1]) == 1:
        return f" {' '.join(name)} " in folded
    parts = [part for word in name for part in re.split(r"[-.&’']", word) if part]
    rare = [part for part in parts if not is_everyday(part)] or parts
    return all(part in words or f"{part}s" in words or part.removesuffix("s") in words for part in rare)


def named(name: tuple[str, ...]) -> str:
    """A name as a reason writes it."""
    return " ".join(word.capitalize() for word in name)
