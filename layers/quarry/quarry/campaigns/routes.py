"""HTTP for campaigns."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, Response

from quarry.campaigns.contract import ChatRequest, ChatResponse, FinalAnswerEvent
from quarry.campaigns.search import chat_about_campaigns, check_filters, values_of
from quarry.core.services import Caller
from quarry.core.web.identity import ServicesDependency
from quarry.core.web.problems import request_id_of
from quarry.core.web.rate_limit import limited_caller
from quarry.core.web.streams import NDJSON_EVENT_SCHEMA, ndjson_response

_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ChatResponse,
        "description": "The answer; as events, one a line, where `Accept` asks for `application/x-ndjson`: "
        "`docs/api/campaigns-events.json` holds their schema.",
        "content": {"application/x-ndjson": {"itemSchema": NDJSON_EVENT_SCHEMA}},
    }
}

router = APIRouter(tags=["campaigns"])


@router.post("/campaigns/chat", response_class=JSONResponse, responses=_ANSWER)
async def chat(
    request: Request,
    body: ChatRequest,
    caller: Annotated[Caller, Depends(limited_caller("model"))],
    services: ServicesDependency,
) -> Response:
    """An answer about campaigns, and the campaigns that it speaks of."""
    # before a stream has begun, so that a wrong filter is a 422
    await check_filters(body, await values_of(services.database), services.database)
    events = chat_about_campaigns(body, caller, services, request_id_of(request))
    if "application/x-ndjson" in request.headers.get("accept", "").lower():
        return ndjson_response(request, events, services)
    answer = [event.data async for event in events if isinstance(event, FinalAnswerEvent)][-1]
    return Response(answer.model_dump_json(by_alias=True, exclude_none=True), media_type="application/json")
