"""The words and sentences of a text with their positions, and the forms in which two words are equal: folded, or stemmed.

Stems are those of Postgres' `english_stem`, so reading and searching agree.

A full stop after an abbreviation or initial does not end a sentence. `data/abbreviations.toml` lists abbreviations by language.
The language of a text is not known here, so the lists of all languages apply. Finding sentences takes linear time.
"""

from __future__ import annotations

import re
import threading
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from snowballstemmer.english_stemmer import EnglishStemmer

# A word may hold dots and apostrophes ("node.js", "o'brien") and end in signs ("c++", "c#"); ".net" begins with its dot.
_TOKEN = re.compile(r"(?:(?<![^\W_])\.(?=[^\W\d_]))?[^\W_]+(?:['’.][^\W_]+)*(?:\+\+|#)?|[&@]")
_CLAUSE_END = re.compile(r"[,;:!?()\n\[\]]|\.(?:\s|$)|\s[-–—]\s")

CODE_DIGITS_MIN = 3
"""Fewest digits of a code: "B2B" and "COVID-19" are not codes."""
_AROUND = ".,;:!?()'’\""
TITLE_CASE_SHARE_MIN = 0.7
TITLE_CASE_WORDS_MIN = 3


@dataclass(frozen=True)
class Token:
    """A word at `text[start:end]` of the query. `key` is its form for comparison. `ends_clause`: punctuation comes before it."""

    text: str
    key: str
    start: int
    end: int
    ends_clause: bool

    @property
    def is_capital(self) -> bool:
        return self.text.lstrip(".")[:1].isupper()


def tokenise(text: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        gap = text[end : match.start()]
        tokens.append(
            Token(match.group(), fold(match.group()), match.start(), match.end(), bool(_CLAUSE_END.search(gap)))
        )
        end = match.end()
    return tuple(tokens)


def fold(word: str) -> str:
    """A word without case, accents and possessive ending; `&` is "and"."""
    if word == "&":
        return "and"
    return without_accents(word.lower().replace("’", "'")).removesuffix("'s")


def without_accents(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def keys(text: str) -> tuple[str, ...]:
    """The words of a name in their form for comparison."""
    return tuple(fold(match.group()) for match in _TOKEN.finditer(text))


def is_code(word: str) -> bool:
    """Whether a word's letters and digits make it the code of one thing: "AB-1017", "K20415"."""
    is_whole = all(part.isalnum() for part in word.split("-"))
    return is_whole and any(map(str.isalpha, word)) and sum(map(str.isdigit, word)) >= CODE_DIGITS_MIN


def codes_in(text: str) -> list[str]:
    """The codes among the words of a text, without the characters around them."""
    return [word for word in (each.strip(_AROUND) for each in text.split()) if is_code(word)]


def says_something_by_case(tokens: Sequence[Token]) -> bool:
    """Whether capitals mark names in this text: some words have them, but not nearly all."""
    alphabetic = [token for token in tokens if token.text[:1].isalpha()]
    capitals = sum(token.is_capital for token in alphabetic)
    if capitals == 0:
        return False
    return len(alphabetic) <= TITLE_CASE_WORDS_MIN or capitals < TITLE_CASE_SHARE_MIN * len(alphabetic)


def unique(values: Iterable[str], key: Callable[[str], Hashable] = str) -> tuple[str, ...]:
    """The non-empty values, without duplicates: the first of those with the same key."""
    kept: dict[Hashable, str] = {}
    for value in values:
        if value:
            kept.setdefault(key(value), value)
    return tuple(kept.values())


STEMS_KEPT = 16_384
STEMMED_CHARACTERS_MAX = 100
"""A longer word is not an English word and is not stemmed."""


@lru_cache(maxsize=STEMS_KEPT)
def stem(word: str) -> str:
    """The stem of one lower-case word. Stop words, which Postgres drops, also have one."""
    return str(_stemmer().stemWord(word.lower())) if len(word) <= STEMMED_CHARACTERS_MAX else word.lower()


def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text's words."""
    return tuple(stem(key) for key in keys(text))


_local = threading.local()


def _stemmer() -> EnglishStemmer:
    """A stemmer per thread: it keeps the current word, so threads must not share one."""
    if not hasattr(_local, "stemmer"):
        _local.stemmer = EnglishStemmer()
    stemmer: EnglishStemmer = _local.stemmer
    return stemmer


def slips(word: str, other: str) -> int:
    """The number of typos between two words: missing, extra or wrong letters, and swapped neighbours."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, start=1):
        before, above, row = row, before, [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == wanted:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]


def phrase(text: str, tokens: Sequence[Token], first: int, last: int) -> str:
    """The words from `first` to before `last` as written in the text."""
    return text[tokens[first].start : tokens[last - 1].end]


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """The runs of adjacent words in a bit mask: the first word of each, and the one after its last."""
    first = 0
    while mask >> first:
        last = first
        while mask >> last & 1:
            last += 1
        if last > first:
            yield first, last
        first = last + 1


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
    """The start and end of each sentence, without the white space around it. A citation after a full stop belongs to it."""
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
        # the number of a list item; an ordinal
        is_listed = before.start() - begin <= _INDENT_MAX and not text[begin : before.start()].strip()
        return not is_listed and following.lower() not in _abbreviations()["ordinals"]
    return _ends_with(before[1], following, is_line=lines > 0)


def _ends_with(word: str, following: str, *, is_line: bool) -> bool:
    """Whether a sentence may end with this word and a full stop, before the following word."""
    known = _abbreviations()
    if word in known["never"] or (word in known["before_number"] and following[:1].isdigit()):
        return False
    if word in known["may_end"] or _LETTERS.fullmatch(word):
        return is_line or following.lower() in known["begins"]
    return True


@cache
def _abbreviations() -> dict[str, frozenset[str]]:
    """The lists of all languages, by kind."""
    text = files("quarry.language").joinpath("data/abbreviations.toml").read_text(encoding="utf-8")
    listed: dict[str, frozenset[str]] = defaultdict(frozenset)
    for lists in tomllib.loads(text).values():
        for name, words in lists.items():
            listed[name] |= frozenset(re.split(r"[,\s]+", words.strip()))
    return listed
