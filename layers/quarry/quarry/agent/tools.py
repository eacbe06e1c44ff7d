"""The five tools over every source: the same for our own model, the Model Context Protocol, `/v1` and `quarry tools`.

Each domain searches texts, and reads whole rows, in its module `agent_tools`.
"""

from __future__ import annotations

import asyncio
import datetime
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, zip_longest
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args

from pydantic import Field, StringConstraints, WithJsonSchema, model_validator

from quarry.agent.domain_tools import RESULTS_MAX, AgentTool
from quarry.agent.service import Filter, answer_query, filter_of, run_query
from quarry.agent.sources import DataAccess, data_access, describe_sources, line_of, names_of
from quarry.domains import module
from quarry.platform.contract import LazyModel, Request
from quarry.platform.errors import FieldError, InvalidInput, ModelError, SourceUnavailable
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS, Identifier, QueryText, Storable, said_in, shorten
from quarry.postgres.connections import UNREADABLE
from quarry.query.contract import QueryResult, SourceDescription
from quarry.query.execute import execute
from quarry.query.paths import nearest, source_of
from quarry.schema.algebra import (
    LIMIT_MAX,
    Aggregate,
    Cell,
    Comparison,
    Condition,
    FieldPath,
    Function,
    Group,
    Name,
    OneOrMany,
    Operator,
    Period,
    Query,
)
from quarry.services.services import Caller, Services

LISTING_CHARACTERS_MAX = 6_000
"""Characters of one page of `describe_collections`, some 1,500 tokens."""
ROWS_CHARACTERS_MAX = 12_000
"""The most characters of the rows that `query` shows; it cuts off the rest."""
CELL_CHARACTERS_MAX = 400
"""The most characters of one text in a row: `get` gives it whole."""
TEXTS_MAX = 5
OFFSET_MAX = 80
GOT_MAX = 5
MEANT_AMONG_MAX = 200
"""The most frequent values, which are compared in meaning."""
ALIKE_MAX = 5
"""How many values are given that are only like what was asked for."""


class DescribeArguments(Request):
    """Arguments of `describe_collections`."""

    source: Annotated[tuple[Name, ...], OneOrMany] = Field(
        default=(), description="Only these, in detail. Leave it out for all."
    )
    page: int = Field(default=1, ge=1, le=1_000, description="Page of the list.")


class Like(Request):
    """A row that others should resemble."""

    source: Name
    id: Identifier


class SearchArguments(Request):
    """Arguments of `search`."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, max_length=QUERY_MAX_CHARACTERS), Storable] = Field(
        default="", description="A few words or a question, as the data would put it."
    )
    texts: Annotated[tuple[QueryText, ...], OneOrMany, Field(max_length=TEXTS_MAX)] = Field(
        default=(), description="Other wordings, searched too."
    )
    like: Like | None = Field(default=None, description="Rows like this one.")
    source: Annotated[tuple[Name, ...], OneOrMany] = Field(default=(), description="Where to look; all if left out.")
    # described by `query` already
    where: Annotated[
        tuple[Condition, ...], OneOrMany, WithJsonSchema({"type": "array", "items": {"type": "object"}})
    ] = Field(
        default=(), description="As in `query`; needs one `source`. Rows that meet it but are not near come last."
    )
    select: Annotated[tuple[FieldPath, ...], OneOrMany] = Field(
        default=(), description="Fields to show of each row; needs one `source`."
    )
    limit: int = Field(default=8, ge=1, le=RESULTS_MAX, description="How many to give.")
    offset: int = Field(default=0, ge=0, le=OFFSET_MAX, description="How many to skip.")

    @property
    def itself(self) -> tuple[str, str] | None:
        """The row that others should be like, which is not among them."""
        return (self.like.source, self.like.id) if self.like else None

    @model_validator(mode="after")
    def _looks_for_something(self) -> Self:
        if not (self.text or self.texts or self.like or self.where):
            raise ValueError("give a `text`, `texts`, a row that others should be `like`, or a `where`")
        if (self.where or self.select) and len(self.source) != 1:
            raise ValueError("`where` and `select` name fields of one source: say which `source` is searched")
        return self


class GetArguments(Request):
    """Arguments of `get`."""

    source: Name = Field(description="The source, as a result gave it.")
    id: Annotated[tuple[Identifier, ...], OneOrMany, Field(min_length=1, max_length=GOT_MAX)] = Field(
        description="The id, or several, as results gave them."
    )


class ValuesArguments(Request):
    """Arguments of `values`."""

    source: Name = Field(description="The source.")
    field: FieldPath = Field(description="A field of it, or one that its links lead to.")
    like: Annotated[str, StringConstraints(max_length=200), Storable] = Field(
        default="", description="What the value is called, spelt like or means; the most frequent ones if left out."
    )


class SourcesPage(LazyModel):
    """Sources, a line each: kinds, units, values, links. `pages` are all there are. `query_words` say how `query` asks what.
    Those in `degraded` cannot be read now.
    """

    sources: list[str]
    page: int
    pages: int
    query_words: list[str]
    degraded: list[str] = []


class FoundTexts(LazyModel):
    """Results, best first. `meeting` rows meet `where`; `more`: at least. Those in `degraded` could not be searched."""

    results: list[Hit]
    meeting: int | None = None
    more: bool = False
    degraded: list[str] = []


class QueryRows(LazyModel):
    """The exact result: `total` rows of the source are meant; `truncated`: more rows or groups follow the last one."""

    sentence: str
    columns: list[str]
    rows: list[list[Cell]]
    total: int
    truncated: bool


class FoundValues(LazyModel):
    """Values of a field and the number of rows that have each."""

    values: list[tuple[str, int]]


class Whole(LazyModel):
    """Rows with all that they show; one row by itself."""

    model_config = {"extra": "allow"}


Row = TypeVar("Row")

QUERY_WORDS = (
    "`share` is the part of all rows that its own `where` selects, 0 to 1.",
    "Each aggregate may have a `where` of its own: two counts with different days compare two periods.",
    'A date takes 2026, "2026-10", "2026-Q3", "2026-W40", today or today-30d as `=`; "month(date)" is the month of any year.',
    'Rows without related ones: {"not": {"exists": NAME}}; with three or more: {"field": "count(NAME)", "op": ">=", "value": 3}.',
    'A value may be a query: {"field": "amount", "op": ">", "value": {"source": ..., "aggregate": "avg(amount)"}}.',
    "`having` compares groups by an aggregate's name; `order` with `limit` gives the most or the least, `ties` those that tie.",
)
"""What the words of `query` do for a question."""


async def _describe(arguments: DescribeArguments, caller: Caller, services: Services) -> dict[str, Any]:
    access = await data_access(caller, services)
    for place, name in enumerate(arguments.source):
        source_of(access.schema, name, f"/source/{place}")
    page = await described_page(arguments.source, arguments.page, [*access.schema.sources], access, services)
    return _but_for(page, access.degraded)


async def described_page(
    names: Sequence[str], page: int, offered: Sequence[str], access: DataAccess, services: Services
) -> dict[str, Any]:
    """One page of sources: those of these `names` in detail, with how many rows each has and its first and last day, or the names
    of the fields of all that are `offered`.
    """
    sources = await describe_sources(access.caller, services)
    descriptions = {name: sources[name] for name in names or offered if name in sources}
    if not names:
        return _page([names_of(each) for each in descriptions.values()], page)
    extents = await asyncio.gather(*(_extent(each, access, services) for each in descriptions.values()))
    return _page([line_of(each, extent) for each, extent in zip(descriptions.values(), extents, strict=True)], page)


async def _extent(source: SourceDescription, access: DataAccess, services: Services) -> str:
    """How many rows a source has, and its first and last day; empty where it cannot be read."""
    dated = [Aggregate(fn="min", field=source.date), Aggregate(fn="max", field=source.date)] if source.date else []
    query = Query(source=source.name, aggregate=(Aggregate(fn="count"), *dated))
    try:
        [row] = (await execute(access.acting(services).reader, query, access.schema, access.today)).rows
    except (InvalidInput, SourceUnavailable, *UNREADABLE):
        return ""
    count, *days = row
    span = f", from {days[0]} to {days[1]}" if len(days) == 2 and days[0] is not None else ""
    return f"{count} {'row' if count == 1 else 'rows'}{span}"


def _page(lines: list[str], page: int) -> dict[str, Any]:
    """One page of lines about sources."""
    pages: list[list[str]] = [[]]
    size = 0
    for line in lines:
        line = line if len(line) <= LISTING_CHARACTERS_MAX else f"{line[:LISTING_CHARACTERS_MAX]}…"
        if pages[-1] and size + len(line) > LISTING_CHARACTERS_MAX:
            pages.append([])
            size = 0
        pages[-1].append(line)
        size += len(line)
    page = min(page, len(pages))
    return {"sources": pages[page - 1], "page": page, "pages": len(pages), "query_words": list(QUERY_WORDS)}


async def _search(arguments: SearchArguments, caller: Caller, services: Services) -> dict[str, Any]:
    access = await data_access(caller, services)
    result = await found_texts(arguments, arguments.source, access, services)
    # a fault in this search also counts
    degraded = [] if arguments.source else (await data_access(caller, services)).degraded
    return _but_for(result, degraded)


async def found_texts(
    arguments: SearchArguments, names: Sequence[str], access: DataAccess, services: Services
) -> dict[str, Any]:
    """What a search finds in these sources, as FoundTexts. Raises what `search_text` raises."""
    own, most = names[0] if len(names) == 1 else None, arguments.offset + arguments.limit
    names = await _searched(names, access)
    texts = await search_texts(arguments, access, services)
    filters = await filters_of(names, arguments.where, access, services)
    lists = [await search_text(text, names, filters, most + 1, access, services) for text in texts]
    hits = [each for each in in_turn(lists, key_of) if key_of(each) != arguments.itself]
    result: dict[str, Any] = {}
    for only in filters.values():
        result |= {"meeting": only.meeting, **({"more": True} if only.keys is None else {})}
        if own is not None and len(hits) < min(most, only.meeting):
            _, others = await rows_meeting(own, arguments.where, most, access, services)
            ids = {each.id for each in hits}
            hits += [each for each in others if each.id not in ids]
    page = hits[arguments.offset : most]
    if own is not None and arguments.select:
        page = await with_fields(own, page, arguments.select, access, services)
    return {"results": [each.model_dump(mode="json", exclude_none=True) for each in page], **result}


async def search_texts(arguments: SearchArguments, access: DataAccess, services: Services) -> list[str]:
    """The texts to search for. Raises InvalidInput and NotFound."""
    texts = [*filter(None, (arguments.text, *arguments.texts))]
    if arguments.like is None:
        return texts
    whole = said_in(await read_whole(arguments.like.source, arguments.like.id, access, services))
    return [*texts, whole[:QUERY_MAX_CHARACTERS]]


def in_turn(lists: Sequence[Sequence[Row]], key: Callable[[Row], object]) -> list[Row]:
    """The rows of several lists: the best of each, then the second best of each, every row once by its key."""
    rows = [each for each in chain.from_iterable(zip_longest(*lists)) if each is not None]
    return list({key(each): each for each in reversed(rows)}.values())[::-1]


async def rows_meeting(
    name: str, where: Sequence[Condition], limit: int, access: DataAccess, services: Services
) -> tuple[int, list[Hit]]:
    """How many rows of a source meet these conditions, and the first ones. Raises InvalidInput and DatabaseUnavailable."""
    met = await answer_query(Query(source=name, where=tuple(where), limit=limit), access, services, access.today)
    return met.total, [Hit(source=name, id=str(key), title=str(title), text="") for key, title, *_ in met.rows]


async def with_fields(
    name: str, hits: Sequence[Hit], select: Sequence[str], access: DataAccess, services: Services
) -> list[Hit]:
    """The rows with these fields of theirs. Raises InvalidInput and DatabaseUnavailable."""
    if not hits:
        return []
    among = Comparison(field="id", values=tuple(each.id for each in hits))
    query = Query(source=name, where=(among,), select=("id", *select), limit=len(hits))
    result = await answer_query(query, access, services, access.today)
    fields = {str(id): dict(zip(select, map(cut, cells), strict=True)) for id, *cells in result.rows}
    return [each.model_copy(update={"fields": fields.get(each.id)}) for each in hits]


def _but_for(result: dict[str, Any], degraded: list[str]) -> dict[str, Any]:
    """A result with the sources that it lacks."""
    return {**result, "degraded": degraded} if degraded else result


async def _query(arguments: Query, caller: Caller, services: Services) -> dict[str, Any]:
    return result_table(await run_query(arguments, caller, services))


def result_table(result: QueryResult, characters_max: int = ROWS_CHARACTERS_MAX) -> dict[str, Any]:
    """A result that fits into a model's context."""
    rows = bounded_rows([[cut(cell) for cell in row] for row in result.rows], characters_max)
    return {
        "sentence": result.sentence,
        "columns": [f"{each.name} ({each.unit})" if each.unit else each.name for each in result.columns],
        "rows": rows,
        "total": result.total,
        "truncated": result.truncated or len(rows) < len(result.rows),
    }


def cut(cell: Cell) -> Cell:
    """A cell whose text is short enough for a list."""
    return shorten(cell, CELL_CHARACTERS_MAX) if isinstance(cell, str) else cell


def bounded_rows(rows: list[list[Cell]], characters_max: int = ROWS_CHARACTERS_MAX) -> list[list[Cell]]:
    """The first rows, as many as fit into a model's context."""
    size = 0
    for place, row in enumerate(rows):
        size += len(json.dumps(row, ensure_ascii=False))
        if size > characters_max:
            return rows[: max(place, 1)]
    return rows


async def _get(arguments: GetArguments, caller: Caller, services: Services) -> dict[str, Any]:
    access = await data_access(caller, services)
    rows = [await read_whole(arguments.source, id, access, services) for id in arguments.id]
    return rows[0] if len(rows) == 1 else {"rows": rows}


async def _values(arguments: ValuesArguments, caller: Caller, services: Services) -> dict[str, Any]:
    run = partial(run_query, caller=caller, services=services)
    return {"values": await values_like(arguments.source, arguments.field, arguments.like, run, services)}


_TEXT = {"type": "string"}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with these properties."""
    return {"type": "object", "properties": properties}


def _one_of(choices: object) -> dict[str, Any]:
    return {"enum": list(get_args(choices))}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


class QueryArguments(Query):
    """Arguments of `query`: a Query, whose conditions are described to a model in short."""

    TOOL_DEFINITIONS: ClassVar[Mapping[str, Any]] = {
        "Query": {"type": "object", "description": "Arguments like these"},
        "Order": {"type": "object"},
        "Group": _object(field=_TEXT, period=_one_of(Period), width={"type": "number"}, limit={"type": "integer"}),
        "Aggregate": _object(
            fn=_one_of(Function), field=_TEXT, where=_list({"type": "object"}), of=_list({}), name=_TEXT
        ),
        "Condition": {
            "type": "object",
            "description": "`field`, `op` and a `value`, `values` (any; for `!=` none), another field "
            '({"field": "closed_on"}) or a query. `between` is inclusive; `contains` a piece of text or an element. Or one of: '
            "`any_of`, `all_of`, `not`, `exists` a related row that meets `where`, `words`.",
            **_object(field=_TEXT, op=_one_of(Operator), value={}, values={"type": "array"}),
        },
    }


QUERY = AgentTool(
    "query",
    "Query exactly",
    "Rows, counts, sums, averages and groups, over all rows. Tickets of a team by month: "
    '{"source": "tickets", "where": [{"field": "agent.team.name", "value": "Field"}], "aggregate": ["count", '
    '"avg(days_open)"], "group": [{"field": "opened_on", "period": "month"}], "order": [{"by": "count", "direction": '
    '"desc"}]}. Dots follow links; `count(orders)` counts related rows. Growth: {"name": "growth", '
    '"change": ["sum(amount)", {"previous": "sum(amount)"}]}. "sum(price * quantity)", "today - opened_on" (days). The first 3 '
    'of each: {"field": "product", "limit": 3}. Average of counts: "then": {"aggregate": ["avg(count)"]}.',
    QueryArguments,
    QueryRows,
    _query,
    unlisted=frozenset({"spans"}),
)

AGENT_TOOLS = (
    AgentTool(
        "describe_collections",
        "Describe the data",
        "What data there is: sources and the names of their fields; of those named, kinds, units, values, links, how many rows "
        "and which days too.",
        DescribeArguments,
        SourcesPage,
        _describe,
    ),
    AgentTool(
        "search",
        "Search text",
        "Find rows that speak of something, by words and meaning, best first, with the passage that matches. For what texts say; "
        "for numbers use `query`.",
        SearchArguments,
        FoundTexts,
        _search,
    ),
    QUERY,
    AgentTool(
        "get",
        "Get rows",
        "Rows whole, by the source and ids of results; of people their profiles.",
        GetArguments,
        Whole,
        _get,
    ),
    AgentTool(
        "values",
        "List values",
        "The values of a field with their numbers of rows, the most frequent, the most similar or the nearest in meaning first.",
        ValuesArguments,
        FoundValues,
        _values,
    ),
)


class Hit(LazyModel):
    """A found row: `text` is the passage that matches, `fields` those that were selected."""

    source: str
    id: str
    title: str
    text: str
    date: datetime.date | None = None
    url: str | None = None
    fields: dict[str, Any] | None = None


def key_of(hit: Hit) -> tuple[str, str]:
    """Which row was found."""
    return hit.source, hit.id


Filters = Mapping[str, Filter]
"""Conditions on the rows of sources, by the sources' own names in their domain."""


def condition_on(name: str, filters: Filters) -> str | None:
    """The condition on the rows `t` of a source, as SQL; None for any row."""
    return filters[name].condition if name in filters else None


async def search_text(
    text: str, names: Sequence[str], filters: Filters, limit: int, access: DataAccess, services: Services
) -> list[Hit]:
    """The rows of these sources that match a text and meet the conditions, best first. Raises DatabaseUnavailable."""
    domains: dict[str, list[str]] = {}
    for domain, own in (access.homes[name] for name in names):
        domains.setdefault(domain, []).append(own)
    name_of = {home: name for name, home in access.homes.items()}
    lists: list[list[Hit]] = []
    for domain, owns in domains.items():
        hits = await module(domain, "agent_tools").search_text(text, owns, filters, limit, access, services)
        lists.append([hit.model_copy(update={"source": name_of[domain, hit.source]}) for hit in hits])
    # scores of several lists cannot be compared
    return in_turn(lists, key_of)[:limit]


async def read_whole(name: str, id: str, access: DataAccess, services: Services) -> dict[str, Any]:
    """One row of a source with everything that its domain shows. Raises InvalidInput, NotFound and DatabaseUnavailable."""
    source_of(access.schema, name, "/source")
    domain, own = access.homes[name]
    whole: dict[str, Any] = await module(domain, "agent_tools").read_whole(own, id, access.caller, services)
    return whole


async def _searched(names: Sequence[str], access: DataAccess) -> list[str]:
    """These sources, or all that can be searched. Raises InvalidInput for others."""
    for place, name in enumerate(names):
        source_of(access.schema, name, f"/source/{place}")
    may_be = [
        name
        for name, source in access.schema.sources.items()
        if source.holds_words and hasattr(module(access.homes[name][0], "agent_tools"), "search_text")
    ]
    for place, name in enumerate(names):
        if name not in may_be:
            raise InvalidInput([FieldError(f"/source/{place}", not_searched(name, may_be, access))])
    return list(dict.fromkeys(names)) or may_be


def not_searched(name: str, searched: Sequence[str], access: DataAccess) -> str:
    """That `search` does not cover a source, and what to use instead."""
    module_of = module(access.homes[name][0], "agent_tools")
    instead = getattr(module_of, "INSTEAD_OF_SEARCH", "`query` its rows, with the fields to `select`")
    return f"the texts of {name} are not searched here: {instead}; searched are {', '.join(nearest(name, searched))}"


async def filters_of(
    names: Sequence[str], where: Sequence[Condition], access: DataAccess, services: Services
) -> Filters:
    """The conditions for each of these sources. Raises what `filter_of` raises."""
    if not where:
        return {}
    return {access.homes[name][1]: await filter_of(name, where, access, services) for name in names}


VALUES_MAX = 50

Run = Callable[[Query], Awaitable[QueryResult]]


async def values_like(source: str, field: str, like: str, run: Run, services: Services) -> list[list[Cell]]:
    """The most frequent values of a field: those that `like` names, perhaps by another name, then those that contain it; if there
    are none, those that are spelt most like it or are nearest to it in meaning. Each with its number of rows. Raises InvalidInput
    and DatabaseUnavailable.
    """
    everything = Query(
        source=source,
        where=(Comparison(field=field, op="not_null"),),
        group=(Group(field=field),),
        aggregate=(Aggregate(fn="count"),),
    )
    like = like.strip()
    if not like:
        return (await run(everything.model_copy(update={"limit": VALUES_MAX}))).rows
    matches: list[list[Cell]] = []
    for op in ("=", "contains"):
        with suppress(InvalidInput):  # of a value that no row has
            holding = Comparison.model_validate({"field": field, "op": op, "value": like})
            rows = (await run(everything.model_copy(update={"where": (holding,), "limit": VALUES_MAX}))).rows
            matches += [row for row in rows if row not in matches]
    if matches:
        return matches[:VALUES_MAX]
    rows = (await run(everything.model_copy(update={"limit": LIMIT_MAX}))).rows
    by_value = {str(row[0]): row for row in rows}
    likeness = await _likeness(like, [*by_value], services)
    best = sorted(by_value, key=lambda value: -likeness[value])[:ALIKE_MAX]
    return [by_value[value] for value in best]


async def _likeness(like: str, values: Sequence[str], services: Services) -> dict[str, float]:
    """How much each value is spelt like a text, or means it, from 0 to 1: the larger of the two."""

    def spelt() -> dict[str, float]:
        text = like.casefold()
        return {value: SequenceMatcher(None, text, value.casefold()[:200]).ratio() for value in values}

    likeness = await off_loop(spelt)
    try:
        target, *others = await services.embeddings.embed([like, *values[:MEANT_AMONG_MAX]])
    except (ModelError, ValueError):
        return likeness
    for value, other in zip(values, others, strict=False):
        likeness[value] = max(likeness[value], sum(a * b for a, b in zip(target, other, strict=False)))
    return likeness
