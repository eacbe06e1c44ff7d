"""What of an answer its sources say: behind each citation the sentence it stands for, the passage of the source that supports it,
and whether that says it word for word. Pure, without a model, and linear in the length of answer and sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from quarry.core.language.sentences import sentence_spans
from quarry.core.language.stemming import stem
from quarry.core.text import STOP_WORDS, placed_words, significant_words
from quarry.records.candidates import RecordText
from quarry.records.contract import Citation

CHARACTERS_MAX = 20_000
"""So much of a source is looked at."""
QUOTE_SENTENCES_MAX = 2
QUOTE_CHARACTERS_MAX = 600
SUPPORTED_MIN = 0.5
"""A sentence is unsupported where no source that it cites holds this share of its significant words, in one passage."""
VERBATIM_WORDS_MIN = 4
"""Fewer words in a row are in many texts by chance: then they have to be all that is claimed."""

_MARKERS = re.compile(r"(?:\[\d{1,3}\] ?)+")
_SPACES = re.compile(r" +")
_NUMBER = re.compile(r"\d{1,3}")
_FENCE = re.compile(r"^\s*```")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")
_PLACES_MAX = 20
"""So many places of the same words are looked at."""
CITATIONS_MAX = 100
"""Of an answer's citations beyond these it is only told whether the source has their words at all: no passage, never verified."""
CLAIM_WORDS_MAX = 200
"""More of what a citation stands behind is not looked at."""
_SAYING = frozenset(
    "said says say asked asks told tells according explained noted stated added wrote writes put".split()
)
"""What tells who said something, beside what was said."""
_NO_CLAIM = STOP_WORDS | _SAYING
_DENIALS = frozenset({"not", "no", "never", "nor", "neither", "without", "none", "nobody", "nothing", "cannot"})


@dataclass(frozen=True)
class Support:
    """The citations of an answer in their order, and the sentences that no source supports which they cite."""

    citations: Sequence[Citation]
    unsupported: Sequence[str]


def support(answer: str, sources: Mapping[int, RecordText]) -> Support:
    """How the sources, by their numbers, support the answer that cites them."""
    read: dict[int, _Source] = {}
    citations: list[Citation] = []
    unsupported: list[str] = []
    for sentence in _cited_sentences(answer):
        found: list[Citation] = []
        plain = _plain(sentence)
        for claim, numbers in islice(_claims(sentence, plain), CITATIONS_MAX):
            words = _words(claim)[:CLAIM_WORDS_MAX]
            for n in numbers:
                if n in sources:
                    if n not in read:
                        read[n] = _Source(sources[n])
                    look = _citation if len(citations) + len(found) < CITATIONS_MAX else _glance
                    found.append(look(n, plain, words, read[n]))
        citations += found
        if found and max(each.support for each in found) < SUPPORTED_MIN:
            unsupported.append(plain)
    return Support(citations, unsupported)


def _cited_sentences(answer: str) -> Iterator[str]:
    """The sentences with a marker, outside of fenced code; a marker behind a full stop belongs to the sentence before it."""
    is_code = False
    for line in answer.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            said = _LIST_MARK.sub("", line)
            for start, end in sentence_spans(said):
                if _MARKERS.search(said, start, end):
                    yield said[start:end]


def _claims(sentence: str, plain: str) -> Iterator[tuple[str, list[int]]]:
    """The parts of a sentence that its markers stand behind, with the numbers of these; `plain` is it without them."""
    start = 0
    for marker in _MARKERS.finditer(sentence):
        claim = sentence[start : marker.start()]
        start = marker.end()
        yield (claim if significant_words(claim) else plain), [*map(int, _NUMBER.findall(marker.group()))]


def _plain(sentence: str) -> str:
    """A sentence without its markers."""
    return _SPACES.sub(" ", _MARKERS.sub(" ", sentence)).replace(" .", ".").replace(" ,", ",").strip()


@dataclass(frozen=True)
class _Word:
    text: str
    stem: str
    start: int
    end: int


def _words(text: str) -> list[_Word]:
    return [_Word(word, stem(word), start, end) for word, start, end in placed_words(text)]


class _Source:
    """A source, read once."""

    def __init__(self, text: RecordText) -> None:
        self.body = text.body[:CHARACTERS_MAX]
        beside = " ".join(filter(None, (text.title, text.topic, text.author, str(text.date or ""))))
        self._places: dict[int, Mapping[tuple[str, ...], list[int]]] = {}
        self.beside = frozenset(word.stem for word in _words(beside))

    @cached_property
    def words(self) -> list[_Word]:
        return _words(self.body)

    @cached_property
    def stems(self) -> frozenset[str]:
        return self.beside | {word.stem for word in self.words}

    @cached_property
    def passages(self) -> list[tuple[int, int, frozenset[str]]]:
        """Where each sentence begins and ends, and what words it has."""
        passages, place = [], 0
        for start, end in sentence_spans(self.body):
            stems = set()
            while place < len(self.words) and self.words[place].start < end:
                stems.add(self.words[place].stem)
                place += 1
            if stems:
                passages.append((start, end, frozenset(stems)))
        return passages

    def places(self, words: int) -> Mapping[tuple[str, ...], list[int]]:
        """Where so many words in a row begin, by these."""
        if words not in self._places:
            places: dict[tuple[str, ...], list[int]] = {}
            texts = [word.text for word in self.words]
            for place in range(len(texts) - words + 1):
                places.setdefault(tuple(texts[place : place + words]), []).append(place)
            self._places[words] = places
        return self._places[words]


def _citation(n: int, sentence: str, words: Sequence[_Word], source: _Source) -> Citation:
    verbatim = _verbatim(words, source)
    start, end, share = (*verbatim, 1.0) if verbatim is not None else _passage(words, source)
    quote = source.body[start:end]
    return Citation(
        n=n,
        sentence=sentence,
        quote=quote or None,
        start=start if quote else None,
        end=end if quote else None,
        support=round(share, 3),
        verified=verbatim is not None,
    )


def _glance(n: int, sentence: str, words: Sequence[_Word], source: _Source) -> Citation:
    """The share of what is claimed that stands anywhere in the source."""
    claimed = frozenset(word.stem for word in words if word.text not in STOP_WORDS)
    share = len(claimed & source.stems) / len(claimed) if claimed and not _has_own_number(words, source) else 0.0
    return Citation(n=n, sentence=sentence, support=round(share, 3), verified=False)


def _passage(words: Sequence[_Word], source: _Source) -> tuple[int, int, float]:
    """Where the passage is that holds most of what is claimed, and its share of it: nothing of what has a number of its own."""
    claimed = frozenset(word.stem for word in words if word.text not in STOP_WORDS)
    if not claimed or _has_own_number(words, source):
        return 0, 0, 0.0
    best = (0.0, 0, 0)
    passages = source.passages
    for first in range(len(passages)):
        held: frozenset[str] = source.beside
        for start, end, stems in passages[first : first + QUOTE_SENTENCES_MAX]:
            held = held | stems
            begin = passages[first][0]
            if end - begin > QUOTE_CHARACTERS_MAX and start != begin:
                break
            if stems & claimed:
                # the shorter of two that hold as much
                best = max(best, (len(claimed & held) / len(claimed), begin - end, begin))
    share, length, start = best
    return start, start - length, share


def _has_own_number(words: Sequence[_Word], source: _Source) -> bool:
    """Whether a number is said that the source does not have."""
    return any(word.text[0].isdigit() and word.stem not in source.stems for word in words)


def _verbatim(words: Sequence[_Word], source: _Source) -> tuple[int, int] | None:
    """Where the source says just this, if it does: what else is claimed is only who said it, or of what."""
    texts = [word.text for word in words]
    least = min(VERBATIM_WORDS_MIN, len(texts))
    longest = (0, 0, 0)
    for first in range(len(texts) - least + 1) if least else ():
        for place in source.places(least).get(tuple(texts[first : first + least]), ())[:_PLACES_MAX]:
            if first and place and texts[first - 1] == source.words[place - 1].text:
                continue  # in the middle of a longer one
            length = least
            while (
                first + length < len(texts)
                and place + length < len(source.words)
                and texts[first + length] == source.words[place + length].text
            ):
                length += 1
            longest = max(longest, (length, -first, place))
    length, first, place = longest[0], -longest[1], longest[2]
    if length * 2 < len(texts) or not length:
        return None
    rest = [*words[:first], *words[first + length :]]
    if any(word.text in _DENIALS or word.text.endswith("n't") for word in rest):
        return None
    if any(word.stem not in source.beside for word in rest if word.text not in _NO_CLAIM):
        return None
    end = source.words[place + length - 1].end
    return source.words[place].start, end + (source.body[end : end + 1] in (".", "!", "?"))
