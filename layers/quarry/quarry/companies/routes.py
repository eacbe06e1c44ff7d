"""HTTP for companies. The search is imported with the first request, since a process may never get one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response, StreamingResponse

from quarry.companies.contract import ChatRequest, Company
from quarry.platform.errors import Gone, NotFound
from quarry.platform.text import Identifier
from quarry.streaming.events import NDJSON
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import PlainCaller, ServicesDependency
from quarry.web.streams import NDJSON_EVENT_SCHEMA, Reader, rest_of_stream, stream_response

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One event a line; `docs/api/companies-events.json` holds their schema. Empty lines are heartbeats.",
        "content": {"application/x-ndjson": {"itemSchema": NDJSON_EVENT_SCHEMA}},
    }
}

router = APIRouter(tags=["companies"])


@router.post("/companies/chat", response_class=StreamingResponse, responses=_STREAM | documented(NotFound, Gone))
async def chat(request: Request, body: ChatRequest, reader: Reader, services: ServicesDependency) -> Response:
    """A search for companies in plain words, as a stream of its steps, the answer's text and the answer."""
    from quarry.companies.reading import check_understood
    from quarry.companies.search import search_companies

    if reader.place is not None:
        return await rest_of_stream(request, reader.place, reader.caller, services, NDJSON)
    # before the stream begins, so that a wrong value is a 422
    body = await check_understood(body, services.reader)
    request_id = request_id_of(request)
    return stream_response(
        request,
        lambda run_id: search_companies(body, reader.caller, services, request_id, run_id),
        reader.caller,
        services,
        NDJSON,
        "companies",
    )


# an owner's id may hold a slash
@router.get("/companies/{id:path}", response_model_exclude_none=True, responses=documented(NotFound))
async def company(
    id: Annotated[Identifier, Path(examples=["c-afyapamoja"])], caller: PlainCaller, services: ServicesDependency
) -> Company:
    """One whole company."""
    from quarry.companies.retrieval import company_by_id

    return await company_by_id(services.reader, id)
