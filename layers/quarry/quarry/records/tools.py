"""What a model may call while it researches: one search over all types, and one for each type.

The types that the asker allowed, and the asker's identity, are bound in here; a model cannot widen them.
"""

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import ConfigDict, Field

from quarry.core.lazy_model import LazyModel
from quarry.core.model.tool_loop import Tool, ToolResult
from quarry.core.run_log import Run
from quarry.core.services import Services
from quarry.core.text import QueryText
from quarry.records.candidates import RecordText
from quarry.records.contract import RecordType
from quarry.records.evidence import SOURCES_MAX, Evidence, EvidenceSource
from quarry.records.guard import Dates, guarded
from quarry.records.prompts import sources_block
from quarry.records.ranking import RankedRecord
from quarry.records.reading import RecordsReading
from quarry.records.retrieval import EVERYTHING, Scope, describe
from quarry.records.search import is_cut_off, rank_records
from quarry.records.searched_types import SearchedType

SEARCH_ALL = "search_records"
FIRST_SOURCES = 8
TOOL_SOURCES = 4
POOL_RECORDS = 24


class SearchArguments(LazyModel):
    """Arguments of every search tool."""

    model_config = ConfigDict(extra="forbid")

    query: QueryText = Field(description="A few words, as the records would put it.")
    date_from: datetime.date | None = Field(default=None, description="Only records of this day or later (YYYY-MM-DD).")
    date_to: datetime.date | None = Field(default=None, description="Only records of this day or earlier (YYYY-MM-DD).")


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
    run: Run
    types: Sequence[SearchedType]
    reading: RecordsReading
    scope: Scope = EVERYTHING
    evidence: Evidence = field(default_factory=Evidence)
    pool: dict[tuple[RecordType, str], RecordText] = field(default_factory=dict)

    async def search(self, query: str) -> Searched:
        """The first search, for the question itself."""
        return await self._search(query, self.types, self.reading, (None, None), FIRST_SOURCES)

    async def _search(
        self, query: str, types: Sequence[SearchedType], reading: RecordsReading, dates: Dates, sources: int
    ) -> Searched:
        """Search and take the best `sources` as evidence."""
        scope = self.scope.within(*dates)
        ranked = await rank_records(query, types, self.services, self.run, reading=reading, scope=scope)
        looked_at = ranked[:POOL_RECORDS]
        texts = await describe(self.services.reader, [item.key for item in looked_at], self.reading.types, query)
        by_key = {text.key: text for text in texts}
        found = [(item, by_key[item.key]) for item in looked_at if item.key in by_key]
        self.pool |= {text.key: text for _, text in found}
        return Searched(ranked, self.evidence.add(_varied(found)[:sources]))

    def tools(self) -> list[Tool]:
        """The tools to offer: only types that the asker allowed."""
        everything = Tool(
            SEARCH_ALL,
            "Search all kinds of records at once. The best first step.",
            SearchArguments,
            self._searcher(tuple(self.types)),
        )
        return [
            everything,
            *(
                Tool(f"search_{each.plural}", f"Search {each.told}.", SearchArguments, self._searcher((each,)))
                for each in self.types
            ),
        ]

    def _searcher(self, types: Sequence[SearchedType]) -> Callable[[SearchArguments], Awaitable[ToolResult]]:
        async def run_search(arguments: SearchArguments) -> ToolResult:
            dates = (arguments.date_from, arguments.date_to)
            reading, dates = guarded(arguments.query, dates, self.reading)
            searched = await self._search(arguments.query, types, reading, dates, TOOL_SOURCES)
            full = " No further source can be kept." if len(self.evidence.sources) >= SOURCES_MAX else ""
            return ToolResult(len(searched.ranked), searched.summary, sources_block(searched.sources) + full)

        return run_search


def summary(count: int, sources: Sequence[EvidenceSource], *, is_all: bool = True) -> str:
    """A line for people about what a search found; there may be more where that is not all."""
    if not count:
        return "Nothing found"
    kept = f"; kept {', '.join(f'[{source.n}]' for source in sources)}" if sources else ""
    return f"{'' if is_all else 'At least '}{count} record{'' if count == 1 else 's'} found{kept}"


def _varied(found: Sequence[tuple[RankedRecord, RecordText]]) -> list[tuple[RankedRecord, RecordText]]:
    """The same records, a type that already has three of them put behind the others: one kind must not crowd out the rest."""
    first: list[tuple[RankedRecord, RecordText]] = []
    later: list[tuple[RankedRecord, RecordText]] = []
    seen: dict[RecordType, int] = {}
    for item in found:
        name = item[1].type
        seen[name] = seen.get(name, 0) + 1
        (first if seen[name] <= 3 else later).append(item)
    return first + later
