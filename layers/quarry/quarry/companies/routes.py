"""HTTP for companies."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from quarry.companies.contract import ChatRequest
from quarry.companies.search import search_companies
from quarry.core.services import Caller
from quarry.core.web.identity import ServicesDependency
from quarry.core.web.problems import request_id_of
from quarry.core.web.rate_limit import limited_caller
from quarry.core.web.streams import NDJSON_EVENT_SCHEMA, ndjson_response

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One event a line; `docs/api/companies-events.json` holds their schema. Empty lines are heartbeats.",
        "content": {"application/x-ndjson": {"itemSchema": NDJSON_EVENT_SCHEMA}},
    }
}

router = APIRouter(tags=["companies"])


@router.post("/companies/chat", response_class=StreamingResponse, responses=_STREAM)
async def chat(
    request: Request,
    body: ChatRequest,
    caller: Annotated[Caller, Depends(limited_caller("model"))],
    services: ServicesDependency,
) -> Response:
    """A search for companies in plain words, as a stream of its steps, the answer's text and the answer."""
    return ndjson_response(request, search_companies(body, caller, services, request_id_of(request)), services)
