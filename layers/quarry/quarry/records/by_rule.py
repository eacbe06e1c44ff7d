"""What is answered without a model: an exact result, passages, or that nothing is near. Nothing else speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from quarry.records.contract import AggregationEvent, UnderstoodEvent
from quarry.records.evidence import EvidenceSource
from quarry.verification.levels import Exact, Passages


@dataclass(frozen=True)
class ByRule:
    """An answer in `pieces` of Markdown, and the sources that it shows. An exact result says how the question was `understood`
    and what it `counted`; passages do not. `basis` is what the answer rests on. `is_found` is false where no record is near.
    """

    pieces: Sequence[str]
    sources: Sequence[EvidenceSource] = ()
    understood: UnderstoodEvent | None = None
    counted: AggregationEvent | None = None
    basis: Exact | Passages = field(default_factory=Passages)
    is_found: bool = True

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.pieces)

    @property
    def own(self) -> Sequence[str]:
        """The pieces that state nothing of a source."""
        return () if self.is_found and self.understood is None else self.pieces

    @property
    def known(self) -> Sequence[Any]:
        """What identifies the answer beside the texts that were found, as JSON."""
        return [self.text, self.counted.to_json() if self.counted is not None else None]
