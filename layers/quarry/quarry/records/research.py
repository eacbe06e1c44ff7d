"""The tools of a model that answers a question about records, within what the caller allowed.

Scope, identity and the filters of the request are bound in here; a model cannot widen them. What it searches and reads becomes a
numbered source, which an answer can cite; what it queries is kept, so that numbers can be held against it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quarry.agent import tools as agent_tools
from quarry.agent.domain_tools import bounded
from quarry.agent.loop import Calling, Tool, ToolResult, explained
from quarry.agent.service import answer_query
from quarry.agent.sources import Asked, describe_sources
from quarry.agent.tools import GetArguments, SearchArguments, ValuesArguments, filters_of, values_like
from quarry.platform.errors import FieldError, InvalidInput, SourceUnavailable
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import Condition, Query
from quarry.query.contract import QueryResult, SourceDescription
from quarry.query.paths import unknown
from quarry.records.finding import SearchToolset, rank_records, summary, varied
from quarry.records.prompts import RESULT, sources_block
from quarry.records.retrieval import describe, whole_record
from quarry.records.scope import required

STEP = "records_answer"
SOURCES_FOUND_MAX = 40
"""Numbered sources of one answer at most. The answer sends the ones that it rests on, at most SOURCES_MAX."""
SEARCHED_MAX = 8
"""Sources that one search shows."""
WHOLE_CHARACTERS_MAX = 8_000


@dataclass
class Research:
    """The tools of one answer, and what they found. `toolset` holds the types, the filters and the numbered sources; `asked` is
    the schema of all records. Where the asker chose no types (`is_open`), rows that no search covers can be queried too.
    """

    toolset: SearchToolset
    asked: Asked
    today: datetime.date
    is_open: bool = False
    results: list[QueryResult] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The sources that the request allows."""
        return [*self._searched, *self._unsearched]

    @property
    def _searched(self) -> list[str]:
        return [each.name for each in self.toolset.types if each.name in self.asked.schema.sources]

    @property
    def _unsearched(self) -> list[str]:
        """Sources of records whose texts are not searched, such as the meetings that motions lead to."""
        if not self.is_open:
            return []
        known = self.toolset.reading.types
        return [name for name, (domain, _) in self.asked.homes.items() if domain == "records" and name not in known]

    async def described(self) -> dict[str, SourceDescription]:
        """The sources with their fields and some values."""
        sources = await describe_sources(self.asked.caller, self.toolset.services)
        return {name: sources[name] for name in self.names if name in sources}

    def tools(self) -> list[Tool]:
        """The tools to offer."""
        runs: Mapping[str, Calling] = {
            "search": self._search,
            "query": self._query,
            "get": self._get,
            "values": self._values,
            "describe_collections": self._describe,
        }
        return [
            Tool(each.name, each.description, each.arguments, self._explained(runs[each.name]), each.unlisted)
            for each in agent_tools.AGENT_TOOLS
        ]

    async def _search(self, arguments: SearchArguments) -> ToolResult:
        names = self._allowed(arguments.source, "/source", self._searched)
        if arguments.where and not arguments.source:
            raise InvalidInput(
                [FieldError("/source", "`where` names fields of a source: say which `source` is searched")]
            )
        toolset = self.toolset
        filters = await filters_of(names, arguments.where, self.asked, toolset.services)
        types = [each.narrowed(filters.get(each.name)) for each in toolset.types if each.name in names]
        ranked = await rank_records(arguments.text, types, toolset.services, toolset.run, scope=toolset.scope)
        found = await toolset.found(ranked, arguments.text)
        sources = toolset.evidence.add(varied(found)[: min(arguments.limit, SEARCHED_MAX)])
        return ToolResult(len(ranked), summary(len(ranked), sources), await off_loop(sources_block, sources))

    async def _query(self, arguments: Query) -> ToolResult:
        self._allowed((arguments.source,), "")
        required = self._required(arguments.source)
        result = await self._run(arguments.model_copy(update={"where": (*required, *arguments.where)}))
        self.results.append(result)
        number = f"Result {RESULT}{len(self.results)}: "
        shown = json.dumps(agent_tools.shown(result), ensure_ascii=False)
        return ToolResult(result.total, result.sentence, number + shown)

    async def _run(self, query: Query) -> QueryResult:
        return await answer_query(query, self.asked, self.toolset.services, self.today)

    async def _get(self, arguments: GetArguments) -> ToolResult:
        self._allowed((arguments.source,), "", self._searched)
        toolset = self.toolset
        [chosen] = [each for each in toolset.types if each.name == arguments.source]
        whole = await whole_record(toolset.services.reader, chosen, arguments.id)
        texts = await describe(toolset.services.reader, [(arguments.source, arguments.id)], toolset.reading.types)
        number = "".join(f"Source [{source.n}]: " for source in toolset.evidence.add_read(texts.values()))
        shown = bounded(whole.model_dump(mode="json", exclude_none=True), WHOLE_CHARACTERS_MAX)
        return ToolResult(1, whole.title, f"{number}{json.dumps(shown, ensure_ascii=False)}")

    async def _values(self, arguments: ValuesArguments) -> ToolResult:
        self._allowed((arguments.source,), "")
        rows = await values_like(arguments.source, arguments.field, arguments.like, self._run)
        return ToolResult(len(rows), f"{len(rows)} values", json.dumps(rows, ensure_ascii=False))

    async def _describe(self, arguments: agent_tools.DescribeArguments) -> ToolResult:
        names = self._allowed(arguments.source, "/source")
        sources = await self.described()
        chosen = [sources[name] for name in names if name in sources]
        page = agent_tools.listed(chosen, arguments.page, whole=bool(arguments.source))
        return ToolResult(len(names), f"{len(names)} sources", json.dumps(page, ensure_ascii=False))

    def _explained(self, call: Calling) -> Calling:
        run, evidence = self.toolset.run, self.toolset.evidence
        return lambda arguments: explained(call, arguments, run, STEP, lambda: bool(evidence.sources))

    def _allowed(self, names: Sequence[str], pointer: str, among: Sequence[str] = ()) -> list[str]:
        """The sources of these names, or all; those `among` which a tool works, where it does not on all. Raises InvalidInput for
        one that the asker did not allow, or that the tool does not work on, and SourceUnavailable for one that cannot be read.
        """
        allowed = self.names
        for place, name in enumerate(names):
            at = f"{pointer}/{place}" if pointer else "/source"
            if name in self.asked.left_out:
                raise SourceUnavailable([name])
            if name not in allowed:
                raise unknown(at, "the data", "source", name, allowed)
            if among and name not in among:
                message = f"the texts of {name} are not searched: `query` its rows, with the fields to `select`"
                raise InvalidInput([FieldError(at, message)])
        return list(names) or list(among) or allowed

    def _required(self, name: str) -> list[Condition]:
        """The filters of the request as conditions on a source. Raises InvalidInput where it has no such field."""
        table = self.toolset.reading.types.counted[name]
        return required(self.toolset.scope, table, self.asked.schema.sources[name])
