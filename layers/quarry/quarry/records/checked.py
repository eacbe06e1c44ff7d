"""The check of an answer from records on the wire: its evidence, the `citations` event, and the `confidence` event. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from quarry.records.contract import Citation, CitationsEvent, ConfidenceEvent
from quarry.verification.trust import SourceText, Trust
from quarry.verification.wire import checked_statements

if TYPE_CHECKING:
    # opening a shared answer imports none of the search
    from quarry.records.evidence import EvidenceSource
    from quarry.verification.check import Verification


def source_texts(evidence: Iterable[EvidenceSource]) -> list[SourceText]:
    """The sources as the check reads them."""
    return [
        SourceText(
            each.n, each.text.title, each.text.body, each.text.topic or "", each.text.author or "", each.text.date
        )
        for each in evidence
    ]


def citations_event(found: Verification) -> CitationsEvent:
    """What the check found, citation by citation and statement by statement."""
    return CitationsEvent(
        citations=[
            Citation(
                n=each.n,
                sentence=each.sentence,
                quote=each.quote or None,
                start=each.start if each.quote else None,
                end=each.end if each.quote else None,
                support=each.support,
                verified=each.verified,
            )
            for each in found.citations
        ],
        unsupported=[each.text for each in found.of("flagged")],
        statements=checked_statements(found),
    )


def confidence_event(trust: Trust | None, citations: Sequence[Citation]) -> list[ConfidenceEvent]:
    """The event with the level of an answer; none for one that claims nothing."""
    count = len({citation.n for citation in citations})
    return [ConfidenceEvent(level=trust.level, source_count=count, label=trust.label)] if trust is not None else []
