"""The five tools over every source: the same for our own model, the Model Context Protocol, `/v1` and `quarry tools`.

Each domain searches texts, and reads whole rows, in its module `agent_tools`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, zip_longest
from typing import Annotated, Any

from pydantic import Field, StringConstraints, WithJsonSchema

from quarry.agent.domain_tools import RESULTS_MAX, AgentTool
from quarry.agent.service import run_query, with_known_values
from quarry.agent.sources import Asked, describe_sources, line_of, names_of, what_may_be_asked
from quarry.domains import module
from quarry.platform.contract import Request
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.lazy_model import LazyModel
from quarry.platform.off_loop import off_loop
from quarry.platform.text import Identifier, QueryText, Storable
from quarry.query.algebra import (
    LIMIT_MAX,
    Aggregate,
    Cell,
    Comparison,
    Condition,
    FieldPath,
    Group,
    Name,
    OneOrMany,
    Query,
)
from quarry.query.contract import QueryResult, SourceDescription
from quarry.query.paths import nearest, source_of
from quarry.query.row_conditions import RowConditions
from quarry.services.services import Caller, Services

LISTING_CHARACTERS_MAX = 6_000
"""Characters of one page of `describe_collections`, some 1,500 tokens."""
ROWS_CHARACTERS_MAX = 12_000
"""The most characters of the rows that `query` shows; it cuts off the rest."""


class DescribeArguments(Request):
    """Arguments of `describe_collections`."""

    source: Annotated[tuple[Name, ...], OneOrMany] = Field(
        default=(), description="Only these, in detail. Leave it out for all."
    )
    page: int = Field(default=1, ge=1, le=1_000, description="Page of the list.")


class SearchArguments(Request):
    """Arguments of `search`."""

    text: QueryText = Field(description="A few words or a question, as the data would put it.")
    source: Annotated[tuple[Name, ...], OneOrMany] = Field(default=(), description="Where to look; all if left out.")
    # described by `query` already
    where: Annotated[
        tuple[Condition, ...], OneOrMany, WithJsonSchema({"type": "array", "items": {"type": "object"}})
    ] = Field(default=(), description="Conditions that must hold, as in `query`; they need `source`.")
    limit: int = Field(default=8, ge=1, le=RESULTS_MAX, description="How many to give.")


class GetArguments(Request):
    """Arguments of `get`."""

    source: Name = Field(description="The source, as a result gave it.")
    id: Identifier = Field(description="The id, as a result gave it.")


class ValuesArguments(Request):
    """Arguments of `values`."""

    source: Name = Field(description="The source.")
    field: FieldPath = Field(description="A field of it, or one that its links lead to.")
    like: Annotated[str, StringConstraints(max_length=200), Storable] = Field(
        default="", description="What the value is similar to; the most frequent ones if left out."
    )


class Described(LazyModel):
    """Sources, a line each: kinds, units, values, links. `pages` are all there are. Those in `degraded` cannot be read now."""

    sources: list[str]
    page: int
    pages: int
    degraded: list[str] = []


class FoundTexts(LazyModel):
    """Results, best first. Those in `degraded` could not be searched."""

    results: list[Hit]
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
    """One row with all that it shows."""

    model_config = {"extra": "allow"}


async def _describe(arguments: DescribeArguments, caller: Caller, services: Services) -> dict[str, Any]:
    sources = await describe_sources(caller, services)
    asked = await what_may_be_asked(caller, services)
    for place, name in enumerate(arguments.source):
        source_of(asked.schema, name, f"/source/{place}")
    shown = listed(
        [sources[name] for name in arguments.source or sources], arguments.page, whole=bool(arguments.source)
    )
    return _but_for(shown, asked.degraded)


def listed(sources: Sequence[SourceDescription], page: int, *, whole: bool) -> dict[str, Any]:
    """One page of sources, one line each: `whole`, or only their names."""
    pages = _pages([line_of(source) if whole else names_of(source) for source in sources]) or [[]]
    page = min(page, len(pages))
    return {"sources": pages[page - 1], "page": page, "pages": len(pages)}


def _pages(lines: list[str]) -> list[list[str]]:
    pages: list[list[str]] = []
    size = 0
    for line in lines:
        line = line if len(line) <= LISTING_CHARACTERS_MAX else f"{line[:LISTING_CHARACTERS_MAX]}…"
        if not pages or size + len(line) > LISTING_CHARACTERS_MAX:
            pages.append([])
            size = 0
        pages[-1].append(line)
        size += len(line)
    return pages


async def _search(arguments: SearchArguments, caller: Caller, services: Services) -> dict[str, Any]:
    asked = await what_may_be_asked(caller, services)
    hits = await search_text(arguments.text, arguments.source, arguments.where, arguments.limit, asked, services)
    # a fault in this search also counts
    degraded = [] if arguments.source else (await what_may_be_asked(caller, services)).degraded
    return _but_for({"results": [each.model_dump(mode="json", exclude_none=True) for each in hits]}, degraded)


def _but_for(shown: dict[str, Any], degraded: list[str]) -> dict[str, Any]:
    """A result with the sources that it lacks."""
    return {**shown, "degraded": degraded} if degraded else shown


async def _query(arguments: Query, caller: Caller, services: Services) -> dict[str, Any]:
    return shown(await run_query(arguments, caller, services))


def shown(result: QueryResult, characters_max: int = ROWS_CHARACTERS_MAX) -> dict[str, Any]:
    """A result that fits into a model's context."""
    rows = bounded_rows(result.rows, characters_max)
    return {
        "sentence": result.sentence,
        "columns": [f"{each.name} ({each.unit})" if each.unit else each.name for each in result.columns],
        "rows": rows,
        "total": result.total,
        "truncated": result.truncated or len(rows) < len(result.rows),
    }


def bounded_rows(rows: list[list[Cell]], characters_max: int = ROWS_CHARACTERS_MAX) -> list[list[Cell]]:
    """The first rows, as many as fit into a model's context."""
    size = 0
    for place, row in enumerate(rows):
        size += len(json.dumps(row, ensure_ascii=False))
        if size > characters_max:
            return rows[: max(place, 1)]
    return rows


async def _get(arguments: GetArguments, caller: Caller, services: Services) -> dict[str, Any]:
    return await read_whole(arguments.source, arguments.id, await what_may_be_asked(caller, services), services)


async def _values(arguments: ValuesArguments, caller: Caller, services: Services) -> dict[str, Any]:
    run = partial(run_query, caller=caller, services=services)
    return {"values": await values_like(arguments.source, arguments.field, arguments.like, run)}


QUERY = AgentTool(
    "query",
    "Query exactly",
    "Rows, counts, sums, averages and groups, exact and over all rows. Tickets of a team by month: "
    '{"source": "tickets", "where": [{"field": "agent.team.name", "value": "Field"}], "aggregate": ["count", '
    '"avg(days_open)"], "group": [{"field": "opened_on", "period": "month"}], "order": [{"by": "count", "direction": '
    '"desc"}]}. Dots follow links; `count(orders)` counts the related rows of each row. Growth: {"name": "growth", '
    '"change": ["sum(amount)", {"previous": "sum(amount)"}]}; so `ratio`, `difference`, `percent_of_total`, `running`, `rank`, '
    '"median(amount)". Arithmetic: "sum(price * quantity)", "today - opened_on" (days). The first 3 of each group: {"field": '
    '"product", "limit": 3}. Average of counts: "then": {"aggregate": ["avg(count)"]}.',
    Query,
    QueryRows,
    _query,
    unlisted=frozenset({"spans"}),
)

AGENT_TOOLS = (
    AgentTool(
        "describe_collections",
        "Describe the data",
        "What data there is: the sources and the names of their fields; of those named, kinds, units, values and links too.",
        DescribeArguments,
        Described,
        _describe,
    ),
    AgentTool(
        "search",
        "Search text",
        "Find rows that speak of something, by words and meaning, best first. For what texts say; for numbers use `query`.",
        SearchArguments,
        FoundTexts,
        _search,
    ),
    QUERY,
    AgentTool(
        "get",
        "Get one row",
        "One row whole, by the source and id of a result.",
        GetArguments,
        Whole,
        _get,
    ),
    AgentTool(
        "values",
        "List values",
        "The values of a field with their numbers of rows, the most frequent or the most similar first.",
        ValuesArguments,
        FoundValues,
        _values,
    ),
)


class Hit(LazyModel):
    """A found row: `text` is the passage that matches."""

    source: str
    id: str
    title: str
    text: str
    date: datetime.date | None = None
    url: str | None = None


Filters = Mapping[str, str]
"""SQL conditions over the rows `t` of sources, by the sources' own names in their domain."""


async def search_text(
    text: str, names: Sequence[str], where: Sequence[Condition], limit: int, asked: Asked, services: Services
) -> list[Hit]:
    """The rows of these sources, or of all that can be searched, that match a text and meet all conditions, best first.

    Raises InvalidInput for sources, fields and values that do not exist, and DatabaseUnavailable.
    """
    names = await _searched(names, where, asked)
    domains: dict[str, list[str]] = {}
    for name in names:
        domains.setdefault(asked.homes[name][0], []).append(name)
    found = [
        await module(domain, "agent_tools").search_text(
            text,
            [asked.homes[name][1] for name in own],
            await filters_of(own, where, asked, services),
            limit,
            asked,
            services,
        )
        for domain, own in domains.items()
    ]
    called = {home: name for name, home in asked.homes.items()}
    hits = [
        [hit.model_copy(update={"source": called[domain, hit.source]}) for hit in hits]
        for domain, hits in zip(domains, found, strict=True)
    ]
    # scores of several lists cannot be compared: the best of each, then the second best of each
    return [hit for hit in chain.from_iterable(zip_longest(*hits)) if hit is not None][:limit]


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """One row of a source with everything that its domain shows. Raises InvalidInput, NotFound and DatabaseUnavailable."""
    source_of(asked.schema, name, "/source")
    domain, own = asked.homes[name]
    whole: dict[str, Any] = await module(domain, "agent_tools").read_whole(own, id, asked.caller, services)
    return whole


async def _searched(names: Sequence[str], where: Sequence[Condition], asked: Asked) -> list[str]:
    for place, name in enumerate(names):
        source_of(asked.schema, name, f"/source/{place}")
    if where and not names:
        raise InvalidInput([FieldError("/source", "`where` names fields of a source: say which `source` is searched")])
    may_be = [
        name
        for name, source in asked.schema.sources.items()
        if source.holds_words and hasattr(module(asked.homes[name][0], "agent_tools"), "search_text")
    ]
    for place, name in enumerate(names):
        if name not in may_be:
            offered = ", ".join(nearest(name, may_be))
            raise InvalidInput([FieldError(f"/source/{place}", f"{name} is not searched here; the nearest: {offered}")])
    return list(dict.fromkeys(names)) or may_be


async def filters_of(names: Sequence[str], where: Sequence[Condition], asked: Asked, services: Services) -> Filters:
    """The conditions as SQL for each of these sources. Raises InvalidInput and DatabaseUnavailable."""
    if not where:
        return {}
    filters: dict[str, str] = {}
    today = datetime.datetime.now(datetime.UTC).date()
    for name in names:
        known = await with_known_values(Query(source=name, where=tuple(where)), asked, asked.acting(services).reader)
        filters[asked.homes[name][1]] = RowConditions(name, asked.schema, today, None).met(known.where).as_string(None)
    return filters


VALUES_MAX = 50

Run = Callable[[Query], Awaitable[QueryResult]]


async def values_like(source: str, field: str, like: str, run: Run) -> list[list[Cell]]:
    """The most frequent values of a field: those that `like` names, perhaps by another name, then those that contain it; if there
    are none, those with the most similar spelling among the LIMIT_MAX most frequent ones. Each with its number of rows. Raises
    InvalidInput and DatabaseUnavailable.
    """
    everything = Query(
        source=source,
        where=(Comparison(field=field, op="not_null"),),
        group=(Group(field=field),),
        aggregate=(Aggregate(fn="count"),),
    )
    if like.strip():
        holding = Comparison(field=field, op="contains", value=like.strip())
        found = (await run(everything.model_copy(update={"where": (holding,), "limit": VALUES_MAX}))).rows
        with suppress(InvalidInput):  # of a value that no row has
            meant = holding.model_copy(update={"op": "="})
            named = (await run(everything.model_copy(update={"where": (meant,), "limit": VALUES_MAX}))).rows
            found = [*named, *(row for row in found if row not in named)][:VALUES_MAX]
        if found:
            return found
    limit = LIMIT_MAX if like.strip() else VALUES_MAX
    rows = (await run(everything.model_copy(update={"limit": limit}))).rows
    if not like.strip():
        return rows
    by_value = {str(row[0]): row for row in rows}
    return [by_value[value] for value in await off_loop(nearest, like.strip(), by_value)]
