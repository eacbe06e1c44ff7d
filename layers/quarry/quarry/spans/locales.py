"""Questions in other languages than English: the words that frame them, and dates and numbers as they write these, in English.

The reader of questions knows English alone. A question in a language that `data/locales` has a file of is rendered for it:
what frames it is put into English, what it is about is left as it is. What is read is then put back to the characters that said
it, so that nothing behind the reader sees another text than the one that was asked.

A question is read in the language, among English and those of the rows that it is asked of, that has most of its words; where
that is undecided, in the rows' own if they are all in one, else in English.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files

from quarry.language.numerals import number_words
from quarry.language.tokens import fold, keys
from quarry.platform.text import STOP_WORDS
from quarry.spans.date_points import MONTH_NAMES, SEASONS, WEEKDAYS
from quarry.spans.mention import ParsedQuery

_WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]))?")
_QUOTED = re.compile(r"[\"“”„«][^\"“”„«»]*[\"“”»]?")
_DIGIT = re.compile(r"\s?\d")
PHRASE_WORDS_MAX = 6


@dataclass(frozen=True)
class Locale:
    """A language: what its phrases are in English, by their words; `before_time`: before a number, a month or a year.
    `frames` are phrases around counts and times ("vor drei Tagen"), each with what it is in English.

    `says_names_by_case`: whether a capital marks a name within a sentence; German writes all nouns so.
    """

    language: str
    words: Mapping[tuple[str, ...], str]
    before_time: Mapping[tuple[str, ...], str]
    frames: Mapping[str, str]
    numbers: re.Pattern[str]
    says_names_by_case: bool = True

    @cached_property
    def _framed(self) -> Sequence[tuple[re.Pattern[str], str]]:
        """Patterns of the frames, those of most words first."""
        slots = {name: self._slot(name) for name in _SLOTS}
        ordered = sorted(self.frames.items(), key=lambda frame: -len(frame[0].split()))
        return [(_frame_pattern(phrase, slots), english) for phrase, english in ordered]

    def _slot(self, name: str) -> str:
        """A pattern for the words that may stand in a frame's slot."""
        words = {" ".join(phrase) for phrase, english in self.words.items() if english in _SLOTS[name]}
        listed = "|".join(r"\s".join(map(re.escape, each.split())) for each in sorted(words, key=len, reverse=True))
        return rf"(\d{{1,4}}|{listed})" if name == "count" else f"({listed})"

    @cached_property
    def _times(self) -> frozenset[str]:
        return frozenset(phrase[0] for phrase, english in self.words.items() if english in _TIMES)

    def known(self, text: str) -> int:
        """How many words of `text` are among those that frame questions in this language."""
        return sum(last - first for first, last, _ in self._found(_words(text), text))

    def small_talk(self, text: str) -> frozenset[str]:
        """The words of `text` that carry no topic, in lower case."""
        words = _words(text)
        return frozenset(
            word.group().lower().rstrip("'’")
            for first, last, english in self._found(words, text)
            for word in words[first:last]
            if set(english.split()) <= STOP_WORDS - _TIMES
        )

    def render(self, text: str) -> Rendering:
        """`text` as the reader of questions understands it."""
        words = _words(text)
        changed = [*self._in_frames(text)]
        taken = _mask(text, [(start, end) for start, end, _ in changed])
        changed += [each for each in self._numerals(text) if not any(taken[each[0] : each[1]])]
        taken = _mask(text, [(start, end) for start, end, _ in changed])
        for first, last, english in self._found(words, text):
            start, end = words[first].start(), words[last - 1].end()
            if english in _SCALES and text[end : end + 1] == ".":
                end += 1
            if not any(taken[start:end]):
                changed.append((start, end, english + " " * text[start:end].endswith(("'", "’"))))
        return _rendering(text, sorted(changed), str if self.says_names_by_case else _lowered)

    def _found(self, words: Sequence[re.Match[str]], text: str) -> Iterator[tuple[int, int, str]]:
        """The longest phrases, apart, as the places of their words, with what they are in English."""
        exact = [word.group().lower().replace("’", "'") for word in words]
        place = 0
        while place < len(words):
            for length in range(min(PHRASE_WORDS_MAX, len(words) - place), 0, -1):
                phrase = tuple(exact[place : place + length])
                english = self._meaning(phrase, text, words[place + length - 1].end())
                if english is not None:
                    yield place, place + length, english
                    place += length
                    break
            else:
                place += 1

    def _meaning(self, phrase: tuple[str, ...], text: str, end: int) -> str | None:
        folded = tuple(map(fold, phrase))
        before_time = self.before_time.get(phrase) or self.before_time.get(folded)
        if before_time and self._is_before_time(text, end):
            return before_time
        return self.words.get(phrase) or self.words.get(folded)

    def _is_before_time(self, text: str, end: int) -> bool:
        following = _WORD.match(text, end + 1) if text[end : end + 1] == " " else None
        return bool(_DIGIT.match(text, end)) or (following is not None and following.group().lower() in self._times)

    def _in_frames(self, text: str) -> Iterator[tuple[int, int, str]]:
        taken = _quoted(text)
        for pattern, english in self._framed:
            for match in pattern.finditer(text):
                if not any(taken[match.start() : match.end()]):
                    taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
                    yield match.start(), match.end(), english.format(*map(self._in_slot, match.groups()))

    def _in_slot(self, said: str) -> str:
        phrase = tuple(said.lower().split())
        return said if said.isdigit() else self.words.get(phrase) or self.words[tuple(map(fold, phrase))]

    def _numerals(self, text: str) -> Iterator[tuple[int, int, str]]:
        quoted = _quoted(text)
        for match in self.numbers.finditer(text):
            if not quoted[match.start()]:
                yield match.start(), match.end(), _numeral(match)


def _numeral(match: re.Match[str]) -> str:
    if match["day"]:
        return f"{match['year']}-{int(match['month']):02}-{int(match['day']):02}"
    if match["ordinal"]:
        return match["ordinal"]
    return re.sub(r"[^\d,]", "", match["number"]).replace(",", ".")


@dataclass(frozen=True)
class _Piece:
    """Characters of a rendering from `start` on, and those of the text that they stand for; `is_same`: one for one."""

    start: int
    said: tuple[int, int]
    is_same: bool


@dataclass(frozen=True)
class Rendering:
    """A text in English, and what each of its characters stands for."""

    said: str
    text: str
    pieces: Sequence[_Piece]
    small_talk: frozenset[str] = frozenset()

    def put_back(self, parsed: ParsedQuery) -> ParsedQuery:
        """What was read of the rendering, with the text as it was said and the places there."""
        starts = [piece.start for piece in self.pieces]

        def place(at: int, is_end: bool) -> int:
            piece = self.pieces[max(0, bisect_right(starts, at - is_end) - 1)]
            if piece.is_same:
                return piece.said[0] + at - piece.start
            # the first mention of a phrase has all of its characters
            return piece.said[is_end or at > piece.start]

        return replace(
            parsed,
            text=self.said,
            tokens=tuple(replace(t, start=place(t.start, False), end=place(t.end, True)) for t in parsed.tokens),
            mentions=tuple(
                replace(each, start=place(each.start, False), end=place(each.end, True)) for each in parsed.mentions
            ),
            small_talk=self.small_talk,
        )


def _rendering(text: str, changed: Sequence[tuple[int, int, str]], verbatim: Callable[[str], str]) -> Rendering:
    pieces: list[_Piece] = []
    parts: list[str] = []
    length, end = 0, 0
    for start, stop, english in [*changed, (len(text), len(text), "")]:
        if start > end:
            pieces.append(_Piece(length, (end, start), True))
            parts.append(verbatim(text[end:start]))
            length += start - end
        if stop > start:
            pieces.append(_Piece(length, (start, stop), False))
            parts.append(english)
            length += len(english)
        end = stop
    return Rendering(text, "".join(parts), pieces)


def _lowered(text: str) -> str:
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in text)


def _words(text: str) -> list[re.Match[str]]:
    """The words of a text but for those in quotation marks; an elided article ("l'") is one by itself."""
    quoted = _quoted(text)
    return [word for word in _WORD.finditer(text) if not quoted[word.start()]]


def _quoted(text: str) -> bytearray:
    return _mask(text, [match.span() for match in _QUOTED.finditer(text)])


def _mask(text: str, spans: Sequence[tuple[int, int]]) -> bytearray:
    """For each character of a text whether it is in one of the spans, which are apart."""
    mask = bytearray(len(text))
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
    return mask


_SCALES = frozenset(("thousand", "million", "billion"))
"""They are abbreviated with a dot."""
_UNITS = ("day", "week", "month", "quarter", "year", "decade")
_COUNTS = ("a", "few", *number_words(2, 12))
_SLOTS: Mapping[str, frozenset[str]] = {
    "count": frozenset(_COUNTS),
    "unit": frozenset([*_UNITS, *(f"{unit}s" for unit in _UNITS)]),
    "weekday": frozenset(WEEKDAYS),
    "month": frozenset([*MONTH_NAMES, *SEASONS]),
}
"""What may stand in a frame: the English of a word."""
_SLOT = re.compile(r"\{(\w+)\}")
_TIMES = frozenset([*MONTH_NAMES, *SEASONS, *WEEKDAYS, *"early mid late last today yesterday tomorrow".split()])


def _frame_pattern(phrase: str, slots: Mapping[str, str]) -> re.Pattern[str]:
    parts = [slots[part] if place % 2 else re.escape(part) for place, part in enumerate(_SLOT.split(phrase))]
    spaced = "".join(parts).replace("\\ ", r"\s").replace("'", "['’]")
    return re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)


_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?P<month>0?[1-9]|1[0-2])"
_NUMBERS: Mapping[str, str] = {
    # 3.5.2024; the dot of "3. Mai"; 1.500,50; 2,5
    "german": rf"(?<![\d.,]){_DAY}\.\s?{_MONTH}\.\s?(?P<year>[12]\d{{3}})(?![\d.])"
    r"|(?<![\d.,])(?P<ordinal>\d{1,2})\.(?=\s*[^\W\d_])"
    r"|(?<![\d.,])(?P<number>\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+)(?![\d.,]\d|\d)",
    # 3/5/2024, 3.5.2024; 1er; 1 500,50; 2,5
    "french": rf"(?<![\d./,]){_DAY}[./]{_MONTH}[./](?P<year>[12]\d{{3}})(?![\d./])"
    r"|\b(?P<ordinal>1)er\b"
    r"|(?<![\d.,])(?P<number>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:,\d+)?|\d+,\d+)(?![\d.,]\d|\d)",
}
_NOUNS_IN_CAPITALS = ("german",)


@cache
def locales() -> Mapping[str, Locale]:
    """The languages that questions are read in beside English, by their names as text search configurations have them."""
    return {
        language: Locale(
            language,
            _phrases(language, "words"),
            _phrases(language, "before_time"),
            _frames(language),
            re.compile(numbers, re.IGNORECASE),
            language not in _NOUNS_IN_CAPITALS,
        )
        for language, numbers in _NUMBERS.items()
    }


def _phrases(language: str, part: str) -> dict[tuple[str, ...], str]:
    """Phrases as they are written and, where that says nothing else, without accents."""
    exact: dict[tuple[str, ...], str] = {}
    for english, phrases in _file(language)[part].items():
        for phrase in phrases.split(","):
            exact[tuple(re.findall(r"[^\W\d_]+'?", phrase))] = english
    folded = {tuple(map(fold, phrase)): english for phrase, english in exact.items()}
    return folded | exact


def _frames(language: str) -> dict[str, str]:
    """Frames as they are written, and their English with places instead of names."""
    return {
        phrase.strip(): _SLOT.sub("{}", english)
        for english, phrases in _file(language)["frames"].items()
        for phrase in phrases.split(",")
    }


def _file(language: str) -> dict[str, dict[str, str]]:
    return tomllib.loads(files("quarry.spans").joinpath(f"data/locales/{language}.toml").read_text(encoding="utf-8"))


def render_question(text: str, languages: Sequence[str]) -> Rendering | None:
    """`text` as the reader understands it, where it is in another of these languages than English; else None."""
    candidates = [locales()[language] for language in dict.fromkeys(languages) if language in locales()]
    if not candidates:
        return None
    best = max(candidates, key=lambda locale: locale.known(text))
    known, english = best.known(text), sum(key in STOP_WORDS for key in keys(text))
    is_own = set(languages) == {best.language}
    if known < english or (known == english and not is_own):
        return None
    return replace(best.render(text), small_talk=best.small_talk(text))
