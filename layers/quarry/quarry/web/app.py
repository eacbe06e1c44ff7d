"""The web application: routers bound to services, the same for `quarry serve` and for every Lambda."""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.services.services import Services
from quarry.web import problems
from quarry.web.addresses import KnownAddresses
from quarry.web.admission import Admission, Admitted
from quarry.web.bodies import ShortJsonBodies
from quarry.web.deadline import BeginsInTime
from quarry.web.description import Description
from quarry.web.host_gate import HostGate, SiteGate
from quarry.web.measured import Measured
from quarry.web.openai_errors import OpenAIErrors
from quarry.web.single_headers import SingleHeaders
from quarry.web.traced import Traced
from quarry.web.visible_only import VisibleOnly

logger = logging.getLogger(__name__)


def create_app(services: Services, routers: Iterable[APIRouter], documented: Iterable[APIRouter] = ()) -> FastAPI:
    """An application that serves `routers`; its `/openapi.json` describes `documented`, whichever function serves them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await services.close()

    app = FastAPI(
        # not by `include_router`, which would read every route's signature once more, for a prefix and the like
        routes=[route for router in routers for route in router.routes],
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # its spans would hold the query string, which is what was asked; ours are made by Traced
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.services = services
    app.state.description = Description(documented)
    problems.install(app)
    # the last one is the outermost: it sees a request first
    app.add_middleware(Admitted, admission=Admission.of_pool(services.settings.database_pool_size))
    app.add_middleware(ShortJsonBodies)
    if services.settings.identity == "local":
        app.add_middleware(SiteGate, settings=services.settings)
    if services.tracing.is_on:
        app.add_middleware(Traced, tracing=services.tracing)
    app.add_middleware(KnownAddresses, routes=app.routes)
    app.add_middleware(SingleHeaders)
    app.add_middleware(BeginsInTime)
    app.add_middleware(_Unforeseen)
    if services.settings.allowed_origin:
        _allow(app, services.settings.allowed_origin)
    if services.settings.identity == "local":
        app.add_middleware(HostGate, settings=services.settings)
    app.add_middleware(OpenAIErrors)
    app.add_middleware(VisibleOnly)
    app.add_middleware(_EveryResponse)
    app.add_middleware(Measured, metrics=services.metrics)
    return app


def _allow(app: FastAPI, origin: str) -> None:
    """Let pages of another origin call the API. Identity is a bearer token, never a cookie: no credentials are allowed."""
    methods = {method for route in iter_route_contexts(app.routes) for method in route.methods or ()}
    app.add_middleware(
        CORSMiddleware,
        allow_origins=[origin],
        allow_methods=sorted(methods),
        allow_headers=["*"],
        expose_headers=["X-Request-Id", "Retry-After"],
    )


class _EveryResponse:
    """Gives every request an id, and every response what all of them carry: that id, no guessing of its media type, and no
    keeping of what does not say that it may be kept.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        context = scope.get("aws.context")
        request_id = getattr(context, "aws_request_id", None) or str(uuid.uuid4())

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app({**scope, "request_id": request_id}, receive, send_with_headers)


class _Unforeseen:
    """Makes a problem of what nobody caught, where no response has begun."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_begun(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, send_begun)
        except Exception:
            if started or scope["type"] != "http":
                raise
            logger.exception("unforeseen error")
            await problems.unforeseen(scope.get("request_id"))(scope, receive, send)
