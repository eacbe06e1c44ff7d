"""Stems of English words: those that Postgres' `english_stem` makes, so that what is read and what is searched agree."""

from __future__ import annotations

import threading
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

from quarry.language.tokens import keys

STEMS_KEPT = 16_384
STEMMED_CHARACTERS_MAX = 100
"""A longer word is no word of English: it stands for itself."""


@lru_cache(maxsize=STEMS_KEPT)
def stem(word: str) -> str:
    """The stem of one word, in lower case. Stop words, which Postgres drops, have one too."""
    return str(_stemmer().stemWord(word.lower())) if len(word) <= STEMMED_CHARACTERS_MAX else word.lower()


def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text's words."""
    return tuple(stem(key) for key in keys(text))


def stem_set(words: str) -> frozenset[str]:
    """The stems of words that stand apart by spaces."""
    return frozenset(map(stem, words.split()))


_local = threading.local()


def _stemmer() -> EnglishStemmer:
    """This thread's own: a stemmer keeps the word at hand, so that two threads must not share one."""
    if not hasattr(_local, "stemmer"):
        _local.stemmer = EnglishStemmer()
    stemmer: EnglishStemmer = _local.stemmer
    return stemmer
