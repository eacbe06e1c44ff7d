"""The words for times in the languages of a text: `data/times/LANGUAGE.toml`, and the months' names of `language/writing`.

A file lists words of one meaning between commas; a list goes from January, from Monday, from spring or from the first.
`articles` and `of` may stand before a time and its year; `short_months` need their full stop, a day or a year; words that are
`not_alone` are other words without a year or a word such as "last". Adjectives (`this`, `current`, `last`, `next`, `ordinals`)
take `endings`, and `plural_endings` for several. `rolling` is "last" counted to the day. `before` are single words for the last
unit ("Vorjahr"); `away` are days by their distance from today; `ending` may follow a unit ("mois-ci"). Where `adjectives_follow`
holds, they may stand behind the noun, and a number before them ("le mois dernier", "ces 3 derniers mois"). Umlauts may be written
with e, and accents left out.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from quarry.language.recognition import Language
from quarry.language.writing import number_words, writing_of

COUNTED_MAX = 12
"""The largest number in words that counts units of time."""
FEW, COUPLE = 3, 2
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "ae", "Ö": "oe", "Ü": "ue"})


def without_marks(text: str) -> str:
    """A text of the same length, its letters without accents."""
    if text.isascii():
        return text
    return "".join(each if each.isascii() else unicodedata.normalize("NFD", each)[0] for each in text)


def one_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first; one that never matches without any."""
    forms = sorted(dict.fromkeys(words), key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(_pattern, forms))})" if forms else r"(?!)"


def _pattern(word: str) -> str:
    return re.escape(word).replace(r"\ ", r"\s++").replace("'", "['’]")


def listed_form(match: str | None) -> str:
    """Words as they stand in the lists."""
    return " ".join((match or "").lower().replace("’", "'").split()).rstrip(".")


class TimeWords:
    """The words of some languages. Mappings go from a word, in lower case without accents, to what it means."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._files = [(each, _file_of(each)) for each in languages]
        self.is_english = "english" in languages
        self.months = self._numbered("months")
        for language, _ in self._files:
            names = enumerate(writing_of(language).months, 1)
            self.months |= {form: number for number, name in names for form in _forms(name)}
        self.short_months = self._numbered("short_months")
        self.weekdays = self._numbered("weekdays")
        self.seasons = {word: 3 * number for word, number in self._numbered("seasons").items()}
        self.ordinals = self._numbered("ordinals", "endings", "plural_endings")
        self.day_signs = self.listed("day_signs")
        self.units, self.plurals, self.before = (
            self._by_unit("units"),
            self._by_unit("plurals"),
            self._by_unit("before"),
        )
        self.near = {form: away for name, away in _NEAR for form in self.listed(name, "endings", "plural_endings")}
        self.rolling = frozenset(self.listed("rolling"))
        self.several = frozenset(self._several())
        self.following = {
            word: self.near[word] for name in ("current", "last", "next") for word in self._following(name)
        }
        self.counts = self._counts()
        self.away = {form: int(days) for days, words in self._tables("away") for form in words}
        self.parts = {form: part for part in ("early", "middle", "late") for form in self.listed(part)}

    def listed(self, name: str, *endings: str) -> list[str]:
        """The words under a name, with each ending as well."""
        return [form for _, words in self._files for form in _inflected(words, words.get(name, ""), endings)]

    def may(self, name: str) -> bool:
        """Whether one of the languages has a property."""
        return any(words.get(name) for _, words in self._files)

    def _numbered(self, name: str, *endings: str) -> dict[str, int]:
        return {
            form: number
            for _, words in self._files
            for number, listed in enumerate(words.get(name, ()), 1)
            for form in _inflected(words, listed, endings)
        }

    def _tables(self, name: str) -> Iterator[tuple[str, list[str]]]:
        for _, words in self._files:
            for key, listed in words.get(name, {}).items():
                yield key, _split(listed)

    def _by_unit(self, name: str) -> dict[str, str]:
        return {form: unit for unit, words in self._tables(name) for form in words}

    def _several(self) -> Iterator[str]:
        """The plurals that mean several without a number, where adjectives agree: "in den letzten Jahren", "derniers mois"."""
        for _, words in self._files:
            if words.get("endings"):
                yield from (form for each in words["plurals"].values() for form in _split(each))
                for name in ("last", "next") if words.get("plural_endings") else ():
                    yield from set(_inflected(words, words[name], ["plural_endings"])) - set(_split(words[name]))

    def _following(self, name: str) -> Iterator[str]:
        for _, words in self._files:
            if words.get("adjectives_follow"):
                yield from _inflected(words, words.get(name, ""), ("endings", "plural_endings"))

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = number_words(1, COUNTED_MAX)
        for language, _ in self._files:
            counts |= number_words_of(language)
        fixed = (("few", FEW), ("couple", COUPLE), ("one", 1))
        return counts | {form: number for name, number in fixed for form in self.listed(name)}


_NEAR = (("this", 0), ("current", 0), ("last", -1), ("rolling", -1), ("next", 1))


@cache
def time_words(languages: tuple[Language, ...]) -> TimeWords:
    """The words of some languages, together."""
    return TimeWords(languages)


@cache
def number_words_of(language: Language) -> dict[str, int]:
    """The words for two to twelve in another language than English. That for one is also an article, and left out."""
    numbers = enumerate(_file_of(language).get("numbers", "").split(", "), 2)
    return {form: number for number, word in numbers for form in _forms(word) if form}


@cache
def _file_of(language: str) -> Mapping[str, Any]:
    text = files("quarry.spans").joinpath(f"data/times/{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _split(listed: str) -> list[str]:
    return [form for word in listed.split(", ") if word for form in _forms(word)]


def _forms(word: str) -> list[str]:
    """How a word may be written: "märz" is also "marz" and "maerz"."""
    lower = word.lower()
    return list(dict.fromkeys((without_marks(lower), without_marks(lower.translate(_UMLAUTS)))))


def _inflected(words: Mapping[str, Any], listed: str, endings: Sequence[str]) -> list[str]:
    ends = ["", *(end for name in endings for end in _split(words.get(name, "")))]
    return [word + end for word in _split(listed) for end in ends]
