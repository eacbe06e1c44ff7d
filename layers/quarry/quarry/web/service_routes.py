"""Health, the OpenAPI description, and runs of any domain: ending one, and feedback."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import JSONResponse, Response

from quarry.platform.errors import NotFound, QuarryError
from quarry.postgres.pool import Database
from quarry.postgres.reader import Reader, ReaderState
from quarry.runs.run_log import keep_feedback
from quarry.services.services import Caller, Services
from quarry.web.admission import unmetered
from quarry.web.contract import Feedback, Health
from quarry.web.description import REVALIDATE, Description, text_response
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, PublicServices, ServicesDependency, verified_caller

RETRY_AFTER_SECONDS = 5
ANSWER_SECONDS = 2.0
"""A database that takes longer for an empty statement is reported as unavailable."""

DEEP = """Check the database even if that wakes it, for which a token is needed; behind API Gateway, which verifies none here, ask
`/health/deep`. Otherwise, a database that pauses when idle is not checked."""

router = APIRouter()


@router.get("/health", tags=["service"], response_model=Health, responses={503: {"model": Health}})
@unmetered
async def health(
    request: Request, services: PublicServices, deep: Annotated[bool, Query(description=DEEP)] = False
) -> Response:
    """Whether this service can answer."""
    if deep:
        verified_caller(request)
    return await _health(services, asks=deep or not services.settings.database_wake_seconds)


@router.get("/health/deep", tags=["service"], response_model=Health, responses={503: {"model": Health}})
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
    return text_response(request, await asyncio.to_thread(description.text), REVALIDATE)


@router.delete("/runs/{id}", tags=["runs"], status_code=202, response_class=Response, responses=documented(NotFound))
async def cancel_run(id: UUID, caller: PlainCaller, services: ServicesDependency) -> Response:
    """End a running stream of the caller's, in whatever process it runs; its last event is then an error. `id` is the first part
    of its events' ids.
    """
    await services.streams.cancel(id, caller.user_id)
    return Response(status_code=202)


@router.post("/runs/{id}/feedback", tags=["runs"], status_code=204, responses=documented(NotFound))
async def give_feedback(id: UUID, body: Feedback, caller: PlainCaller, services: ServicesDependency) -> None:
    """Say whether a run of the caller's helped; later feedback replaces earlier feedback."""
    # the run log is written after the answer
    await services.run_log.drain()
    await keep_feedback(services.database, id, caller.user_id, helpful=body.helpful, reason=body.reason)
