"""The searches of one answer, among the types that the asker allowed, and the sources that they find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from quarry.records.candidates import RecordText
from quarry.records.contract import RecordType
from quarry.records.evidence import Evidence, EvidenceSource
from quarry.records.ranking import RankedRecord
from quarry.records.reading import RecordsReading
from quarry.records.record_texts import describe
from quarry.records.retrieval import EVERYTHING, Scope
from quarry.records.search import is_cut_off, rank_records
from quarry.records.searched_types import SearchedType
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services

SEARCH = "search"
FIRST_SOURCES = 8
POOL_RECORDS = 24


@dataclass(frozen=True)
class Searched:
    """All that a search found, best first, and what of it was taken as sources."""

    ranked: Sequence[RankedRecord]
    sources: Sequence[EvidenceSource]

    @property
    def summary(self) -> str:
        return summary(len(self.ranked), self.sources, is_all=not is_cut_off(self.ranked))


@dataclass
class SearchToolset:
    """The searches of one answer, and what they found. `reading` is what the question asks beside its words, `scope` what of the
    records is searched at all; `pool` holds what was found but is not a source.
    """

    services: Services
    caller: Caller
    run: Run
    types: Sequence[SearchedType]
    reading: RecordsReading
    scope: Scope = EVERYTHING
    evidence: Evidence = field(default_factory=Evidence)
    pool: dict[tuple[RecordType, str], RecordText] = field(default_factory=dict)

    async def search(self, query: str) -> Searched:
        """Search for the question itself; the best FIRST_SOURCES become sources."""
        ranked = await rank_records(query, self.types, self.services, self.run, reading=self.reading, scope=self.scope)
        return Searched(ranked, self.evidence.add(varied(await self.found(ranked, query))[:FIRST_SOURCES]))

    async def found(self, ranked: Sequence[RankedRecord], query: str) -> list[tuple[RankedRecord, RecordText]]:
        """The best of what was ranked, with their texts; `pool` keeps these."""
        looked_at = ranked[:POOL_RECORDS]
        texts = await describe(self.services.reader, [item.key for item in looked_at], self.reading.types, query)
        by_key = {text.key: text for text in texts}
        found = [(item, by_key[item.key]) for item in looked_at if item.key in by_key]
        self.pool |= {text.key: text for _, text in found}
        return found


def summary(count: int, sources: Sequence[EvidenceSource], *, is_all: bool = True) -> str:
    """A line for people about what a search found; there may be more where that is not all."""
    if not count:
        return "Nothing found"
    kept = f"; kept {', '.join(f'[{source.n}]' for source in sources)}" if sources else ""
    return f"{'' if is_all else 'At least '}{count} record{'' if count == 1 else 's'} found{kept}"


def varied(found: Sequence[tuple[RankedRecord, RecordText]]) -> list[tuple[RankedRecord, RecordText]]:
    """The same records, a type that already has three of them put behind the others: one kind must not crowd out the rest."""
    first: list[tuple[RankedRecord, RecordText]] = []
    later: list[tuple[RankedRecord, RecordText]] = []
    seen: dict[RecordType, int] = {}
    for item in found:
        name = item[1].type
        seen[name] = seen.get(name, 0) + 1
        (first if seen[name] <= 3 else later).append(item)
    return first + later
