"""HTTP for records, but for shared answers. What answers is imported with the first request: a process may never get one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import TypeAdapter
from starlette.responses import Response, StreamingResponse

from quarry.platform.errors import Gone, NotFound
from quarry.platform.text import Identifier
from quarry.records.contract import (
    AskQuery,
    AskRequest,
    Collections,
    CountRequest,
    FacetValues,
    RecordCounts,
    SearchRequest,
    SearchResponse,
    Suggestions,
    SuggestRequest,
    TypeName,
    WholeRecord,
)
from quarry.services.services import Caller, Services
from quarry.streaming.events import SSE
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import PlainCaller, ServicesDependency, TypingCaller
from quarry.web.streams import SSE_EVENT_SCHEMA, Reader, rest_of_stream, stream_response

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events; `docs/api/records-events.json` holds the schema of each `data:` line.",
        "content": {"text/event-stream": {"itemSchema": SSE_EVENT_SCHEMA}},
    }
}

_FACETS = {
    "parameters": [
        {
            "name": "facets",
            "in": "query",
            "description": "Any other parameter filters by the facet of its name (`GET /collections` names them): records that"
            " have any of its values; with a dash before the name (`-result=Failed`), those that have none of them."
            " Where no record has a value so written, those are meant that differ from it in case or accents alone, or that it is"
            " a synonym of.",
            "style": "form",
            "explode": True,
            "schema": {"type": "object", "additionalProperties": TypeAdapter(FacetValues).json_schema()},
        }
    ]
}

router = APIRouter(tags=["records"])


@router.get("/records/search", response_model_exclude_none=True, openapi_extra=_FACETS)
async def search(
    request: Request,
    query: Annotated[SearchRequest, Query()],
    caller: PlainCaller,
    services: ServicesDependency,
) -> SearchResponse:
    """One ranked list over all types of record."""
    from quarry.records.search import search_records

    return await search_records(query, caller, services, request_id_of(request))


@router.get("/records/suggest", response_model_exclude_none=True, openapi_extra=_FACETS)
async def suggest(
    query: Annotated[SuggestRequest, Query()], caller: TypingCaller, services: ServicesDependency
) -> Suggestions:
    """Titles for what was typed so far: the last word may be begun, and a word misspelt. In the order of the search."""
    from quarry.records.search import suggest_titles

    return await suggest_titles(query, caller, services)


@router.get("/collections", response_model_exclude_none=True)
async def list_collections(caller: PlainCaller, services: ServicesDependency) -> Collections:
    """The types of record, and what they can be filtered and counted by; of these and every other source the fields that a Query
    can name.
    """
    from quarry.records.retrieval import describe_collections

    return await describe_collections(caller, services)


@router.get("/records/facets", openapi_extra=_FACETS)
async def count(
    query: Annotated[CountRequest, Query()], caller: PlainCaller, services: ServicesDependency
) -> RecordCounts:
    """How many records there are, exactly, in all and by the values of a facet."""
    from quarry.records.search import count_records

    return await count_records(query, caller, services)


@router.get(
    "/records/ask",
    response_class=StreamingResponse,
    responses=_STREAM | documented(NotFound, Gone),
    openapi_extra=_FACETS,
)
async def ask_by_query(
    request: Request,
    query: Annotated[AskQuery, Query()],
    reader: Reader,
    services: ServicesDependency,
) -> Response:
    """A cited answer as server-sent events, for EventSource."""
    if reader.place is not None:
        return await rest_of_stream(request, reader.place, reader.caller, services, SSE)
    return await _stream_answer(request, query.to_request(), reader.caller, services, types_at="/type", facets_at="")


@router.post("/records/ask", response_class=StreamingResponse, responses=_STREAM | documented(NotFound, Gone))
async def ask(request: Request, body: AskRequest, reader: Reader, services: ServicesDependency) -> Response:
    """A cited answer as server-sent events."""
    if reader.place is not None:
        return await rest_of_stream(request, reader.place, reader.caller, services, SSE)
    return await _stream_answer(request, body, reader.caller, services)


# an owner's id may hold a slash
@router.get("/records/{type}/{id:path}", response_model_exclude_none=True, responses=documented(NotFound))
async def record(
    type: Annotated[TypeName, Path()],
    id: Annotated[Identifier, Path(examples=["42"])],
    caller: PlainCaller,
    services: ServicesDependency,
) -> WholeRecord:
    """One whole record with what it is part of."""
    from quarry.records.retrieval import read_record

    return await read_record(type, id, caller, services)


async def _stream_answer(
    request: Request, question: AskRequest, caller: Caller, services: Services, **places: str
) -> Response:
    """The answer as a stream. `places` are where the question names its types and facets, as `check_filters` takes them."""
    from quarry.records.answer import answer_question, check_filters
    from quarry.records.sources import types_in_force

    # before the stream has begun, so that a wrong value is a 422, and what cannot be read a 503
    types = await types_in_force(services)
    check_filters(question, types.whole, **places)
    types.by_names(question.types)
    request_id = request_id_of(request)
    return stream_response(
        request,
        lambda run_id: answer_question(question, caller, services, request_id, run_id=run_id),
        caller,
        services,
        SSE,
        "records",
    )
