"""What is known of an answer before anything is written: a number, or that the records do not hold what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.records.contract import AggregationEvent, Citation


@dataclass(frozen=True)
class Facts:
    """What is known for sure: `text` begins the answer; `is_all`: nothing else can answer it.

    `authors`: what they said is asked for. `doubt`: what the records found may not answer, where that is likely. `lacking`: the
    same, where it holds of all records: it begins the answer, whoever writes it. `basis`: what the number was counted on.
    `is_listed`: every record that was found answers, as well as any other. `chance`: how likely the records found answer.
    """

    text: str = ""
    counted: AggregationEvent | None = None
    is_all: bool = False
    authors: frozenset[str] = frozenset()
    doubt: str = ""
    lacking: str = ""
    basis: str = ""
    is_listed: bool = False
    chance: float = 0.0

    def is_doubted_with(self, citations: Sequence[Citation]) -> bool:
        """Whether an answer with these citations answers in part at most: one that cites nothing tells nothing of the records."""
        return bool(self.doubt) or (self.counted is None and not self.basis and not citations)
