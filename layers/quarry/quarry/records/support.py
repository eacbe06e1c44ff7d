"""Checks an answer against its sources: for each citation, the sentence, the supporting passage, and whether it is
verbatim. Pure, without a model, and linear in the lengths of answer and sources.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from quarry.answering.citations import CODE
from quarry.language.numerals import (
    LIST_MARK,
    TOKEN,
    folded,
    is_amount_of,
    is_number,
    roots_of,
    words_of,
)
from quarry.language.tokens import sentence_spans
from quarry.platform.text import STOP_WORDS, significant_words
from quarry.records.contract import Citation
from quarry.records.evidence import QUOTE_CHARACTERS_MAX, RecordText, SourceText, spelled

QUOTE_SENTENCES_MAX = 2
SUPPORTED_MIN = 0.5
"""A sentence is unsupported where no source that it cites holds this share of its significant words, in one passage; one that
cites nothing, where no source at all holds it."""
UNCITED_WORDS_MIN = 3
"""A sentence without a citation and with fewer significant words only introduces others."""
VERBATIM_WORDS_MIN = 4
"""Fewer words in a row occur in many texts by chance, so they must be the whole claim."""

_MARKERS = re.compile(r"(?:\[\d{1,3}\] ?)+")
_SPACES = re.compile(r" +")
_NOT_NEW_LINE = re.compile(r"[^\n]")
_BRACKET_IN_CODE = "\ue000"
"""Stands for a bracket in code while markers are searched. The character is for private use, so no text has it."""
_NUMBER = re.compile(r"\d{1,3}")
_NO_STATEMENT = re.compile(r"\s*(?:#|\||\*\*[^*]+\*\*\s*$)")
"""How headings and the rows of tables begin."""
_LEADS_OVER = re.compile(r":[*_\s]*$")
_LABEL = re.compile(r"\A\*\*[^*]+\*\*:\s*")
"""A label at the start of a line, such as a day."""
CITATIONS_MAX = 100
"""Citations beyond these get no passage and are never verified: only their words are looked for in the whole source."""
CLAIM_WORDS_MAX = 200
"""Words of a claim that are compared."""
_DENIALS = frozenset(
    "not no never neither none nobody nothing cannot nicht kein keine nichts ne pas aucun aucune rien".split()
)
"""Words of sentences that deny something."""
_QUOTED = re.compile(r"[“\"„«]([^“”\"„«»]+)[”\"“»]|(?<!\w)[‘'](.{1,600}?)[’'](?!\w)")
_CLAUSE_END = re.compile(r"\s*(?:[,;:()—–.!?\"”’]|\Z)")


@dataclass(frozen=True)
class Support:
    """The citations of an answer in their order, and its sentences that nothing supports. `rests_on_results` says that a sentence
    without a citation says what the result of a query holds; `leads_with_result`, that the first sentence does.
    """

    citations: Sequence[Citation]
    unsupported: Sequence[str]
    rests_on_results: bool = False
    leads_with_result: bool = False


def support(
    answer: str,
    sources: Mapping[int, RecordText],
    own: Iterable[str] = (),
    *,
    question: str = "",
    results: Sequence[str] = (),
) -> Support:
    """How the sources, by their numbers, support an answer. `own` is what it says that is not theirs to support, such as what was
    counted, or what may be missing.

    A sentence that cites nothing needs no support where it repeats the `question`, as one does that says what is not answered.
    It has the support of the texts of `results` where these hold all of its numbers between them or, without numbers, where one
    of them holds half of its words.
    """
    for text in filter(None, own):
        answer = answer.replace(text, "\n")
    read = _Read(sources)
    uncited = _Uncited(read, SourceText.of_text(question), [SourceText.of_text(text) for text in results])
    citations: list[Citation] = []
    unsupported: list[str] = []
    leads_with_result = False
    for place_in_answer, (sentence, before) in enumerate(_statements(answer)):
        plain = _plain(sentence)
        claims = islice(_claims(sentence, before), CITATIONS_MAX)
        cited = [(n, claim) for claim, numbers in claims for n in numbers if n in sources]
        found = [
            (_citation if place < CITATIONS_MAX else _glance)(n, plain, claim, read[n])
            for place, (n, claim) in enumerate(cited, start=len(citations))
        ]
        citations += found
        if not (any(each.support >= SUPPORTED_MIN for each in found) if found else uncited.is_supported(plain)):
            unsupported.append(plain)
        if place_in_answer == 0:
            leads_with_result = uncited.rests_on_results
    return Support(citations, unsupported, uncited.rests_on_results, leads_with_result)


def denials_cite(sources: Mapping[int, RecordText]) -> Callable[[str, int], bool]:
    """Whether the last sentence of a text may cite a source: one that denies something only where the source holds half of its
    words. That something is not told stands in no source.
    """
    read = _Read(sources)

    def may_cite(said: str, number: int) -> bool:
        spans = sentence_spans(said)
        words = words_of(said[slice(*spans[-1])])[:CLAIM_WORDS_MAX] if spans else []
        return not any(map(_is_denial, words)) or _share(words, read[number]) >= SUPPORTED_MIN

    return may_cite


class _Read(dict[int, "SourceText"]):
    """The sources by their numbers, each read when first needed."""

    def __init__(self, texts: Mapping[int, RecordText]) -> None:
        self.texts = texts

    def __missing__(self, n: int) -> SourceText:
        self[n] = read = SourceText(self.texts[n])
        return read


def _statements(answer: str) -> Iterator[tuple[str, str]]:
    """The sentences outside of code; before one with a marker, those of its line that have none, unless they are long. A marker
    behind a full stop belongs to the sentence before it.
    """
    for line in CODE.sub(_without_markers, answer).splitlines():
        said = LIST_MARK.sub("", line)
        if not _MARKERS.search(said) and (_NO_STATEMENT.match(line) or _LEADS_OVER.search(line)):
            continue
        begin = 0
        for start, end in sentence_spans(said):
            is_marked = _MARKERS.search(said, start, end) is not None
            yield said[start:end], said[begin:start] if is_marked and start - begin <= QUOTE_CHARACTERS_MAX else ""
            begin = end if is_marked else begin


@dataclass
class _Uncited:
    """What may support a sentence without a marker."""

    read: _Read
    question: SourceText
    results: Sequence[SourceText]
    rests_on_results: bool = False

    def is_supported(self, sentence: str) -> bool:
        """Whether it needs no support, or a result or source has what it claims."""
        words = words_of(_LABEL.sub("", sentence, count=1))[:CLAIM_WORDS_MAX]
        numbers = [word for word in words if is_number(word)]
        if self._is_of_results(words, numbers):
            self.rests_on_results = True
            return True
        if sentence.endswith("?"):
            return True
        sources = [self.read[n] for n in self.read.texts]
        if any(_has_own_number([number], *sources, self.question) for number in numbers):
            return False
        if any(map(_is_denial, words)):
            return True  # no passage says that something is missing
        is_short = len(_claimed(words)) < UNCITED_WORDS_MIN
        return is_short or any(_share(words, source) >= SUPPORTED_MIN for source in (self.question, *sources))

    def _is_of_results(self, words: Sequence[str], numbers: Sequence[str]) -> bool:
        if numbers:
            return bool(self.results) and not _has_own_number(words, *self.results)
        return any(_share(words, result) >= SUPPORTED_MIN for result in self.results)


def _without_markers(code: re.Match[str]) -> str:
    """Code of several lines is no sentence. Code within a line is part of one, and its brackets are no markers."""
    text = code.group()
    return _NOT_NEW_LINE.sub(" ", text) if "\n" in text else text.replace("[", _BRACKET_IN_CODE)


def _claims(sentence: str, before: str) -> Iterator[tuple[_Claim, list[int]]]:
    """The claims before the markers of a sentence, with the numbers in these. `before` are sentences without a marker."""
    start = 0
    for marker in _MARKERS.finditer(sentence):
        said = sentence[start : marker.start()]
        start = marker.end()
        said = said if significant_words(said) else _plain(sentence)
        yield _claim(said, before), [*map(int, _NUMBER.findall(marker.group()))]
        before = ""


def _plain(sentence: str) -> str:
    """A sentence without its markers."""
    plain = _SPACES.sub(" ", _MARKERS.sub(" ", sentence)).replace(" .", ".").replace(" ,", ",").strip()
    return plain.replace(_BRACKET_IN_CODE, "[")


class _Claim(NamedTuple):
    """A claim, its words, and the sentences before it that have no marker."""

    text: str
    words: Sequence[str]
    before: str


def _claim(text: str, before: str = "") -> _Claim:
    return _Claim(text, words_of(text)[:CLAIM_WORDS_MAX], before)


def _beginning(word: str) -> str:
    """The letters that a word shares with its stem ("dying", "die")."""
    return word[:2].replace("y", "i")


def _is_denial(word: str) -> bool:
    return word in _DENIALS or word.endswith("n't")


def _citation(n: int, sentence: str, claim: _Claim, source: SourceText) -> Citation:
    verbatim = None
    if claim.before:
        whole = _claim(claim.before + claim.text)
        verbatim = _verbatim(_told(whole, source), source)
    if verbatim is not None:
        sentence = claim.before + sentence
    else:
        verbatim = _verbatim(_told(claim, source), source) or _quotation(claim.text, source)
    start, end, share = (*verbatim, 1.0) if verbatim is not None else _passage(claim.words, source)
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


def _glance(n: int, sentence: str, claim: _Claim, source: SourceText) -> Citation:
    return Citation(n=n, sentence=sentence, support=round(_share(claim.words, source), 3), verified=False)


def _share(words: Sequence[str], source: SourceText) -> float:
    """The share of the claim's words that stand anywhere in the source."""
    claimed = _claimed(source.undated(words))
    return len(claimed & source.said) / len(claimed) if claimed and not _has_own_number(words, source) else 0.0


def _claimed(words: Iterable[str]) -> frozenset[str]:
    return frozenset(root for word in spelled(words) if word not in STOP_WORDS for root in roots_of(word))


def _told(claim: _Claim, source: SourceText) -> Sequence[str]:
    """The claim without its introduction: the record's date, title, or a label in the record's own words."""
    words = claim.words
    head, colon, rest = claim.text.partition(":")
    introduction = words_of(head) if colon else []
    is_label = head.lstrip().startswith("**") and all(source.said.issuperset(roots_of(word)) for word in introduction)
    if introduction and (is_label or introduction in source.dates):
        words = words_of(rest)[:CLAIM_WORDS_MAX]
    title = len(source.title)
    return words[title:] if title and len(words) > title + 1 and words[:title] == source.title else words


def _passage(words: Sequence[str], source: SourceText) -> tuple[int, int, float]:
    """The passage with most of the claim's words, and its share of them; none for a claim with a number that the source lacks."""
    undated = source.undated(words)
    claimed = _claimed(undated)
    if not claimed or _has_own_number(words, source):
        # no passage supports a claim about the record's date alone
        return 0, 0, float(not claimed and len(undated) < len(words))
    said: dict[int, set[str]] = {}
    beginnings = {_beginning(root) for root in claimed}
    for word, places in source.placed.items():
        if (not word.isalpha() or _beginning(word) in beginnings) and (common := claimed.intersection(roots_of(word))):
            for place in places:
                said.setdefault(bisect_right(source.firsts, place) - 1, set()).update(common)
    best = (0.0, 0, 0)
    beside = source.beside & claimed
    for first in {each for last in said for each in range(max(0, last - QUOTE_SENTENCES_MAX + 1), last + 1)}:
        begin, share = source.passages[first].start, beside
        for number, passage in enumerate(source.passages[first : first + QUOTE_SENTENCES_MAX], start=first):
            if passage.end - begin > QUOTE_CHARACTERS_MAX and passage.start != begin:
                break
            if number in said:
                share = share | said[number]
                # of two with as many words, the shorter one
                best = max(best, (len(share) / len(claimed), begin - passage.end, begin))
    part, length, start = best
    return start, start - length, part


def _has_own_number(words: Sequence[str], *sources: SourceText) -> bool:
    """Whether there is a number that none of the sources has, in digits or in words."""
    words = spelled(words)
    return any(
        not any(word not in source.undated(words) or is_amount_of(word, behind, source) for source in sources)
        for word, behind in zip(words, [*words[1:], ""], strict=True)
        if is_number(word)
    )


def _verbatim(words: Sequence[str], source: SourceText) -> tuple[int, int] | None:
    """Where the source says just this, as a sentence or a clause that begins one: neither is more claimed than these words, but
    for who said it or of what, nor do words beside them in the source deny them or change how much they say.
    """
    introduction = 0
    while len(words) > introduction:
        row = words[introduction:]
        for place in source.places(row):
            if _is_whole(place, len(row), source):
                return _quoted(place, len(row), source)
        if not source.beside.issuperset(roots_of(words[introduction])):
            return None
        introduction += 1
    return None


def _is_whole(place: int, length: int, source: SourceText) -> bool:
    """Whether the words are a sentence, or begin one and end with a clause of it. A question states nothing."""
    begin, end = source.starts[place], source.end_of(place + length - 1)
    first, last = source.sentences_of(place, place + length)
    is_all = not words_of(source.body[first:begin]) and not words_of(source.body[end:last])
    is_clause = not words_of(source.body[first:begin]) and _CLAUSE_END.match(source.body, end) is not None
    is_asked = source.body[:last].endswith("?")
    return is_all or (is_clause and not is_asked)


def _quotation(text: str, source: SourceText) -> tuple[int, int] | None:
    """Where the source says what a sentence quotes between quotation marks; None where it lacks any of it, or a name or number
    that the sentence says about the quotation.
    """
    texts = [one or other for one, other in _QUOTED.findall(text)]
    quoted = [
        words
        for each in texts
        if len(words_of(each)) >= VERBATIM_WORDS_MIN
        for part in each.replace("...", "…").split("…")
        if (words := words_of(part))
    ]
    found = [next(source.places(words), None) for words in quoted]
    about = folded([token for token in TOKEN.findall(_QUOTED.sub(" ", text)) if not token[:1].islower()])
    is_of_source = all(
        word in STOP_WORDS or not source.said.isdisjoint(roots_of(word)) for word in source.undated(about)
    )
    if not found or None in found or found[0] is None or not is_of_source:
        return None
    return source.starts[found[0]], source.end_of(found[0] + len(quoted[0]) - 1)


def _quoted(place: int, length: int, source: SourceText) -> tuple[int, int]:
    end = source.end_of(place + length - 1)
    return source.starts[place], end + (source.body[end : end + 1] in (".", "!", "?"))
