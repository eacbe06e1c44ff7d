"""What retrieval finds, as typed values: no database in here, so that rules and texts may be written over them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

from quarry.collections.reference_declarations import Quoting
from quarry.language.writing import ENGLISH
from quarry.records.contract import RecordType

RecordKey = tuple[RecordType, str]

PROSE_WORDS_MIN = 12
"""A line with fewer words is a name or the value of a field."""


@dataclass(frozen=True)
class Candidate:
    """A record that matched. `text_score` compares records of all types by their words, `similarity` (cosine) by meaning; None
    where that half did not find it. `is_apart`: it was found among those that meet the question's conditions alone.
    """

    type: RecordType
    id: str
    text_score: float | None
    similarity: float | None
    is_apart: bool = False
    by_words_alone: bool = False
    """Whether its type cannot be searched by meaning, while others are."""

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)


@dataclass(frozen=True)
class RecordText:
    """A record as a reader sees it. `snippet` marks matched words with MATCH_START and MATCH_END; `quoting` says how it
    is quoted.
    """

    type: RecordType
    id: str
    title: str
    body: str
    topic: str | None
    author: str | None
    date: datetime.date | None
    meeting_id: str | None
    url: str | None
    snippet: str
    quoting: Quoting = field(default_factory=Quoting)
    language: str = ENGLISH
    """The one that all records of its type are in."""

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)

    @property
    def is_prose(self) -> bool:
        """Whether it says more than the values of fields."""
        return any(len(line.split()) >= PROSE_WORDS_MIN for line in self.body.split("\n"))
