"""Records for other people's agents."""

from __future__ import annotations

import datetime
from typing import Any

from pydantic import Field

from quarry.core.agent_tools import RESULTS_MAX, AgentPrompt, AgentResource, AgentTool
from quarry.core.contract import Request
from quarry.core.lazy_model import LazyModel
from quarry.core.services import Caller, Services
from quarry.core.snippet import unmark
from quarry.core.text import Identifier, QueryText
from quarry.records.collections import PERIODS, count_records, describe_collections, read_record
from quarry.records.contract import (
    MEASURES_MAX,
    TYPES_MAX,
    CountRequest,
    FacetValues,
    RecordCounts,
    SearchRequest,
    TypeName,
    WholeRecord,
)
from quarry.records.filters import facet_clauses
from quarry.records.search import search_records
from quarry.records.types_in_force import types_in_force

GROUPS_MAX = 50
"""Groups of one count at most."""


class _Filters(Request):
    """The arguments that say which records are meant."""

    types: list[TypeName] = Field(
        default=[], max_length=TYPES_MAX, description="Only these kinds of record; empty for all."
    )
    date_from: datetime.date | None = Field(
        default=None, description="Only records of this day or later, as YYYY-MM-DD."
    )
    date_to: datetime.date | None = Field(
        default=None, description="Only records of this day or earlier, as YYYY-MM-DD."
    )
    facets: dict[str, FacetValues] = Field(
        default={},
        description="Only records that have one of these values, by facet; with a dash before its name, that have none of them."
        " An unknown facet is answered with the nearest that there are.",
        examples=[{"status": ["open"]}],
    )

    async def parameters(self, services: Services) -> dict[str, Any]:
        """The same as the HTTP interface has them. Raises InvalidInput."""
        types = await types_in_force(services)
        facet_clauses(self.facets, types.whole.named(self.types, at="/types"), at="/facets")
        return {**self.facets, "type": self.types, "from": self.date_from, "to": self.date_to}


class SearchRecordsArguments(_Filters):
    """Arguments of `search_records`."""

    query: QueryText = Field(description="A few words or a question, as the records would put it.")
    limit: int = Field(default=8, ge=1, le=RESULTS_MAX, description="How many to give.")


class CountRecordsArguments(_Filters):
    """Arguments of `count_records`."""

    query: QueryText | None = Field(default=None, description="Only records that hold all of these words.")
    by: str | None = Field(
        default=None, max_length=200, description="The facet, or `day`, `month` or `year`, to count them by."
    )
    of: list[str] = Field(
        default=[],
        max_length=MEASURES_MAX,
        description="What to reckon of facets that are numbers: `sum:price`, `avg:price`, `min:price` or `max:price`.",
    )


class GetRecordArguments(Request):
    """Arguments of `get_record`."""

    type: TypeName = Field(description="The record's type, as a search gave it.")
    id: Identifier = Field(description="The record's id, as a search gave it.")


class FoundRecord(LazyModel):
    type: str
    id: str
    title: str
    snippet: str
    date: datetime.date | None
    url: str | None


class FoundRecords(LazyModel):
    """The best of what was found; `total` is how many there are in all, or, where there is `more`, at least. `degraded` names, as
    `collection:NAME`, each kind of record that cannot be read at the moment.
    """

    total: int
    more: bool
    results: list[FoundRecord]
    degraded: list[str] = []
    next: str


async def _search(arguments: SearchRecordsArguments, caller: Caller, services: Services) -> dict[str, Any]:
    request = SearchRequest.model_validate(
        {**await arguments.parameters(services), "q": arguments.query, "limit": arguments.limit}
    )
    found = await search_records(request, caller, services)
    results = [
        {
            "type": result.type,
            "id": result.id,
            "title": result.title,
            "snippet": unmark(result.snippet),
            "date": result.date.isoformat() if result.date else None,
            "url": result.url,
            **(
                {"also": [each.model_dump(mode="json", exclude_none=True) for each in result.also]}
                if result.also
                else {}
            ),
        }
        for result in found.results
    ]
    total = sum(found.counts.values())
    return {
        "total": total,
        "more": found.more,
        "results": results,
        "next": "get_record gives the whole of one.",
        **({"degraded": found.degraded} if found.degraded else {}),
    }


async def _count(arguments: CountRecordsArguments, caller: Caller, services: Services) -> dict[str, Any]:
    request = CountRequest.model_validate(
        {**await arguments.parameters(services), "q": arguments.query, "by": arguments.by, "of": arguments.of}
    )
    counted = await count_records(request, caller, services)
    is_in_time = arguments.by in PERIODS
    told = counted.groups[-GROUPS_MAX:] if is_in_time else counted.groups[:GROUPS_MAX]
    left_out = counted.groups[:-GROUPS_MAX] if is_in_time else counted.groups[GROUPS_MAX:]
    return counted.model_copy(
        update={
            "groups": told,
            "truncated": counted.truncated or bool(left_out),
            "other": counted.other + sum(group.count for group in left_out),
        }
    ).model_dump(mode="json")


async def _get(arguments: GetRecordArguments, caller: Caller, services: Services) -> dict[str, Any]:
    record = await read_record(arguments.type, arguments.id, caller, services)
    return record.model_dump(mode="json", exclude_none=True)


async def _types(caller: Caller, services: Services) -> dict[str, Any]:
    return describe_collections(await types_in_force(services)).model_dump(mode="json", exclude_none=True)


AGENT_TOOLS = (
    AgentTool(
        "search_records",
        "Search records",
        "Search the records by words and by meaning, best first, of all kinds or of some (a kind that there is not is answered "
        "with those that there are). Gives type, id, title, snippet and date of each.",
        SearchRecordsArguments,
        FoundRecords,
        _search,
    ),
    AgentTool(
        "count_records",
        "Count records",
        "How many records there are, exactly, that fit the arguments, in all and by the values of a facet or by period. For "
        "numbers: a search tells the best, not how many.",
        CountRecordsArguments,
        RecordCounts,
        _count,
    ),
    AgentTool(
        "get_record",
        "Get a record",
        "One whole record with what it is part of, by the type and id that search_records gave.",
        GetRecordArguments,
        WholeRecord,
        _get,
        resource="quarry://records/{type}/{id}",
    ),
)

AGENT_RESOURCES = (
    AgentResource(
        "quarry://collections",
        "collections",
        "Types of record",
        "The types of record that there are, and the facets that each can be filtered and counted by.",
        _types,
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "answer_from_records",
        "Answer from the records",
        "A question answered from the records alone, with a source for each statement.",
        {"question": "the question, in plain words"},
        "Answer this from the records alone: {question}\n\nFind what speaks of it with search_records, in several wordings where "
        "the first finds little, and read what matters whole with get_record. Take numbers from count_records only. Behind each "
        "statement name the record that it rests on, by title and date. Say plainly what the records do not tell.",
    ),
)
