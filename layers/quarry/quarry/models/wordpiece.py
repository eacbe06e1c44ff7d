"""BERT's uncased WordPiece tokenizer: text in, numbers of vocabulary entries out.

The rules are those of BERT's `tokenization.py` (Devlin et al. 2018), as Hugging Face's `BertNormalizer`,
`BertPreTokenizer` and `WordPiece` apply them to all-MiniLM-L6-v2. One difference is deliberate: "[SEP]", "[MASK]" and the
like inside a text are read as plain text, so that a document or a query cannot contain control pieces.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Self

MAX_PIECES = 256
"""Pieces that the model reads of one text, [CLS] and [SEP] included; sentence-transformers sets the same limit."""

MAX_WORD_CHARACTERS = 100
"""A longer word becomes one [UNK], as in BERT."""

_CACHED_WORDS = 16_384

# Control, format, private and surrogate characters, and the accents that NFD has parted from their letters. Unassigned
# ones (Cn) stay: else an emoji newer than this Python's tables would be lost, and vectors would depend on the Python.
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs", "Mn"})

# Ideographs are written without spaces, so each stands alone. These are BERT's blocks, without kana and Hangul.
_IDEOGRAPHS = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B740),
    range(0x2B740, 0x2B820),
    range(0x2B820, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)


class WordPiece:
    """Splits text into the pieces of one vocabulary. Threads may share it.

    `vocabulary` maps each piece to its number and holds [CLS], [SEP] and [UNK] (else KeyError); a piece that continues
    a word begins with "##".
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._start, self._end, self._unknown = (vocabulary[piece] for piece in ("[CLS]", "[SEP]", "[UNK]"))
        self._longest_piece = max(map(len, vocabulary))
        # Words repeat: during a load nearly every one is found in the cache.
        self._cached_pieces = lru_cache(maxsize=_CACHED_WORDS)(self._match_longest_first)

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a `vocab.txt`: one piece a line, numbered from 0. Raises OSError or, for any other file, ValueError."""
        pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        try:
            return cls({piece: number for number, piece in enumerate(pieces)})
        except KeyError as error:
            raise ValueError(f"{path} lacks the piece {error}") from error

    def encode(self, text: str) -> list[int]:
        """The numbers of [CLS], the pieces of `text` and [SEP]: at most MAX_PIECES in all, the rest is left out."""
        numbers = [self._start]
        for word in split_words(text):
            if len(numbers) >= MAX_PIECES - 1:
                break
            numbers += self._pieces(word)
        del numbers[MAX_PIECES - 1 :]
        numbers.append(self._end)
        return numbers

    def _pieces(self, word: str) -> tuple[int, ...]:
        # Before the cache, so that no text can fill it with huge keys.
        return (self._unknown,) if len(word) > MAX_WORD_CHARACTERS else self._cached_pieces(word)

    def _match_longest_first(self, word: str) -> tuple[int, ...]:
        """Greedy WordPiece: the longest piece that begins the word, then the longest that begins the rest, to its end.

        When no piece fits somewhere, the whole word is one [UNK].
        """
        numbers: list[int] = []
        begin = 0
        while begin < len(word):
            prefix = "##" if begin else ""
            for end in range(min(len(word), begin + self._longest_piece), begin, -1):
                number = self._vocabulary.get(prefix + word[begin:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            numbers.append(number)
            begin = end
        return tuple(numbers)


def split_words(text: str) -> list[str]:
    """The words of `text` in lower case, without accents and control characters.

    A punctuation mark or an ideograph is a word of its own.
    """
    return unicodedata.normalize("NFD", text).translate(_CHARACTERS).split()


class _Characters(dict[int, str]):
    """A table for `str.translate`: the replacement of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        replacement = _replacement(chr(code))
        # Only the first 65,536 code points are kept, so that texts of rare characters cannot fill the memory.
        if code <= 0xFFFF:
            self[code] = replacement
        return replacement


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in {"Zs", "Zl", "Zp"}:
        return " "
    if category in _DROPPED or character == "\N{REPLACEMENT CHARACTER}":
        return ""
    if _stands_alone(character, category):
        return f" {character} "
    return character.lower()


def _stands_alone(character: str, category: str) -> bool:
    # BERT counts every ASCII sign as punctuation, also those that Unicode calls symbols: $ + < = > ^ ` | ~
    ascii_sign = character.isascii() and not character.isalnum()
    return ascii_sign or category.startswith("P") or any(ord(character) in block for block in _IDEOGRAPHS)


_CHARACTERS = _Characters()
