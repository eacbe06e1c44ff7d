"""What every deployment answers about itself: its health and its OpenAPI description."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from quarry.core.errors import QuarryError
from quarry.core.services import Services
from quarry.core.web.description import Description
from quarry.core.web.identity import services_of
from quarry.core.web.text_files import ASKED_FOR_EACH_TIME, text_response

RETRY_AFTER_SECONDS = 5

router = APIRouter(tags=["service"])


class Health(BaseModel):
    """`status` is "ok", or "unavailable" with 503 when the database does not answer. `chat_model` is null without one."""

    status: Literal["ok", "unavailable"]
    database: Literal["ok", "unavailable"]
    embedding_model: str
    chat_model: str | None


@router.get("/health", response_model=Health, responses={503: {"model": Health}})
async def health(services: Annotated[Services, Depends(services_of)]) -> Response:
    """Whether this service can answer."""
    try:
        await services.database.row("select 1 as one")
    except QuarryError:
        reachable = False
    else:
        reachable = True
    state: Literal["ok", "unavailable"] = "ok" if reachable else "unavailable"
    body = Health(
        status=state,
        database=state,
        embedding_model=services.embeddings.name,
        chat_model=services.chat.name if services.chat else None,
    )
    headers = {"Cache-Control": "no-store"} | ({} if reachable else {"Retry-After": str(RETRY_AFTER_SECONDS)})
    return JSONResponse(body.model_dump(), 200 if reachable else 503, headers)


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """This description."""
    description: Description = request.app.state.description
    return text_response(request, await asyncio.to_thread(description.text), ASKED_FOR_EACH_TIME)
