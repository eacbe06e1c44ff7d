"""What retrieval finds, as typed values: no database in here, so that rules and texts may be written over them."""

from __future__ import annotations

import datetime
import html
from dataclasses import dataclass

from quarry.records.contract import RecordType

RecordKey = tuple[RecordType, str]

MATCH_START, MATCH_END = "\ue000", "\ue001"
"""What surrounds a matched word in a snippet from SQL."""


@dataclass(frozen=True)
class Candidate:
    """A record that matched. `text_score` compares records of all types by their words, `similarity` (cosine) by meaning; None
    where that half did not find it."""

    type: RecordType
    id: str
    text_score: float | None
    similarity: float | None

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)


@dataclass(frozen=True)
class RecordText:
    """A record as a reader sees it. `snippet` marks matched words with MATCH_START and MATCH_END."""

    type: RecordType
    id: str
    title: str
    body: str
    topic: str | None
    speaker: str | None
    date: datetime.date | None
    meeting_id: str | None
    url: str | None
    snippet: str

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)


def unmark(marked: str) -> str:
    """The plain text of a marked snippet."""
    return html.unescape(marked.replace("<mark>", "").replace("</mark>", ""))


def mark(snippet: str) -> str:
    """A snippet as HTML: everything escaped but `<mark>` around the matched words."""
    return html.escape(snippet).replace(MATCH_START, "<mark>").replace(MATCH_END, "</mark>")
