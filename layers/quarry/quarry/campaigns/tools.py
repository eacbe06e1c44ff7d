"""What a model may call: searches that give results of one shape, and counts that are exact.

The page's filters and the reading of the question are bound in here: a model can narrow them, but not drop what holds, nor filter
by what nobody said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from quarry.campaigns import execution, retrieval
from quarry.campaigns.contract import CampaignFilters, EmbeddingField, ExcludedValues
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.filters import Resolved, named_values, resolve
from quarry.campaigns.guard import Guarded, guard
from quarry.campaigns.reading import CampaignQuestion
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
from quarry.core.services import Services
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

    exclude: ExcludedValues | None = Field(default=None, description="Values that no campaign of the result may have.")


class SemanticArguments(FilterArguments):
    """Arguments of `semantic_search`."""

    query: QueryText = Field(description="What the campaigns should be about, in a few words.")
    embedding_field: EmbeddingField = Field(
        default="profile",
        description="What to compare: the whole profile, the copy, the offer or the value propositions.",
    )


class TextArguments(FilterArguments):
    """Arguments of `full_text_search`."""

    query: QueryText = Field(description='Words that the copy must all hold; "quoted" for a phrase, -word to exclude.')


class AggregateArguments(FilterArguments):
    """Arguments of `aggregate_campaigns`."""

    ask: Literal["count", "distinct", "groups"] = Field(
        description="How many campaigns, how many different values of `by`, or the values of `by` with their numbers."
    )
    by: CountedBy | None = Field(default=None, description="The field, or the period of capture; not for `count`.")
    least_first: bool = Field(default=False, description="Give the smallest groups first.")
    limit: int = Field(default=20, ge=1, le=GROUPS_MAX, description="How many groups to give.")

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
    SEMANTIC_SEARCH: (
        "Find campaigns by meaning: a theme, a need, a kind of customer that no filter names.",
        SemanticArguments,
    ),
    FILTER_CAMPAIGNS: (
        "All campaigns with given properties, and exact counts of everything over all of them. The right tool for named "
        "channels, companies, brands, value propositions, sentiments, visual styles, offers and dates, for questions "
        "what their offers or value propositions are, and for how many and most common.",
        FilterArguments,
    ),
    FULL_TEXT_SEARCH: (
        "Campaigns whose copy says given words or a phrase: for questions who mentions or says something.",
        TextArguments,
    ),
    AGGREGATE_CAMPAIGNS: (
        "Exact numbers over all campaigns with given properties: how many, how many different values of a field, or how "
        "many for each value of a field or each day, week, month, quarter or year. Of very many it is said that they are "
        "too many.",
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
    """The searches of one answer. `base` are the conditions that hold in all of them; `asked` is the question as it was read,
    where there is one, and `said` the stems of all that the person said.
    """

    services: Services
    run: Run
    known: KnownValues
    base: tuple[Clause, ...] = ()
    asked: CampaignQuestion | None = None
    said: frozenset[str] = frozenset()
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
        """Make one search under these conditions and those of the page."""
        with self.run.step(tool) as record:
            found = await self._find(arguments, (*self.base, *clauses))
            record.counts["campaigns"] = found.total
        self.searches.append(Search(tool, clauses, found))
        return found

    async def _find(self, arguments: FilterArguments, clauses: Sequence[Clause]) -> CampaignSet:
        database, preferred = self.services.reader, self.asked.preferred if self.asked else ()
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

    def _tool(self, name: str) -> Any:
        async def run_tool(arguments: FilterArguments) -> ToolResult:
            resolved = await resolve_filters(self.services.reader, arguments, self.known, arguments.exclude)
            if resolved.unknown:
                problem = " ".join(str(each) for each in resolved.unknown)
                told = CampaignToolResult(0, f"{problem} Call again with values that exist, or without this filter.")
                return ToolResult(0, problem, told.as_told())
            guarded = self._guarded(resolved)
            found = await self.find(name, arguments, guarded.clauses)
            numbers = await self._numbers(arguments, guarded.clauses, found)
            result = build_tool_result(found)
            summary = "\n".join([*_dropped(guarded.dropped), *numbers, result.summary_for_llm])[:SUMMARY_CHARACTERS_MAX]
            text = replace(result, summary_for_llm=summary).as_told()
            self.found_by[text] = found
            return ToolResult(result.count, "; ".join([*numbers, line_for_people(found)]), text)

        return run_tool

    def _guarded(self, resolved: Resolved) -> Guarded:
        if self.asked is None:
            return Guarded(resolved.clauses)
        shown = frozenset(
            (name, value)
            for search in self.searches
            for name, values in search.found.counts.items()
            for value in values
        )
        return guard(resolved.clauses, self.asked, self.said, shown, may_widen=self._may_widen(self.asked))

    def _may_widen(self, asked: CampaignQuestion) -> bool:
        """Whether what the question states was searched for already, and nothing found."""
        stated = {condition.facet for clause in asked.clauses for condition in clause}
        return any(
            not search.found.total and stated <= {condition.facet for clause in search.clauses for condition in clause}
            for search in self.searches
        )

    async def _numbers(self, arguments: FilterArguments, clauses: Sequence[Clause], found: CampaignSet) -> list[str]:
        """What an aggregate tells, in a line."""
        if not isinstance(arguments, AggregateArguments):
            return []
        ask, groups = arguments.as_ask(), None
        if ask.kind != "count":
            groups = await execution.group(self.services.reader, ask, (*self.base, *clauses), found)
        return [summarise_groups(found, ask, groups, arguments.by or "", arguments.limit)]


def _dropped(labels: Iterable[str]) -> list[str]:
    return [f"Left out, since nothing that was asked says so: {label}." for label in labels]
