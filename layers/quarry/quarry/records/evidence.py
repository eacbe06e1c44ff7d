"""The sources of one answer: numbered once, in the order in which they were found, and never renumbered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from quarry.platform.snippet import mark, unmark
from quarry.platform.text import shorten
from quarry.records.candidates import RecordKey, RecordText
from quarry.records.contract import Source
from quarry.records.ranking import RankedRecord

SOURCES_MAX = 12
PASSAGE_CHARACTERS_MAX = 800


@dataclass(frozen=True)
class EvidenceSource:
    """One source: its number, what it says, its similarity (cosine) to the query that found it, and how well it ranked there,
    as a share of that search's best score.
    """

    n: int
    text: RecordText
    similarity: float | None
    weight: float

    def to_source(self) -> Source:
        return Source(
            n=self.n,
            type=self.text.type,
            id=self.text.id,
            title=shorten(self.text.title, 200),
            snippet=mark(self.text.snippet),
            date=self.text.date,
            meeting_id=self.text.meeting_id,
            url=self.text.url,
            similarity=None if self.similarity is None else round(self.similarity, 4),
        )


def passage(text: RecordText, limit: int = PASSAGE_CHARACTERS_MAX) -> str:
    """What a model reads of a record: all of its text or, of a long one, its matched snippet and its beginning."""
    if len(text.body) <= limit:
        return text.body
    snippet = shorten(unmark(mark(text.snippet)), limit // 2)
    beginning = shorten(text.body, limit - len(snippet))
    return beginning if not snippet or snippet in beginning else f"{beginning}\n… {snippet} …"


@dataclass
class Evidence:
    """The numbered sources so far, at most `sources_max`."""

    sources_max: int = SOURCES_MAX
    sources: list[EvidenceSource] = field(default_factory=list)
    _known: dict[RecordKey, EvidenceSource] = field(default_factory=dict)

    def add(self, found: Iterable[tuple[RankedRecord, RecordText]]) -> list[EvidenceSource]:
        """The sources for what was found, known or newly numbered, while there are at most `sources_max` in all."""
        sources: list[EvidenceSource] = []
        best = 0.0
        for ranked, text in found:
            best = best or ranked.score
            source = self._known.get(text.key)
            if source is None and len(self.sources) < self.sources_max:
                share = ranked.score / best if best else 1.0
                source = EvidenceSource(len(self.sources) + 1, text, ranked.similarity, share)
                self.sources.append(source)
                self._known[text.key] = source
            if source is not None:
                sources.append(source)
        return sources

    def add_read(self, texts: Iterable[RecordText]) -> list[EvidenceSource]:
        """The sources for records that were read by their ids."""
        return self.add((RankedRecord(text.key, 1.0, None, None, None), text) for text in texts)
