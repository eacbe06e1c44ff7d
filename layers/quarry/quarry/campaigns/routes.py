"""HTTP for campaigns. The search is imported with the first request, since a process may never get one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse, Response

from quarry.campaigns.contract import Campaign, ChatRequest, ChatResponse
from quarry.platform.errors import NotFound
from quarry.platform.text import Identifier
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency
from quarry.web.streams import Reader, answer_response, documented_answer

router = APIRouter(tags=["campaigns"])


@router.post("/campaigns/chat", response_class=JSONResponse, responses=documented_answer(ChatResponse, "campaigns"))
async def chat(request: Request, body: ChatRequest, reader: Reader, services: ServicesDependency) -> Response:
    """An answer about campaigns, and the campaigns that it speaks of."""
    from quarry.campaigns.search import chat_about_campaigns, values_of
    from quarry.campaigns.tools import check_filters, check_understood

    # before the stream begins, so that a wrong value is a 422
    await check_filters(body, await values_of(services), services.reader)
    body = await check_understood(body, services.reader)
    return await answer_response(request, body, chat_about_campaigns, reader, services, "campaigns")


# an owner's id may hold a slash
@router.get("/campaigns/{id:path}", response_model_exclude_none=True, responses=documented(NotFound))
async def campaign(
    id: Annotated[Identifier, Path(examples=["cmp-lumen-voyage-3"])], caller: PlainCaller, services: ServicesDependency
) -> Campaign:
    """One whole campaign."""
    from quarry.campaigns.retrieval import campaign_by_id

    return await campaign_by_id(services.reader, id)
