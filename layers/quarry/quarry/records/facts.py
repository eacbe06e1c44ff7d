"""What is known of an answer before anything is written: a number, or that the records do not hold what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.records.contract import AggregationEvent, Citation, ConfidenceLevel
from quarry.records.extraction import Quote


@dataclass(frozen=True)
class Facts:
    """What is known for sure: `text` begins the answer; `is_all`: nothing else can answer it.

    `authors`: the question asks what they said. `doubt`: that what the records found may not answer, where that is likely.
    `basis`: what the number was counted on. `quotes`: the sentences that answer, best first. `chance`: how likely the records
    found answer, from 0 to 1, and `likely` the level that follows, where it is known.
    """

    text: str = ""
    counted: AggregationEvent | None = None
    is_all: bool = False
    authors: frozenset[str] = frozenset()
    doubt: str = ""
    basis: str = ""
    quotes: Sequence[Quote] = ()
    chance: float = 0.0
    likely: ConfidenceLevel | None = None

    def is_doubted_with(self, citations: Sequence[Citation]) -> bool:
        """Whether an answer with these citations answers in part at most. One that cites nothing says nothing of the records."""
        return bool(self.doubt) or (self.counted is None and not self.basis and not citations)
