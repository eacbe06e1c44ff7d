"""What a question asks of a table, as one structure that every domain executes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from quarry.spans.mention import DateRange, Grain, MoneyRange, NumberRange, Span

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
