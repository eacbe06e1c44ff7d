"""What a model may call: three searches that give results of one shape.

The page's filters, and the campaigns that an answer may speak of, are bound in here; a model can narrow them but not drop them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from quarry.campaigns import retrieval
from quarry.campaigns.contract import CampaignFilters, EmbeddingField
from quarry.campaigns.filters import AppliedFilters, UnknownValue, canonical, resolve
from quarry.campaigns.found import NOTHING, CampaignSet, KnownValues
from quarry.campaigns.tool_result import build_tool_result, line_for_people
from quarry.core.errors import ModelError
from quarry.core.model.tool_loop import Tool, ToolResult
from quarry.core.off_loop import off_loop
from quarry.core.run_log import Run
from quarry.core.services import Services
from quarry.core.text import QueryText

SEMANTIC_SEARCH, FILTER_CAMPAIGNS, FULL_TEXT_SEARCH = "semantic_search", "filter_campaigns", "full_text_search"


class FilterArguments(CampaignFilters):
    """Arguments of `filter_campaigns`."""


class SemanticArguments(CampaignFilters):
    """Arguments of `semantic_search`."""

    query: QueryText = Field(description="What the campaigns should be about, in a few words.")
    embedding_field: EmbeddingField = Field(
        default="profile",
        description="What to compare: the whole profile, the copy, the offer or the value propositions.",
    )


class TextArguments(CampaignFilters):
    """Arguments of `full_text_search`."""

    query: QueryText = Field(description='Words that the copy must all hold; "quoted" for a phrase, -word to exclude.')


@dataclass(frozen=True)
class Search:
    """One search that was made, its filters as they were asked."""

    tool: str
    filters: CampaignFilters
    found: CampaignSet


@dataclass
class CampaignDesk:
    """The searches of one answer. `base` are the filters that hold in all of them."""

    services: Services
    run: Run
    known: KnownValues
    base: AppliedFilters
    searches: list[Search] = field(default_factory=list)
    found_by: dict[str, CampaignSet] = field(default_factory=dict)
    """What was found, by the text that the model was given of it: a call answered from memory shows the same again."""

    @property
    def last_found(self) -> Search | None:
        """The last search that found anything, else the last one."""
        found = [search for search in self.searches if search.found.total] or self.searches
        return found[-1] if found else None

    def tools(self) -> list[Tool]:
        return [
            Tool(
                SEMANTIC_SEARCH,
                "Find campaigns by meaning: a theme, a need, a kind of customer that no filter names.",
                SemanticArguments,
                self._tool(SEMANTIC_SEARCH),
            ),
            Tool(
                FILTER_CAMPAIGNS,
                "All campaigns with given properties, and exact counts of everything over all of them. The right tool for named "
                "channels, companies, brands, value propositions, sentiments, visual styles, offers and dates, for questions "
                "what their offers or value propositions are, and for how many and most common.",
                FilterArguments,
                self._tool(FILTER_CAMPAIGNS),
            ),
            Tool(
                FULL_TEXT_SEARCH,
                "Campaigns whose copy says given words or a phrase: for questions who mentions or says something.",
                TextArguments,
                self._tool(FULL_TEXT_SEARCH),
            ),
        ]

    async def search(self, tool: str, arguments: CampaignFilters) -> tuple[CampaignSet, list[UnknownValue]]:
        """Make one search; what it found, or the values that do not exist."""
        filters, unknown = await off_loop(resolve, arguments, self.known)
        if unknown:
            return NOTHING, unknown
        with self.run.step(tool) as record:
            found = await self._find(arguments, filters.within(self.base))
            record.counts["campaigns"] = found.total
        self.searches.append(Search(tool, canonical(arguments, filters), found))
        return found, []

    async def _find(self, arguments: CampaignFilters, filters: AppliedFilters) -> CampaignSet:
        database = self.services.database
        match arguments:
            case SemanticArguments():
                vector = await self._vector(arguments.query)
                if vector is None:
                    return await retrieval.find_by_text(database, arguments.query, filters)
                return await retrieval.find_by_meaning(database, vector, arguments.embedding_field, filters)
            case TextArguments():
                return await retrieval.find_by_text(database, arguments.query, filters)
            case _:
                return await retrieval.filter_campaigns(database, filters)

    async def _vector(self, query: str) -> Sequence[float] | None:
        with self.run.step("query_embedding") as record:
            try:
                return await self.services.queries.embed(query, seconds=self.run.budget.seconds_left)
            except ModelError:
                self.run.degrade("query_embedding", record)
                return None

    def _tool(self, name: str) -> Any:
        async def run_tool(arguments: CampaignFilters) -> ToolResult:
            found, unknown = await self.search(name, arguments)
            if unknown:
                problem = " ".join(str(each) for each in unknown)
                return ToolResult(0, problem, f"{problem} Call again with values that exist, or without this filter.")
            result = build_tool_result(found)
            text = json.dumps({"count": result.count, "summary_for_llm": result.summary_for_llm}, ensure_ascii=False)
            self.found_by[text] = found
            return ToolResult(result.count, line_for_people(found), text)

        return run_tool
