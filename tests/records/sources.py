"""Records and sources made up for tests."""

from __future__ import annotations

import datetime

from quarry.collections.declaration_parts import Quoting
from quarry.records.contract import RecordType
from quarry.records.retrieval import EvidenceSource, RecordText
from quarry.records.sources import BUILT_IN


def record(
    id: str = "m1",
    *,
    type: RecordType = "document_section",
    title: str = "The elm report",
    body: str = "The elm in the square is sound.",
    topic: str | None = None,
    author: str | None = None,
    date: datetime.date | None = None,
) -> RecordText:
    return RecordText(
        type=type,
        id=id,
        title=title,
        body=body,
        topic=topic,
        author=author,
        date=date,
        meeting_id=None,
        url=None,
        snippet=body,
        quoting=BUILT_IN[type].quoting if type in BUILT_IN else Quoting(),
    )


def source(n: int, text: RecordText, *, weight: float = 1.0) -> EvidenceSource:
    return EvidenceSource(n, text, 0.6, weight)
