"""What a model may call: searches that give results of one shape, and counts that are exact.

The filters of the page and the conditions of the request are bound in here: a model can narrow them, but not drop them. Its own
filters hold as it gives them; where one cannot, the result says which and why.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from pydantic import Field, model_validator

from quarry.campaigns import execution, retrieval
from quarry.campaigns.contract import CampaignFilters, EmbeddingField, ExcludedValues
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.filters import Resolved, named_values, resolve
from quarry.campaigns.results import CampaignSet, KnownValues, Search
from quarry.campaigns.tool_result import (
    SUMMARY_CHARACTERS_MAX,
    CampaignToolResult,
    build_tool_result,
    line_for_people,
    summarise_groups,
)
from quarry.core.model.tool_loop import Tool, ToolResult
from quarry.core.off_loop import off_loop
from quarry.core.postgres.pool import Database
from quarry.core.query.question import Ask, Clause
from quarry.core.retrieval.known_values import existing_values
from quarry.core.run_log import Run
from quarry.core.services import Caller, Services
from quarry.core.text import QueryText

SEMANTIC_SEARCH, FILTER_CAMPAIGNS, FULL_TEXT_SEARCH = "semantic_search", "filter_campaigns", "full_text_search"
AGGREGATE_CAMPAIGNS = "aggregate_campaigns"

GROUPS_MAX = 100
"""Groups that a model is given at most."""

CountedBy = Literal[
    "channel", "company", "brand", "value_prop", "sentiment", "visual_style", "offer", "day", "week", "month", "quarter", "year"
]  # fmt: skip
_PERIODS = ("day", "week", "month", "quarter", "year")


class FilterArguments(CampaignFilters):
    """Arguments of `filter_campaigns`, and filters of the other tools."""

    exclude: ExcludedValues | None = Field(default=None, description="Values that no campaign may have.")


class SemanticArguments(FilterArguments):
    """Arguments of `semantic_search`."""

    query: QueryText = Field(description="What the campaigns are about, in a few words.")
    embedding_field: EmbeddingField = Field(default="profile", description="What to compare, if not the whole profile.")


class TextArguments(FilterArguments):
    """Arguments of `full_text_search`."""

    query: QueryText = Field(description='Words that must all be there; "quoted" for a phrase, -word to exclude.')


class AggregateArguments(FilterArguments):
    """Arguments of `aggregate_campaigns`."""

    ask: Literal["count", "distinct", "groups"] = Field(
        description="How many campaigns, how many different values of `by`, or each value of `by` with its number."
    )
    by: CountedBy | None = Field(default=None, description="A field or a period of capture; not for count.")
    least_first: bool = Field(default=False, description="Smallest groups first.")
    limit: int = Field(default=20, ge=1, le=GROUPS_MAX, description="Groups to give.")

    @model_validator(mode="after")
    def _by_something(self) -> Self:
        if (self.ask == "count") == (self.by is not None):
            raise ValueError("`distinct` and `groups` need `by`, and `count` has none")
        return self

    def as_ask(self) -> Ask:
        """The same in the terms of the core."""
        if self.by in _PERIODS:
            return Ask(self.ask, CAMPAIGNS.date, self.by, self.least_first)  # type: ignore[arg-type]
        return Ask(self.ask, self.by, None, self.least_first)


_DESCRIPTIONS: dict[str, tuple[str, type[FilterArguments]]] = {
    SEMANTIC_SEARCH: ("Campaigns by meaning: a theme or need that no filter names.", SemanticArguments),
    FILTER_CAMPAIGNS: (
        "All campaigns with given properties, with their offers and value propositions, and exact counts over all of them.",
        FilterArguments,
    ),
    FULL_TEXT_SEARCH: ("Campaigns whose copy says given words or a phrase.", TextArguments),
    AGGREGATE_CAMPAIGNS: (
        "Exact numbers: how many campaigns, how many different values, or how many for each value or period.",
        AggregateArguments,
    ),
}


async def resolve_filters(
    database: Database, filters: CampaignFilters, known: KnownValues, exclude: ExcludedValues | None = None
) -> Resolved:
    """The filters with the values as they stand in the data. Raises DatabaseUnavailable."""
    named = named_values(filters, exclude)
    existing = await existing_values(database, CAMPAIGNS, named)
    return await off_loop(resolve, filters, named, existing, known)


@dataclass
class CampaignToolset:
    """The searches of one answer. `base` and `given` hold in all of them: the filters of the page, and the conditions that the
    request brings in place of a reading; `preferred` ones put campaigns before others.
    """

    services: Services
    caller: Caller
    run: Run
    known: KnownValues
    base: tuple[Clause, ...] = ()
    given: tuple[Clause, ...] = ()
    preferred: tuple[Clause, ...] = ()
    searches: list[Search] = field(default_factory=list)
    found_by: dict[str, CampaignSet] = field(default_factory=dict)
    """What was found, by the text that the model was given of it: a call answered from memory shows the same again."""

    @property
    def last_found(self) -> Search | None:
        """The last search that found anything, else the last one."""
        found = [search for search in self.searches if search.found.total] or self.searches
        return found[-1] if found else None

    def tools(self) -> list[Tool]:
        """What the model may call."""
        return [
            Tool(name, description, arguments, self._tool(name))
            for name, (description, arguments) in _DESCRIPTIONS.items()
        ]

    async def find(self, tool: str, arguments: FilterArguments, clauses: tuple[Clause, ...]) -> CampaignSet:
        """Make one search under these conditions and those that hold in all."""
        with self.run.step(tool) as record:
            found = await self._find(arguments, self._all(clauses))
            record.counts["campaigns"] = found.total
        theme = arguments.query if isinstance(arguments, SemanticArguments) else ""
        words = arguments.query if isinstance(arguments, TextArguments) else ""
        self.searches.append(Search(tool, (*self.given, *clauses), found, theme, words))
        return found

    def _all(self, clauses: Sequence[Clause]) -> tuple[Clause, ...]:
        return (*self.base, *self.given, *clauses)

    async def _find(self, arguments: FilterArguments, clauses: Sequence[Clause]) -> CampaignSet:
        database, preferred = self.services.reader, self.preferred
        match arguments:
            case SemanticArguments():
                vector = await self.services.queries.embed_for(self.run, arguments.query)
                if vector is None:
                    return await retrieval.find_by_text(database, arguments.query, clauses, preferred)
                return await retrieval.find_by_meaning(database, vector, arguments.embedding_field, clauses, preferred)
            case TextArguments():
                return await retrieval.find_by_text(database, arguments.query, clauses, preferred)
            case _:
                return await retrieval.filter_campaigns(database, clauses, preferred)

    def _tool(self, name: str) -> Callable[[FilterArguments], Awaitable[ToolResult]]:
        async def run_tool(arguments: FilterArguments) -> ToolResult:
            resolved = await resolve_filters(self.services.reader, arguments, self.known, arguments.exclude)
            problem = " ".join(str(each) for each in resolved.unknown)
            if resolved.is_impossible:
                told = CampaignToolResult(0, f"{problem} Call again with values that exist, or without this filter.")
                return ToolResult(0, problem, told.as_told())
            found = await self.find(name, arguments, resolved.clauses)
            numbers = await self._numbers(arguments, resolved.clauses, found)
            result = build_tool_result(found)
            lines = [*([f"Not filtered by all that was given. {problem}"] if problem else []), *numbers]
            summary = "\n".join([*lines, result.summary_for_llm])[:SUMMARY_CHARACTERS_MAX]
            text = replace(result, summary_for_llm=summary).as_told()
            self.found_by[text] = found
            return ToolResult(result.count, "; ".join([*numbers, line_for_people(found)]), text)

        return run_tool

    async def _numbers(self, arguments: FilterArguments, clauses: Sequence[Clause], found: CampaignSet) -> list[str]:
        """What an aggregate tells, in a line."""
        if not isinstance(arguments, AggregateArguments):
            return []
        ask, groups = arguments.as_ask(), None
        if ask.kind != "count":
            groups = await execution.group(self.services.reader, ask, self._all(clauses), found)
        return [summarise_groups(found, ask, groups, arguments.by or "", arguments.limit)]
