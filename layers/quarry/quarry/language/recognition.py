"""The language of a question, English, German or French, by a log-linear model of its words and their letters. Pure.

Languages go by the names of Postgres' text search configurations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Literal

from quarry.language.log_linear import Weights, chances_of, stored_weights

Language = Literal["english", "german", "french"]
"""A language that answers are given in."""
TARGETS = ("english", "german", "french", "other")
CODES: dict[str, Language] = {"en": "english", "de": "german", "fr": "french"}
"""Languages by their ISO 639-1 code."""

WEIGHTS_FILE = "languages.bin"
"""Written by `tools.fit.languages`."""
SURE = 0.8
"""From this chance on a language is certain. `tools.fit.languages` prints how often it is then right."""
CHARACTERS_MAX = 400
"""The beginning of a question, which is read."""
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]))?")


def language_of(question: str) -> Language | None:
    """The language of a question; None where it is uncertain, or another one."""
    chances = _chances(question)
    return next((each for each in CODES.values() if chances[each] >= SURE), None)


def is_likely_english(question: str) -> bool:
    """Whether a question is more likely English than another language; true of a single word, which may be a name."""
    chances = _chances(question)
    return len(question.split()) < 2 or max(chances, key=lambda each: chances[each]) == "english"


@lru_cache(maxsize=1_000)
def _chances(question: str) -> Mapping[str, float]:
    return chances_of([*evidence_of(question)], TARGETS, _weights())


def evidence_of(question: str) -> Iterator[str]:
    """What tells the language of a question: its words, and three letters in a row at the edges of each."""
    found = dict.fromkeys(match.group() for match in _WORD.finditer(question[:CHARACTERS_MAX].lower()))
    for word in found:
        yield f"={word}"
        padded = f" {word} "
        yield from dict.fromkeys(padded[place : place + 3] for place in range(len(padded) - 2))


@cache
def _weights() -> Weights:
    return stored_weights("quarry.language", WEIGHTS_FILE)
