"""HTTP for campaigns. The search is imported with the first request, since a process may never get one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse, Response

from quarry.campaigns.contract import Campaign, ChatRequest, ChatResponse
from quarry.platform.errors import Gone, NotFound
from quarry.platform.text import Identifier
from quarry.streaming.events import NDJSON
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import PlainCaller, ServicesDependency
from quarry.web.streams import NDJSON_EVENT_SCHEMA, Reader, answer_response, rest_of_stream, wants_stream

_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ChatResponse,
        "description": "The answer; as events, one a line, where `Accept` asks for `application/x-ndjson`: "
        "`docs/api/campaigns-events.json` holds their schema.",
        "content": {"application/x-ndjson": {"itemSchema": NDJSON_EVENT_SCHEMA}},
    }
}

router = APIRouter(tags=["campaigns"])


@router.post("/campaigns/chat", response_class=JSONResponse, responses=_ANSWER | documented(NotFound, Gone))
async def chat(
    request: Request,
    body: ChatRequest,
    reader: Reader,
    services: ServicesDependency,
) -> Response:
    """An answer about campaigns, and the campaigns that it speaks of."""
    from quarry.campaigns.search import chat_about_campaigns, values_of
    from quarry.campaigns.tools import check_filters, check_understood

    if wants_stream(request) and reader.place is not None:
        return await rest_of_stream(request, reader.place, reader.caller, services, NDJSON)
    # before the stream begins, so that a wrong value is a 422
    await check_filters(body, await values_of(services), services.reader)
    body = await check_understood(body, services.reader)
    request_id = request_id_of(request)
    return await answer_response(
        request,
        lambda run_id: chat_about_campaigns(body, reader.caller, services, request_id, run_id),
        reader,
        services,
        "campaigns",
    )


# an owner's id may hold a slash
@router.get("/campaigns/{id:path}", response_model_exclude_none=True, responses=documented(NotFound))
async def campaign(
    id: Annotated[Identifier, Path(examples=["cmp-lumen-voyage-3"])],
    caller: PlainCaller,
    services: ServicesDependency,
) -> Campaign:
    """One whole campaign."""
    from quarry.campaigns.retrieval import campaign_by_id

    return await campaign_by_id(services.reader, id)
