"""Conditions on the facets of a searched table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quarry.spans.mention import DateRange, MoneyRange, NumberRange, Span


@dataclass(frozen=True)
class Condition:
    """What the rows must be like in one facet: any of the values (as they stand in the data), or within the range, or, negated,
    not so.
    """

    facet: str
    values: tuple[str, ...] = ()
    range: DateRange | NumberRange | MoneyRange | None = None
    is_negated: bool = False
    evidence: tuple[Span, ...] = ()


Clause = tuple[Condition, ...]
"""Conditions of which any must hold."""


def spans_of(clauses: Iterable[Clause]) -> set[Span]:
    """The characters that say the clauses."""
    return {span for clause in clauses for condition in clause for span in condition.evidence}
