"""The web application: routers bound to services, the same for `quarry serve` and for every Lambda."""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry import __version__
from quarry.core.errors import UnsupportedMediaType
from quarry.core.services import Services
from quarry.core.web import problems
from quarry.core.web.admission import Admission, Admitted
from quarry.core.web.deadline import BeginsInTime

logger = logging.getLogger(__name__)

DESCRIPTION = "Agentic search over a team's own Postgres."


def create_app(services: Services, routers: Sequence[APIRouter], documented: Sequence[APIRouter] = ()) -> FastAPI:
    """An application that serves `routers`; its `/openapi.json` describes `documented`, whichever function serves them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await services.close()

    app = FastAPI(
        title="Quarry", version=__version__, lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None
    )
    app.state.services = services
    app.state.documented = documented
    problems.install(app)
    for router in routers:
        app.include_router(router)
    app.add_middleware(
        Admitted,
        admission=Admission.of_pool(services.settings.database_pool_size),
        routes=[route for router in routers for route in router.routes],
    )
    app.add_middleware(_ShortJsonBodiesOnly)
    app.add_middleware(BeginsInTime)
    app.add_middleware(_RequestIds)
    if services.settings.allowed_origin:
        # identity is a bearer token, never a cookie: no credentials are allowed
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[services.settings.allowed_origin],
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=["X-Request-Id", "Retry-After"],
        )
    return app


def openapi_document(routers: Sequence[APIRouter]) -> dict[str, Any]:
    """The OpenAPI 3.1 description of `routers`."""
    app = FastAPI(openapi_url=None)
    for router in routers:
        app.include_router(router)
    return get_openapi(
        title="Quarry", version=__version__, openapi_version="3.1.0", description=DESCRIPTION, routes=app.routes
    )


class _RequestIds:
    """Gives every request an id, in the scope and in the response's X-Request-Id; what nobody caught becomes a problem here."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        context = scope.get("aws.context")
        request_id = getattr(context, "aws_request_id", None) or str(uuid.uuid4())
        scope["request_id"] = request_id

        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except Exception:
            if started:
                raise
            logger.exception("unforeseen error")
            await problems.unforeseen(request_id)(scope, receive, send_with_id)


class _ShortJsonBodiesOnly:
    """Refuses a body that does not say it is JSON, or is too large, before a route sees it.

    The framework's own limit answers in plain text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            media_type = Headers(scope=scope).get("content-type", "").split(";")[0].strip().lower()
            if media_type != "application/json" and not media_type.endswith("+json"):
                error = UnsupportedMediaType("Send the body as JSON, with `Content-Type: application/json`.")
                await problems.from_quarry_error(scope.get("request_id"), error)(scope, receive, send)
                return
            receive = _limited(receive)
        await self.app(scope, receive, send)


def _limited(receive: Receive) -> Receive:
    """The same body, no more of which is read once it is too large."""
    received = 0

    async def receive_counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > problems.BODY_MAX_BYTES:
            # the framework lets only its own exception through while it reads a body
            raise HTTPException(problems.BODY_TOO_LARGE.status)
        return message

    return receive_counted
