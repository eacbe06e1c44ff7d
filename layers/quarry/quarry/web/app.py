"""The web application: routers bound to services, the same for `quarry serve` and for every Lambda."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts
from starlette.middleware.cors import CORSMiddleware

from quarry.services.services import Services
from quarry.web import problems
from quarry.web.admission import Admission, Admitted, HostGate, SiteGate
from quarry.web.description import Description
from quarry.web.middleware import (
    AlwaysAnswers,
    EveryResponse,
    InLanguage,
    Measured,
    ShortJsonBodies,
    SingleHeaders,
    Traced,
    VisibleOnly,
)
from quarry.web.requests import KnownAddresses


def create_app(services: Services, routers: Iterable[APIRouter], documented: Iterable[APIRouter] = ()) -> FastAPI:
    """An application that serves `routers`; its `/openapi.json` describes `documented`, whichever function serves them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await services.close()

    app = FastAPI(
        # not by `include_router`, which would inspect every route's signature again
        routes=[route for router in routers for route in router.routes],
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # its spans would contain the query string, which is the question; Traced makes ours
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.services = services
    app.state.description = Description(documented)
    problems.install(app)
    # the last one added is the outermost: it sees a request first
    app.add_middleware(Admitted, admission=Admission(services.settings.database_pool_size))
    app.add_middleware(ShortJsonBodies)
    if services.settings.identity == "local":
        app.add_middleware(SiteGate, settings=services.settings)
    if services.tracing.is_on:
        app.add_middleware(Traced, tracing=services.tracing)
    app.add_middleware(KnownAddresses, routes=app.routes)
    app.add_middleware(SingleHeaders)
    app.add_middleware(AlwaysAnswers)
    if services.settings.allowed_origin:
        _allow(app, services.settings.allowed_origin)
    if services.settings.identity == "local":
        app.add_middleware(HostGate, settings=services.settings)
    app.add_middleware(VisibleOnly)
    app.add_middleware(EveryResponse)
    app.add_middleware(InLanguage)
    app.add_middleware(Measured, metrics=services.metrics)
    return app


def _allow(app: FastAPI, origin: str) -> None:
    """Let pages of another origin call the API. Identity is a bearer token, never a cookie, so credentials are not allowed."""
    methods = {method for route in iter_route_contexts(app.routes) for method in route.methods or ()}
    app.add_middleware(
        CORSMiddleware,
        allow_origins=[origin],
        allow_methods=sorted(methods),
        allow_headers=["*"],
        expose_headers=["X-Request-Id", "Retry-After"],
    )
