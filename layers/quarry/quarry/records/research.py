"""The tools of a model that answers a question about records, within what the caller allowed: the general ones, whose searches
and reads give numbered sources with their whole texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Self

from quarry.agent.domain_tools import bounded
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Hit, SearchArguments, filters_of, rows_meeting, sought_texts, with_fields
from quarry.answering.loop import ToolResult
from quarry.answering.toolset import SEARCHED_MAX, Toolset
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.query.algebra import Condition
from quarry.records.answer_cache import AnswerContext
from quarry.records.evidence import EvidenceSource, RankedRecord
from quarry.records.finding import SearchToolset, rank_records, summary, varied
from quarry.records.prompts import sources_block
from quarry.records.retrieval import describe, whole_record
from quarry.records.scope import required

STEP = "records_answer"
SOURCES_FOUND_MAX = 40
"""Numbered sources of one answer at most. The answer sends the ones that it rests on, at most SOURCES_MAX."""


@dataclass(kw_only=True)
class Research(Toolset):
    """The tools of one answer. `toolset` holds the types, the filters and the numbered sources."""

    toolset: SearchToolset

    @classmethod
    def of(cls, context: AnswerContext) -> Self:
        """The tools after the first search. Where the asker chose no types, rows that no search covers can be queried too."""
        toolset, access = context.toolset, context.toolset.access
        searched = [each.name for each in toolset.types if each.name in access.schema.sources]
        others = [] if context.inquiry.request.types else _unsearched(toolset, access)
        return cls(
            services=toolset.services,
            caller=toolset.caller,
            run=toolset.run,
            access=access,
            today=access.today,
            names=[*searched, *others],
            toolset=toolset,
        )

    @property
    def searched(self) -> Sequence[str]:
        return [each.name for each in self.toolset.types if each.name in self.access.schema.sources]

    @property
    def has_found(self) -> bool:
        return bool(self.toolset.evidence.sources)

    def required(self, name: str) -> Sequence[Condition]:
        table = self.toolset.record_types.counted[name]
        return required(self.toolset.scope, table, self.access.schema.sources[name])

    async def search(self, arguments: SearchArguments, names: Sequence[str]) -> ToolResult:
        toolset = self.toolset
        filters = await filters_of(names, arguments.where, self.access, toolset.services)
        types = [each.narrowed(filters.get(each.name)) for each in toolset.types if each.name in names]
        sought = await sought_texts(arguments, self.access, self.services)
        lists = [
            await rank_records(text, types, toolset.services, toolset.run, scope=toolset.scope) for text in sought.texts
        ]
        ranked = list({each.key: each for each in reversed([*_in_turn(lists)])}.values())[::-1]
        ranked = [each for each in ranked if each.key != sought.itself][arguments.offset :]
        found = await toolset.found(ranked, " ".join(sought.texts)[:QUERY_MAX_CHARACTERS])
        sources = toolset.evidence.add(varied(found)[: min(arguments.limit, SEARCHED_MAX)])
        return await self._found(arguments, names, ranked, sources)

    async def _found(
        self,
        arguments: SearchArguments,
        names: Sequence[str],
        ranked: Sequence[RankedRecord],
        sources: list[EvidenceSource],
    ) -> ToolResult:
        """The sources that a search found. Behind them come the others that meet its conditions, and how many these are."""
        text = ""
        if len(names) == 1 and arguments.where:
            where = (*self.required(names[0]), *arguments.where)
            most = arguments.offset + min(arguments.limit, SEARCHED_MAX)
            meeting, others = await rows_meeting(names[0], where, most, self.access, self.services)
            missing = [(names[0], each.id) for each in others if (names[0], each.id) not in {e.key for e in ranked}]
            room = min(arguments.limit, SEARCHED_MAX) - len(sources)
            if room > 0 and missing:
                texts = await describe(self.services.reader, missing[:room], self.toolset.record_types)
                sources += self.toolset.evidence.add_read(texts.values())
            text = f"{meeting} rows meet `where`.\n"
        shown = text + await off_loop(sources_block, sources)
        if len(names) == 1 and arguments.select:
            hits = [Hit(source=names[0], id=each.text.id, title=f"[{each.n}]", text="") for each in sources]
            hits = await with_fields(names[0], hits, arguments.select, self.access, self.services)
            shown += "".join(f"\n{each.title} {json.dumps(each.fields, ensure_ascii=False)}" for each in hits)
        return ToolResult(len(ranked) or len(sources), summary(len(ranked), sources), shown)

    async def get(self, source: str, id: str, characters_max: int) -> ToolResult:
        toolset = self.toolset
        [chosen] = [each for each in toolset.types if each.name == source]
        whole = await whole_record(toolset.services.reader, chosen, id)
        texts = await describe(toolset.services.reader, [(source, id)], toolset.record_types)
        number = "".join(f"Source [{each.n}]: " for each in toolset.evidence.add_read(texts.values()))
        shown = bounded(whole.model_dump(mode="json", exclude_none=True), characters_max)
        return ToolResult(1, whole.title, f"{number}{json.dumps(shown, ensure_ascii=False)}")


def _in_turn(lists: Sequence[Sequence[RankedRecord]]) -> Iterator[RankedRecord]:
    """The best of each list, then the second best of each."""
    return (each for each in chain.from_iterable(zip_longest(*lists)) if each is not None)


def _unsearched(toolset: SearchToolset, access: DataAccess) -> list[str]:
    """Sources of records whose texts are not searched, such as the meetings that motions lead to."""
    known = toolset.record_types
    return [name for name, (domain, _) in access.homes.items() if domain == "records" and name not in known]
