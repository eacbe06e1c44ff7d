"""What a question asks of a table, as one structure that every domain executes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from quarry.platform.contract import Assertion, Evidence
from quarry.spans.mention import DateRange, Grain, MoneyRange, NumberRange, ParsedQuery, Span

Function = Literal["sum", "avg", "min", "max"]
Strength = Literal["stated", "inferred"]
"""Whether the words say that a condition must hold, or it is only likely to be meant."""


@dataclass(frozen=True)
class Condition:
    """What the rows must be like in one facet: any of the values (as they stand in the data), or within the range, or, negated,
    not so.
    """

    facet: str
    values: tuple[str, ...] = ()
    range: DateRange | NumberRange | MoneyRange | None = None
    is_negated: bool = False
    strength: Strength = "stated"
    evidence: tuple[Span, ...] = ()


Clause = tuple[Condition, ...]
"""Conditions of which any must hold."""


def spans_of(clauses: Iterable[Clause]) -> set[Span]:
    """The characters that say the clauses."""
    return {span for clause in clauses for condition in clause for span in condition.evidence}


def evidence_of(condition: Condition, text: str, *, is_preferred: bool = False) -> list[Evidence]:
    """What of a question's text says a condition, as it goes over the wire."""
    assertion: Assertion = "preferred" if is_preferred else "negated" if condition.is_negated else "affirmed"
    return [
        Evidence(
            field=condition.facet,
            value=", ".join(condition.values) or text[span.start : span.end],
            start=span.start,
            end=span.end,
            assertion=assertion,
        )
        for span in condition.evidence
    ]


@dataclass(frozen=True)
class Ask:
    """What is asked about the rows that meet the conditions.

    rows: the rows themselves · count: how many · distinct: how many different values of `facet` · groups: the values of `facet`
    (or periods of `grain`), each with its number of rows, most first unless `ascending`, `limit` of them · extreme: the row with
    the lowest or highest `facet` · exists: whether there are any · measure: what `function` makes of `of` over all rows. Groups
    with a `function` are ordered by what it makes of `of` over theirs. `compares`: two of the values are compared. `lacks`: it is
    said of the values, not of the rows, what they do not have ("which channels do they not use").
    """

    kind: Literal["rows", "count", "distinct", "groups", "extreme", "exists", "measure"] = "rows"
    facet: str | None = None
    grain: Grain | None = None
    ascending: bool = False
    limit: int | None = None
    function: Function | None = None
    of: str | None = None
    also: tuple[tuple[Function, str], ...] = ()
    """Further functions that are asked for at once, each with its facet ("minimum and maximum weight")."""
    compares: bool = False
    lacks: bool = False

    @property
    def facets(self) -> tuple[str, ...]:
        """The facets that are asked for or reckoned."""
        return tuple(each for each in (self.facet, self.of, *(of for _, of in self.also)) if each)


@dataclass(frozen=True)
class Missing:
    """Something that the question names and the data does not hold, by the words that name it; `facet` where it is known."""

    text: str
    evidence: Span
    facet: str | None = None


@dataclass(frozen=True)
class Question:
    """All clauses must hold. `topic` is what is left to be found by words and by meaning, nothing negated in it.

    `missing` is named but not in the data. `unanswerable` is asked about, and no facet of the data tells it.
    """

    text: str
    ask: Ask = Ask()
    clauses: Sequence[Clause] = ()
    preferred: Sequence[Condition] = ()
    topic: str = ""
    topic_words: Sequence[str] = ()
    phrases: Sequence[str] = ()
    excluded_words: Sequence[str] = ()
    missing: Sequence[Missing] = ()
    unanswerable: Sequence[Missing] = ()
    follows_up: bool = False
    references: Sequence[int] = ()
    asked_by: Sequence[Span] = ()
    """The characters that say what is asked for."""


@dataclass(frozen=True)
class Reading:
    """A question as it was read: what it mentions, and what it asks; `taken_up` is the reading of the one that it takes up."""

    parsed: ParsedQuery
    question: Question
    taken_up: Reading | None = None

    @property
    def before(self) -> Question | None:
        """The question that it takes up."""
        return self.taken_up.question if self.taken_up else None
