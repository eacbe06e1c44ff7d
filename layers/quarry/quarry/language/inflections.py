"""Other forms of a word in other languages than English: those that their stemmers, which Postgres has too, take for one word."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache

from snowballstemmer.french_stemmer import FrenchStemmer
from snowballstemmer.german_stemmer import GermanStemmer

WORD_CHARACTERS_MAX = 40
ROOT_CHARACTERS_MIN = 3

_STEMMERS = {"german": GermanStemmer, "french": FrenchStemmer}
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "german": ("", "e", "en", "er", "es", "em", "n", "s"),
    "french": ("", "e", "s", "es", "x"),
}
"""How inflected forms end."""


def inflections(word: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Candidates for other forms of a word (as it is compared) in those of these languages that are known; without itself."""
    known = (_inflections(word, language) for language in languages if language in _ENDINGS)
    return tuple(dict.fromkeys(form for forms in known for form in forms))


@lru_cache(maxsize=4096)
def _inflections(word: str, language: str) -> tuple[str, ...]:
    if not word.isalpha() or not ROOT_CHARACTERS_MIN < len(word) <= WORD_CHARACTERS_MAX:
        return ()
    endings, root = _ENDINGS[language], _root(word, language)
    bases = (word.removesuffix(ending) for ending in endings)
    base = min((each for each in bases if len(each) >= ROOT_CHARACTERS_MIN and _root(each, language) == root), key=len)
    forms = dict.fromkeys(each + ending for each in (base, word) for ending in endings)
    return tuple(form for form in forms if form != word and _root(form, language) == root)


def _root(word: str, language: str) -> str:
    """The stem, and of that the stem: without accents, endings of one word may be two for a stemmer."""
    stemmer = _stemmer(language)
    return str(stemmer.stemWord(stemmer.stemWord(word)))


_local = threading.local()


def _stemmer(language: str) -> GermanStemmer | FrenchStemmer:
    """This thread's own: a stemmer keeps the word at hand."""
    stemmers: dict[str, GermanStemmer | FrenchStemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = _STEMMERS[language]()
    return stemmers[language]
