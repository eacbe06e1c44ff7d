"""The language of a question, English, German or French, by a log-linear model of its words and their letters; and
the reading and scoring of such models. Pure.

Languages go by the names of Postgres' text search configurations.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal, TypeVar

Weights = Mapping[str, Mapping[str, float]]
"""The weight of each piece of named evidence for each of its targets."""
Target = TypeVar("Target", bound=str)


def stored_weights(package: str, file: str) -> Weights:
    """Reads weights from a package's folder `weights`: JSON compressed with zlib, since most of it is repeated words."""
    from importlib.resources import files

    weights: Weights = json.loads(zlib.decompress((files(package) / "weights" / file).read_bytes()))
    return weights


def packed_weights(weights: Weights) -> bytes:
    """Weights in the format that `stored_weights` reads."""
    return zlib.compress(json.dumps(weights, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(), 9)


def softmax(scores: Sequence[float]) -> list[float]:
    """Turns scores into probabilities."""
    if not scores:
        return []
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def chances_of(evidence: Sequence[str], targets: Sequence[Target], weights: Weights) -> dict[Target, float]:
    """The probability of each target, given the evidence."""
    fitted = [weights[each] for each in evidence if each in weights]
    chances = softmax([sum(each.get(target, 0.0) for each in fitted) for target in targets])
    return dict(zip(targets, chances, strict=True))


Language = Literal["english", "german", "french"]
"""A language that answers are given in."""
TARGETS = ("english", "german", "french", "other")
CODES: dict[str, Language] = {"en": "english", "de": "german", "fr": "french"}
"""Languages by their ISO 639-1 code."""

WEIGHTS_FILE = "languages.bin"
"""Written by `tools.fit.languages`."""
SURE = 0.8
"""From this chance on a language is certain. `tools.fit.languages` prints how often it is then right."""
POSSIBLE = 0.03
"""From this chance on a language is possible."""
CHARACTERS_MAX = 400
"""The beginning of a question, which is read."""
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]))?")


def language_of(question: str) -> Language | None:
    """The language of a question; None where it is uncertain, or another one."""
    chances = _chances(question)
    return next((each for each in CODES.values() if chances[each] >= SURE), None)


def possible_languages(question: str) -> tuple[Language, ...]:
    """The languages that a question may be in; English with others unless one is certain."""
    chances = _chances(question)
    sure = language_of(question)
    return (sure,) if sure else tuple(each for each in CODES.values() if each == "english" or chances[each] >= POSSIBLE)


def is_likely_english(question: str) -> bool:
    """Whether a question is more likely English than another language; true of a single word, which may be a name."""
    chances = _chances(question)
    return len(question.split()) < 2 or max(chances, key=lambda each: chances[each]) == "english"


@lru_cache(maxsize=1_000)
def _chances(question: str) -> Mapping[str, float]:
    return chances_of([*evidence_of(question)], TARGETS, _weights())


def evidence_of(question: str) -> Iterator[str]:
    """What tells the language of a question: its words, and three letters in a row at the edges of each."""
    words = dict.fromkeys(match.group() for match in _WORD.finditer(question[:CHARACTERS_MAX].lower()))
    for word in words:
        yield f"={word}"
        padded = f" {word} "
        yield from dict.fromkeys(padded[place : place + 3] for place in range(len(padded) - 2))


@cache
def _weights() -> Weights:
    return stored_weights("quarry.language", WEIGHTS_FILE)
