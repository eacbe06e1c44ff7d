"""The tools of a model that answers about campaigns: the general ones and four of its own, with results of one shape.

The filters of the page and the conditions of the request hold in every call: the model can narrow them, but not drop them. Its
own filters hold as given; the result names those that cannot, and why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

from quarry.agent.domain_tools import bounded
from quarry.agent.service import ConditionChecks, answer_query, with_known_values
from quarry.agent.tools import SearchArguments, result_table, search_texts
from quarry.answering.loop import Tool, ToolResult, Working
from quarry.answering.toolset import Toolset
from quarry.answering.written import RESULT
from quarry.campaigns import retrieval
from quarry.campaigns.conditions import (
    DATE,
    NAME,
    SCHEMA,
    SUMMARY_CHARACTERS_MAX,
    CampaignSet,
    CampaignToolResult,
    KnownValues,
    Resolved,
    Search,
    build_tool_result,
    label_of,
    line_for_people,
    named_values,
    resolve,
    summarise_groups,
)
from quarry.campaigns.contract import (
    FILTER_VALUES,
    Campaign,
    CampaignFilters,
    ChatRequest,
    EmbeddingField,
    ExcludedValues,
    ToolObservationEvent,
    ToolObserved,
)
from quarry.campaigns.sources import CAMPAIGNS
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS, QueryText, fence
from quarry.postgres.pool import Database
from quarry.query.contract import QueryResult
from quarry.query.execute import execute
from quarry.query.paths import with_comparisons
from quarry.retrieval.known_values import existing_values, values_meant
from quarry.schema.algebra import (
    LIMIT_MAX,
    Aggregate,
    Comparison,
    Condition,
    Group,
    Order,
    Period,
    Query,
    Words,
    comparisons_of,
)
from quarry.schema.source import NamedValue, Source


async def check_filters(request: ChatRequest, values: KnownValues, database: Database) -> tuple[Condition, ...]:
    """The conditions of the page's filters, which hold in every search. Raises InvalidInput for a value that no campaign has, and
    DatabaseUnavailable.
    """
    filters = request.base_filters
    filter_values = named_values(filters, pointer="/activeFilters")
    meanings = await values_meant(database, CAMPAIGNS, filter_values)
    return (await off_loop(resolve, filters, filter_values, meanings, values)).conditions


async def check_understood(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its conditions with the values as the data spells them. Raises InvalidInput and DatabaseUnavailable."""
    if request.understood is None:
        return request
    checked = await _CHECKS.check(request.understood, request.message, database)
    return request.model_copy(update={"understood": checked})


_CHECKS = ConditionChecks(NAME, SCHEMA, CAMPAIGNS)


STEP = "campaigns_research"
SEMANTIC_SEARCH, FILTER_CAMPAIGNS, FULL_TEXT_SEARCH = "semantic_search", "filter_campaigns", "full_text_search"
AGGREGATE_CAMPAIGNS = "aggregate_campaigns"
MARGIN_CHARACTERS = 500
"""Characters of a result beside the whole campaign."""
ROWS_CHARACTERS_MAX = SUMMARY_CHARACTERS_MAX - 2_000
"""Characters of the rows of a query; the rest is for its sentence and columns."""

NEAR = "These are the nearest in meaning, not all that are about it: read which fit, and do not give their number as an answer."
"""A line about a search by meaning."""
OBSERVED_IDS = 50
GROUPS_MAX = 100
"""The most groups that the model gets."""

CountedBy = Literal[
    "channel", "company", "brand", "value_prop", "sentiment", "visual_style", "offer", Period
]  # fmt: skip


class FilterArguments(CampaignFilters):
    """Arguments of `filter_campaigns`, and filters of the other tools."""

    # described by the filters already
    exclude: Annotated[ExcludedValues | None, WithJsonSchema({"type": "object"})] = Field(
        default=None, description="Filters with lists of values that no campaign may have."
    )


def _filters_in_short(schema: dict[str, Any]) -> None:
    """Drop the descriptions that `filter_campaigns` already gives."""
    for name in FilterArguments.model_fields:
        schema["properties"][name].pop("description", None)


class SemanticArguments(FilterArguments):
    """Arguments of `semantic_search`."""

    model_config = ConfigDict(json_schema_extra=_filters_in_short)

    query: QueryText = Field(description="What the campaigns are about, in a few words.")
    embedding_field: EmbeddingField = Field(default="profile", description="What to compare, if not the whole profile.")


class TextArguments(FilterArguments):
    """Arguments of `full_text_search`."""

    model_config = ConfigDict(json_schema_extra=_filters_in_short)

    query: QueryText = Field(description='Words that must all be there; "quoted" for a phrase, -word to exclude.')


class AggregateArguments(FilterArguments):
    """Arguments of `aggregate_campaigns`."""

    model_config = ConfigDict(json_schema_extra=_filters_in_short)

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

    def as_query(self, where: tuple[Condition, ...]) -> Query:
        """The query for the groups of the campaigns that meet all conditions."""
        group = {"field": DATE, "period": self.by} if self.by in get_args(Period) else {"field": self.by}
        return Query(
            source=NAME,
            where=where,
            group=(Group.model_validate(group),),
            aggregate=(Aggregate(fn="count"),),
            order=(Order(by="count", direction="asc" if self.least_first else "desc"),),
            limit=LIMIT_MAX,
        )


_SEARCHES: dict[str, tuple[str, type[FilterArguments]]] = {
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
    database: Database, filters: CampaignFilters, values: KnownValues, exclude: ExcludedValues | None = None
) -> Resolved:
    """The filters with the values as the data spells them. Raises DatabaseUnavailable."""
    filter_values = named_values(filters, exclude)
    existing = await existing_values(database, [CAMPAIGNS], filter_values)
    return await off_loop(resolve, filters, filter_values, existing, values)


@dataclass(kw_only=True)
class CampaignToolset(Toolset):
    """The searches of one answer. The filters of the page (`base`) and the conditions of the request (`requested`) hold in all of
    them; `preferred` conditions affect the order.
    """

    values: KnownValues
    base: tuple[Condition, ...] = ()
    requested: tuple[Condition, ...] = ()
    preferred: tuple[Condition, ...] = ()
    searches: list[Search] = field(default_factory=list)
    sets_by_text: dict[str, CampaignSet] = field(default_factory=dict)
    """The sets found, by the text that the model got: a repeated call is answered from memory."""

    @property
    def last_with_matches(self) -> Search | None:
        """The last search that found something, else the last one."""
        searches = [search for search in self.searches if search.matches.total] or self.searches
        return searches[-1] if searches else None

    @property
    def source(self) -> str | None:
        """The name of the source of campaigns; None if there are none."""
        return self.names[0] if self.names else None

    @property
    def has_found(self) -> bool:
        return bool(self.searches)

    def required(self, name: str) -> Sequence[Condition]:
        return self.all()

    def tools(self) -> list[Tool]:
        own = [
            Tool(name, description, arguments, self._search_by(name))
            for name, (description, arguments) in _SEARCHES.items()
        ]
        return [*own, *super().tools()] if self.names else []

    async def find(self, tool: str, arguments: FilterArguments, conditions: tuple[Condition, ...]) -> CampaignSet:
        """Run one search under these conditions and those of all searches."""
        with self.run.step(tool) as record:
            matches = await self._find(arguments, self.all(conditions))
            record.counts["campaigns"] = matches.total
        theme = arguments.query if isinstance(arguments, SemanticArguments) else ""
        words = arguments.query if isinstance(arguments, TextArguments) else ""
        self.searches.append(Search(tool, (*self.requested, *conditions), matches, theme, words))
        return matches

    def all(self, conditions: Iterable[Condition] = ()) -> tuple[Condition, ...]:
        """The conditions with those of all searches."""
        return (*self.base, *self.requested, *conditions)

    async def query(self, tool: str, query: Query) -> Search:
        """Run a query under the conditions of all searches. Raises what `answer_query` raises."""
        if query.select and "id" not in query.select:
            # answers name campaigns by their id
            query = query.model_copy(update={"select": ("id", *query.select)})
        required = (*self.base, *self.requested)
        full_query = query.model_copy(update={"where": (*required, *query.where)})
        result = await answer_query(full_query, self.access, self.services, self.today)
        own = result.query.where[len(required) :]
        matches = await self._set_of(result, (*required, *await self._spelt(own)))
        search = Search(tool, (*self.requested, *own), matches, words=query.text, result=result)
        self.searches.append(search)
        return search

    async def _spelt(self, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        """The conditions with every spelling of their values, by which an index finds campaigns."""
        values = [
            NamedValue((each.field,), str(value))
            for each in comparisons_of(conditions)
            if each.field in FILTER_VALUES and each.op in ("=", "!=")
            for value in each.scalars
        ]
        existing = await existing_values(self.services.reader, [CAMPAIGNS], values)
        spelt = {(each.facets[0], each.value): values for each, values in zip(values, existing, strict=True) if values}

        def spell(each: Comparison, rows: Source, pointer: str) -> Comparison:
            values = [value for one in each.scalars for value in spelt.get((each.field, str(one)), ())]
            return each.model_copy(update={"value": None, "values": tuple(values)}) if values else each

        return with_comparisons(Query(source=NAME, where=conditions), SCHEMA, spell).where

    async def _find(self, arguments: FilterArguments, conditions: Sequence[Condition]) -> CampaignSet:
        database, preferred = self.services.reader, self.preferred
        match arguments:
            case SemanticArguments():
                vector = await self.services.queries.embed_for(self.run, arguments.query)
                if vector is None:
                    return await retrieval.find_by_text(database, arguments.query, conditions, preferred)
                return await retrieval.find_by_meaning(
                    database, vector, arguments.embedding_field, conditions, preferred
                )
            case TextArguments():
                return await retrieval.find_by_text(database, arguments.query, conditions, preferred)
            case _:
                return await retrieval.filter_campaigns(database, conditions, preferred)

    # ---- calls of the model ----

    def _search_by(self, name: str) -> Working:
        async def search(arguments: FilterArguments) -> ToolResult:
            resolved = await resolve_filters(self.services.reader, arguments, self.values, arguments.exclude)
            problem = " ".join(str(each) for each in resolved.unknown)
            if resolved.is_impossible:
                texts = f"{problem} Call again with values that exist, or without this filter."
                return ToolResult(0, problem, CampaignToolResult(0, texts).as_json())
            matches = await self.find(name, arguments, resolved.conditions)
            numbers = await self._numbers(arguments, resolved.conditions, matches)
            lines = [f"Not filtered by all that was given. {problem}"] if problem else []
            if resolved.conditions and not matches.total:
                lines.append(f"No campaign {', '.join(label_of(each, self.today) for each in resolved.conditions)}.")
            lines += numbers
            if isinstance(arguments, SemanticArguments) and matches.total:
                lines.append(NEAR)
            result = build_tool_result(matches, lines, is_listed=not numbers)
            return self._tool_result(result, "; ".join([*numbers, line_for_people(matches)]), matches)

        return search

    async def _numbers(
        self, arguments: FilterArguments, conditions: tuple[Condition, ...], matches: CampaignSet
    ) -> list[str]:
        """The numbers of an aggregate, in a line."""
        if not isinstance(arguments, AggregateArguments):
            return []
        if arguments.by is None:
            return [f"{matches.size} campaigns in all{'' if matches.more else ', exactly'}."]
        query = arguments.as_query(self.all(conditions))
        groups = await execute(self.services.reader, query, SCHEMA, self.today)
        return [summarise_groups(groups, arguments.by, arguments.limit, is_listed=arguments.ask == "groups")]

    async def search(self, arguments: SearchArguments, names: Sequence[str]) -> ToolResult:
        query = Query(source=names[0], where=arguments.where)
        query = await with_known_values(query, self.access, self.services.reader)
        theme = " ".join(await search_texts(arguments, self.access, self.services))[:QUERY_MAX_CHARACTERS]
        by = SemanticArguments(query=theme) if theme else FilterArguments()
        matches = await self.find("search", by, await self._spelt(query.where))
        return self._tool_result(build_tool_result(matches), line_for_people(matches), matches)

    async def _query(self, arguments: Query) -> ToolResult:
        self.allowed((arguments.source,), "")
        with self.run.step("query") as record:
            search = await self.query("query", arguments)
            record.counts["campaigns"] = search.matches.total
        result, matches = search.result, search.matches
        assert result is not None
        self.results.append(result)
        rows = fence(json.dumps(result_table(result, ROWS_CHARACTERS_MAX), ensure_ascii=False))
        text = f"Result {self._name_of(matches)}: {rows}"[:SUMMARY_CHARACTERS_MAX]
        self.sets_by_text[text] = matches
        self.noted.append(text)
        return ToolResult(result.total, result.sentence, text)

    async def _set_of(self, result: QueryResult, conditions: tuple[Condition, ...]) -> CampaignSet:
        """The campaigns of a query: those of its rows, or all that its numbers cover, which meet these conditions."""
        query, database = result.query, self.services.reader
        if query.asks_for_rows:
            place = query.select.index("id") if query.select else 0
            return await retrieval.find_ids(database, [str(row[place]) for row in result.rows])
        words = (Words(words=query.text),) if query.text.strip() else ()
        return await retrieval.filter_campaigns(database, (*conditions, *words), self.preferred, today=self.today)

    async def get(self, source: str, id: str, characters_max: int) -> ToolResult:
        campaign = await retrieval.campaign_by_id(self.services.reader, id)
        matches = await retrieval.find_ids(self.services.reader, [campaign.id])
        self.searches.append(Search("get", self.requested, matches))
        whole = bounded(campaign.model_dump(mode="json", exclude_none=True), characters_max - MARGIN_CHARACTERS)
        texts = f"<campaign>\n{fence(json.dumps(whole, ensure_ascii=False))}\n</campaign>"
        result = CampaignToolResult(1, texts, matches.campaigns)
        return self._tool_result(result, line_for_people(matches), matches)

    def _name_of(self, matches: CampaignSet) -> str:
        """The name of a search by what it found, by which an answer can say that it rests on it."""
        return next(f"{RESULT}{n}" for n, search in enumerate(self.searches, start=1) if search.matches is matches)

    def _tool_result(self, result: CampaignToolResult, summary: str, matches: CampaignSet) -> ToolResult:
        """A result in the form for the model, with its name."""
        result = result.numbered(self._name_of(matches))
        text = result.as_json()
        self.sets_by_text[text] = matches
        self.noted.append(f"{result.count}\n{result.summary_for_llm}")
        return ToolResult(result.count, summary, text)


def observation(id: str, tool: str, count: int, summary: str, matches: Sequence[Campaign]) -> ToolObservationEvent:
    """The event for a tool's result."""
    ids = [campaign.id for campaign in matches[:OBSERVED_IDS]]
    return ToolObservationEvent(data=ToolObserved(id=id, tool=tool, count=count, summary=summary, campaign_ids=ids))
