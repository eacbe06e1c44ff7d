"""What of an answer its sources say: behind each citation the sentence it stands for, the passage of the source that supports it,
and whether that says it word for word. Pure, without a model, and linear in the length of answer and sources.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, starmap
from typing import NamedTuple

from quarry.core.language.sentences import sentence_spans
from quarry.core.language.stemming import stem
from quarry.core.text import STOP_WORDS, placed_words, significant_words
from quarry.records.candidates import RecordText
from quarry.records.citations import CODE
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
_NOT_NEW_LINE = re.compile(r"[^\n]")
_BRACKET_IN_CODE = "\ue000"
"""Stands for it while markers are looked for: of private use, so in no text."""
_NUMBER = re.compile(r"\d{1,3}")
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
_DENIALS = frozenset(
    """
    not no never nor neither without none nobody nothing cannot hardly if unless whether deny denies denied denying
    refuse refuses refused refusing reject rejects rejected rejecting fail fails failed failing doubt doubts doubted false untrue
    """.split()
)
"""What turns the words beside it into what is not so, or not known to be."""


@dataclass(frozen=True)
class Support:
    """The citations of an answer in their order, and the sentences that no source supports which they cite."""

    citations: Sequence[Citation]
    unsupported: Sequence[str]


def support(answer: str, sources: Mapping[int, RecordText]) -> Support:
    """How the sources, by their numbers, support the answer that cites them."""
    sentences = [
        (_plain(sentence), [*islice(_claims(sentence), CITATIONS_MAX)]) for sentence in _cited_sentences(answer)
    ]
    runs = frozenset(run for _, claims in sentences for words, _ in claims for run in _runs(words))
    read: dict[int, _Source] = {}
    citations: list[Citation] = []
    unsupported: list[str] = []
    for plain, claims in sentences:
        found: list[Citation] = []
        for words, numbers in claims:
            for n in numbers:
                if n in sources:
                    if n not in read:
                        read[n] = _Source(sources[n], runs)
                    look = _citation if len(citations) + len(found) < CITATIONS_MAX else _glance
                    found.append(look(n, plain, words, read[n]))
        citations += found
        if found and max(each.support for each in found) < SUPPORTED_MIN:
            unsupported.append(plain)
    return Support(citations, unsupported)


def _cited_sentences(answer: str) -> Iterator[str]:
    """The sentences with a marker outside of code; a marker behind a full stop belongs to the sentence before it."""
    for line in CODE.sub(_without_markers, answer).splitlines():
        said = _LIST_MARK.sub("", line)
        for start, end in sentence_spans(said):
            if _MARKERS.search(said, start, end):
                yield said[start:end]


def _without_markers(code: re.Match[str]) -> str:
    """Code of several lines is no sentence; in a line it is a part of one, and its brackets are no markers."""
    text = code.group()
    return _NOT_NEW_LINE.sub(" ", text) if "\n" in text else text.replace("[", _BRACKET_IN_CODE)


def _claims(sentence: str) -> Iterator[tuple[list[_Word], list[int]]]:
    """The words of a sentence that its markers stand behind, with the numbers of these."""
    start = 0
    for marker in _MARKERS.finditer(sentence):
        claim = sentence[start : marker.start()]
        start = marker.end()
        words = _words(claim if significant_words(claim) else _plain(sentence))
        yield words[:CLAIM_WORDS_MAX], [*map(int, _NUMBER.findall(marker.group()))]


def _plain(sentence: str) -> str:
    """A sentence without its markers."""
    plain = _SPACES.sub(" ", _MARKERS.sub(" ", sentence)).replace(" .", ".").replace(" ,", ",").strip()
    return plain.replace(_BRACKET_IN_CODE, "[")


class _Word(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        return stem(self.text)

    @property
    def is_denial(self) -> bool:
        return self.text in _DENIALS or self.text.endswith("n't")


def _words(text: str) -> list[_Word]:
    return [*starmap(_Word, placed_words(text))]


def _runs(words: Sequence[_Word]) -> list[tuple[str, ...]]:
    """The words by as many in a row as have to be a source's, the first of them first."""
    texts = [word.text for word in words]
    return [*_rows_of(texts, min(VERBATIM_WORDS_MIN, len(texts)))]


def _rows_of(texts: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(texts[first:] for first in range(length)), strict=False)


class _Passage(NamedTuple):
    """A sentence of a source: where it begins and ends, in characters and in words, and the stems of these."""

    start: int
    end: int
    first: int
    last: int
    stems: frozenset[str]


class _Source:
    """A source, read once."""

    def __init__(self, text: RecordText, runs: Set[tuple[str, ...]]) -> None:
        self.body = text.body[:CHARACTERS_MAX]
        beside = " ".join(filter(None, (text.title, text.topic, text.author, str(text.date or ""))))
        self._runs = runs
        self.beside = frozenset(word.stem for word in _words(beside))

    @cached_property
    def words(self) -> list[_Word]:
        return _words(self.body)

    @cached_property
    def stems(self) -> frozenset[str]:
        return self.beside.union(*(passage.stems for passage in self.passages))

    @cached_property
    def passages(self) -> list[_Passage]:
        """Its sentences that have words, in order."""
        passages, last = [], 0
        for start, end in sentence_spans(self.body):
            first = last
            while last < len(self.words) and self.words[last].start < end:
                last += 1
            if first < last:
                stems = frozenset(stem(word) for word, *_ in self.words[first:last])
                passages.append(_Passage(start, end, first, last, stems))
        return passages

    def beside_in_sentence(self, first: int, last: int) -> list[_Word]:
        """The words of the sentences that the words from `first` to before `last` are of, without these."""
        begins = [passage.first for passage in self.passages]
        sentences = self.passages[bisect_right(begins, first) - 1 : bisect_right(begins, last - 1)]
        return [*self.words[sentences[0].first : first], *self.words[last : sentences[-1].last]]

    @cached_property
    def places(self) -> Mapping[tuple[str, ...], list[int]]:
        """Where the runs of words begin that are looked for."""
        places: dict[tuple[str, ...], list[int]] = {}
        texts = [word.text for word in self.words]
        for length in {*map(len, self._runs)}:
            for place, run in enumerate(_rows_of(texts, length)):
                if run in self._runs:
                    places.setdefault(run, []).append(place)
        return places


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
        begin = passages[first].start
        held = source.beside & claimed
        for start, end, _, _, stems in passages[first : first + QUOTE_SENTENCES_MAX]:
            if end - begin > QUOTE_CHARACTERS_MAX and start != begin:
                break
            said = claimed & stems
            held |= said
            if said:
                # the shorter of two that hold as much
                best = max(best, (len(held) / len(claimed), begin - end, begin))
    share, length, start = best
    return start, start - length, share


def _has_own_number(words: Sequence[_Word], source: _Source) -> bool:
    """Whether a number is said that the source does not have."""
    return any(word.text[0].isdigit() and word.stem not in source.stems for word in words)


def _verbatim(words: Sequence[_Word], source: _Source) -> tuple[int, int] | None:
    """Where the source says just this, if it does: what else is claimed is only who said it, or of what."""
    texts = [word.text for word in words]
    longest = (0, 0, 0)
    for first, run in enumerate(_runs(words)):
        for place in source.places.get(run, ())[:_PLACES_MAX]:
            if first and place and texts[first - 1] == source.words[place - 1].text:
                continue  # in the middle of a longer one
            length = len(run)
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
    if any(word.is_denial for word in [*rest, *source.beside_in_sentence(place, place + length)]):
        return None
    if any(word.stem not in source.beside for word in rest if word.text not in _NO_CLAIM):
        return None
    end = source.words[place + length - 1].end
    return source.words[place].start, end + (source.body[end : end + 1] in (".", "!", "?"))
