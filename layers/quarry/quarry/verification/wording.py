"""What the check knows of a language, read from `data/`: opposites, negations, words of comparison and arithmetic."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from quarry.language.word_forms import STOP_WORDS, stem
from quarry.language.writing import number_words
from quarry.platform.text import words

_NUMBERS = number_words(0, 99)


class Wording(NamedTuple):
    """The words of one language by what they say. Patterns match in lower-case text."""

    opposites: tuple[tuple[frozenset[str], frozenset[str]], ...]
    same: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]
    fractions: Mapping[str, float]
    numerators: Mapping[str, int]
    rates: Mapping[str, str]
    exclusive: frozenset[str]
    units: Mapping[str, str]
    in_favour: re.Pattern[str]
    opposed: re.Pattern[str]
    among: re.Pattern[str]
    rate: re.Pattern[str]
    fraction: re.Pattern[str]

    prefixes: tuple[str, ...]
    data_stems: frozenset[str]

    def denies(self, word: str) -> bool:
        """Whether a word denies what stands behind it."""
        return word in self.sets["negations"] or word in self.sets["refusals"] or word.endswith("n't")

    def stem(self, word: str) -> str:
        """The stem of a word, or of one that says the same."""
        if "'" in word:
            word = word.removesuffix("'s")
        root = stem(word)
        return self.same.get(root, root)

    def stem_list(self, text: str) -> list[str]:
        """The stems of the words that carry meaning, in order."""
        return [
            self.stem(word)
            for word in words(text)
            if word not in STOP_WORDS and not word[0].isdigit() and word not in _NUMBERS
        ]

    def has(self, kind: str, words: Iterable[str]) -> bool:
        """Whether one of the words is of this kind."""
        return not self.sets[kind].isdisjoint(words)

    def is_negated(self, words: Iterable[str]) -> bool:
        """Whether one of the words denies."""
        return any(word in self.sets["negations"] or word.endswith("n't") for word in words)

    def may_deny(self, words: Iterable[str]) -> bool:
        """Whether one of the words denies, or stands for a denial."""
        return any(
            word in self.sets["negations"] or word in self.sets["denials"] or word.endswith("n't") for word in words
        )

    def stems(self, text: str) -> frozenset[str]:
        """The stems of the words of a text that carry meaning. Words that say the same have one stem; numbers have none."""
        return frozenset(
            map(self.stem, {word for word in words(text) if word not in STOP_WORDS and not word[0].isdigit()})
        )


@cache
def english() -> Wording:
    """The words of English."""
    return _read("english")


def side_of(text: str) -> bool | None:
    """True for, False against; None where a text, in lower case, says neither or both."""
    is_against, is_for = english().opposed.search(text) is not None, english().in_favour.search(text) is not None
    return None if is_against == is_for else is_for


def _read(language: str) -> Wording:
    data = tomllib.loads(files("quarry.verification").joinpath(f"data/{language}.toml").read_text(encoding="utf-8"))
    listed = {
        name: frozenset(value.split()) for name, value in data.items() if isinstance(value, str) and "|" not in value
    }
    rate_words = "|".join(data["rates"])
    of = "|".join(sorted(data["fractions"], key=len, reverse=True))
    numerators = "|".join(data["numerators"])
    return Wording(
        opposites=tuple((frozenset(one.split()), frozenset(two.split())) for one, two in data["opposites"]),
        same=_groups(data["same"]),
        sets=listed,
        fractions=data["fractions"],
        numerators=data["numerators"],
        rates=data["rates"],
        prefixes=tuple(data["prefixes"].split()),
        data_stems=frozenset(map(stem, f"{data['about_data']} {data['checked_apart']}".split())),
        exclusive=frozenset(word for group in data["exclusive"] for word in group.split()),
        units={word: group.split()[0] for group in data["units"] for word in group.split()},
        in_favour=_pattern(data["for"], r"|^for:"),
        opposed=_pattern(data["against"], r"|^against:"),
        among=_pattern(data["among"]),
        rate=re.compile(rf"\b(?:(?:{'|'.join(data['per'].split())}) ({rate_words})|(\w+ly|annual))\b"),
        fraction=re.compile(rf"\b(?:({numerators})[ -](?:{of})|(half)(?! past| of the year|-))\b(?! of (?:19|20)\d\d)"),
    )


def _groups(groups: Iterable[str]) -> dict[str, str]:
    return {stem(word): stem(group.split()[0]) for group in groups for word in group.split()}


def _pattern(choices: Any, more: str = "") -> re.Pattern[str]:
    return re.compile(rf"\b(?:{choices})\b{more}")
