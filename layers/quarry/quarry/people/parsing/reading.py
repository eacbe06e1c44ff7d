"""A query while it is read: its words, and what has been recognised in which of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from quarry.core.text import STOP_WORDS
from quarry.people.parsing.known import KnownNames
from quarry.people.parsing.tokens import Token, says_something_by_case, tokenise

SpanKind = Literal[
    "salary", "time", "relative", "open_to_work", "company", "team", "place", "seniority", "employment", "current",
    "skill", "topic", "cue", "word",
]  # fmt: skip

BOUNDARIES = STOP_WORDS | frozenset({"@", "ex", "who", "near", "since", "via", "per", "currently", "now", "based"})


@dataclass(frozen=True)
class Span:
    """What the words `first` to `last` (not included) were recognised as. `value` is the name or the taxonomy's value."""

    kind: SpanKind
    value: str
    first: int
    last: int


@dataclass
class Reading:
    """The words of a query and the spans recognised so far; no word is in two."""

    text: str
    names: KnownNames
    spans: list[Span] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens: tuple[Token, ...] = tokenise(self.text)
        self.has_case = says_something_by_case(self.tokens)
        self._span_of_word: list[Span | None] = [None] * len(self.tokens)
        self._starts = [token.start for token in self.tokens]
        self._ends = [token.end for token in self.tokens]

    def add(self, kind: SpanKind, value: str, first: int, last: int) -> None:
        """Words that are in a span already stay there."""
        if first < last and self.is_free(first, last):
            span = Span(kind, value, first, last)
            self.spans.append(span)
            self._span_of_word[first:last] = [span] * (last - first)

    def is_free(self, first: int, last: int) -> bool:
        return not any(self._span_of_word[first:last])

    def free(self) -> Iterator[int]:
        """The places of the words that nothing was recognised in, while they stay so."""
        return (place for place in range(len(self.tokens)) if self._span_of_word[place] is None)

    def of_kind(self, *kinds: SpanKind) -> list[Span]:
        """The spans of these kinds, in the order of the text."""
        return sorted((span for span in self.spans if span.kind in kinds), key=lambda span: span.first)

    def span_at(self, place: int) -> Span | None:
        """The span that the word at `place` is in."""
        return self._span_of_word[place] if 0 <= place < len(self.tokens) else None

    def kind_at(self, place: int) -> SpanKind | None:
        span = self.span_at(place)
        return span.kind if span else None

    def key(self, place: int) -> str:
        """The word at `place` as it is compared; nothing outside the text."""
        return self.tokens[place].key if 0 <= place < len(self.tokens) else ""

    def text_at(self, place: int) -> str:
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def starts_clause(self, place: int) -> bool:
        """Whether punctuation, or the text's end, stands right before the word."""
        return not 0 < place < len(self.tokens) or self.tokens[place].ends_clause

    def is_name_like(self, place: int) -> bool:
        """Whether the word stands out as a name by its capital."""
        return self.has_case and self.tokens[place].is_capital

    def within(self, start: int, end: int) -> tuple[int, int]:
        """The words that lie between two places of the text."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        return (first, last) if first < last else (0, 0)

    def words(self, span: Span) -> str:
        """The text of a span as it was typed."""
        return self.text[self.tokens[span.first].start : self.tokens[span.last - 1].end]
