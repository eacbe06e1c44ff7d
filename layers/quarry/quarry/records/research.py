"""The tools of a model that answers a question about records, within what the caller allowed: the general ones, whose searches
and reads give numbered sources with their whole texts.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from quarry.agent.domain_tools import bounded
from quarry.agent.sources import Asked
from quarry.agent.tools import GetArguments, SearchArguments, filters_of
from quarry.answering.loop import ToolResult
from quarry.answering.toolset import SEARCHED_MAX, WHOLE_CHARACTERS_MAX, Toolset
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import Condition
from quarry.records.answer_cache import Begun
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
    def of(cls, begun: Begun) -> Self:
        """The tools after the first search. Where the asker chose no types, rows that no search covers can be queried too."""
        toolset, asked = begun.toolset, begun.toolset.asked
        searched = [each.name for each in toolset.types if each.name in asked.schema.sources]
        others = [] if begun.asked.request.types else _unsearched(toolset, asked)
        return cls(
            services=toolset.services,
            caller=toolset.caller,
            run=toolset.run,
            asked=asked,
            today=datetime.datetime.now(datetime.UTC).date(),
            names=[*searched, *others],
            toolset=toolset,
        )

    @property
    def searched(self) -> Sequence[str]:
        return [each.name for each in self.toolset.types if each.name in self.asked.schema.sources]

    @property
    def has_found(self) -> bool:
        return bool(self.toolset.evidence.sources)

    def required(self, name: str) -> Sequence[Condition]:
        table = self.toolset.record_types.counted[name]
        return required(self.toolset.scope, table, self.asked.schema.sources[name])

    async def search(self, arguments: SearchArguments, names: Sequence[str]) -> ToolResult:
        toolset = self.toolset
        filters = await filters_of(names, arguments.where, self.asked, toolset.services)
        types = [each.narrowed(filters.get(each.name)) for each in toolset.types if each.name in names]
        ranked = await rank_records(arguments.text, types, toolset.services, toolset.run, scope=toolset.scope)
        found = await toolset.found(ranked, arguments.text)
        sources = toolset.evidence.add(varied(found)[: min(arguments.limit, SEARCHED_MAX)])
        return ToolResult(len(ranked), summary(len(ranked), sources), await off_loop(sources_block, sources))

    async def get(self, arguments: GetArguments) -> ToolResult:
        toolset = self.toolset
        [chosen] = [each for each in toolset.types if each.name == arguments.source]
        whole = await whole_record(toolset.services.reader, chosen, arguments.id)
        texts = await describe(toolset.services.reader, [(arguments.source, arguments.id)], toolset.record_types)
        number = "".join(f"Source [{source.n}]: " for source in toolset.evidence.add_read(texts.values()))
        shown = bounded(whole.model_dump(mode="json", exclude_none=True), WHOLE_CHARACTERS_MAX)
        return ToolResult(1, whole.title, f"{number}{json.dumps(shown, ensure_ascii=False)}")


def _unsearched(toolset: SearchToolset, asked: Asked) -> list[str]:
    """Sources of records whose texts are not searched, such as the meetings that motions lead to."""
    known = toolset.record_types
    return [name for name, (domain, _) in asked.homes.items() if domain == "records" and name not in known]
