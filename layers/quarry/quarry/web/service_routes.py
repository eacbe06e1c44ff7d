"""Health, and the OpenAPI description."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import JSONResponse, Response

from quarry.platform.errors import QuarryError
from quarry.postgres.pool import Database
from quarry.postgres.reader import Reader, ReaderState
from quarry.services.services import Caller, Services
from quarry.web.admission import unmetered
from quarry.web.contract import Health
from quarry.web.description import Description
from quarry.web.requests import PublicServices, verified_caller
from quarry.web.text_files import ASKED_FOR_EACH_TIME, text_response

RETRY_AFTER_SECONDS = 5
ANSWER_SECONDS = 2.0
"""A database that takes longer for an empty statement is reported as unavailable."""

DEEP = """Check the database even if that wakes it, for which a token is needed; behind API Gateway, which verifies none here, ask
`/health/deep`. Otherwise, a database that pauses when idle is not checked."""

router = APIRouter(tags=["service"])


@router.get("/health", response_model=Health, responses={503: {"model": Health}})
@unmetered
async def health(
    request: Request, services: PublicServices, deep: Annotated[bool, Query(description=DEEP)] = False
) -> Response:
    """Whether this service can answer."""
    if deep:
        verified_caller(request)
    return await _health(services, asks=deep or not services.settings.database_wake_seconds)


@router.get("/health/deep", response_model=Health, responses={503: {"model": Health}})
@unmetered
async def deep_health(services: PublicServices, caller: Annotated[Caller, Depends(verified_caller)]) -> Response:
    """The same as `/health?deep=1`, at an address where API Gateway verifies tokens."""
    return await _health(services, asks=True)


async def _health(services: Services, *, asks: bool) -> Response:
    reachable, reader = True, None
    if asks:
        probe, replica = _is_reachable(services.database.probe), _reader_state(services.reader)
        reachable, reader = await asyncio.gather(probe, replica)
    state: Literal["ok", "unavailable"] = "ok" if reachable else "unavailable"
    models = {name: breaker.state for name, breaker in services.breakers.items()}
    body = Health.model_validate(
        {
            "status": state,
            "database": state if asks else "not asked",
            "embedding_model": services.embeddings.name,
            "chat_model": services.chat.name if services.chat else None,
        }
        | ({"models": models} if models else {})
        | ({"reader": reader} if reader else {})
    )
    headers = {"Cache-Control": "no-store"} | ({} if reachable else {"Retry-After": str(RETRY_AFTER_SECONDS)})
    return JSONResponse(body.model_dump(exclude_unset=True), 200 if reachable else 503, headers)


async def _is_reachable(database: Database) -> bool:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await database.row("select 1 as one")
    except (QuarryError, TimeoutError):
        return False
    return True


async def _reader_state(reader: Database) -> ReaderState | None:
    if not isinstance(reader, Reader):
        return None
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await reader.ask()
    except TimeoutError:
        return "unavailable"


@router.get("/openapi.json", include_in_schema=False)
@unmetered
async def openapi(request: Request) -> Response:
    """This description."""
    description: Description = request.app.state.description
    return text_response(request, await asyncio.to_thread(description.text), ASKED_FOR_EACH_TIME)
