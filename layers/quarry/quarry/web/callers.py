"""Who calls, and how often: requests a minute are counted in the database, so that all instances share one count.

Deployed, the caller comes from the claims of the Cognito token that API Gateway verified; headers are not read. Locally,
`Authorization: Bearer NAME` makes NAME the user.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from fastapi import Depends, Request

from quarry.platform.errors import NotAuthenticated, RateLimited
from quarry.platform.settings import Settings
from quarry.services.services import LOCAL_USER, Caller, Services
from quarry.web.addresses import wants_headers_only

_LOCAL_NAME = re.compile(r"[^\x00-\x20\x7f]{1,64}")


def services_of(request: Request) -> Services:
    """The process' services, as a route's dependency."""
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


ServicesDependency = Annotated[Services, Depends(services_of)]


def verified_caller(request: Request) -> Caller:
    """The caller, as a route's dependency. Raises NotAuthenticated."""
    if services_of(request).settings.identity == "gateway":
        return _from_gateway(request.scope.get("aws.event"))
    return _from_bearer_name(request.headers.get("authorization"))


def _from_gateway(event: Any) -> Caller:
    try:
        claims = event["requestContext"]["authorizer"]["claims"]
        subject = claims["sub"]
    except (KeyError, TypeError):
        raise NotAuthenticated("Sign in first.") from None
    if not isinstance(subject, str) or not subject:
        raise NotAuthenticated("Sign in first.")
    return Caller(subject, {name: value for name, value in claims.items() if isinstance(value, str)})


def _from_bearer_name(header: str | None) -> Caller:
    if header is None:
        return Caller(LOCAL_USER)
    scheme, _, name = header.partition(" ")
    if scheme.lower() != "bearer" or not _LOCAL_NAME.fullmatch(name.strip()):
        raise NotAuthenticated("Locally the header is `Authorization: Bearer NAME`, NAME being 1 to 64 characters.")
    return Caller(name.strip())


RouteClass = Literal["model", "plain"]

DEFAULT_PER_MINUTE: dict[RouteClass, int] = {"model": 30, "plain": 120}

CallerDependency = Callable[[Request, Caller, Services], Awaitable[Caller]]

# Counting and asking are one statement, so concurrent requests never share a place.
_COUNT = """
insert into rate_windows as w (caller, route_class, window_start, requests)
values (%(caller)s, %(route_class)s, date_trunc('minute', now()), 1)
on conflict (caller, route_class, window_start) do update set requests = w.requests + 1
returning requests, extract(epoch from window_start + interval '1 minute' - now())::float8 as seconds_left
"""


def limit_per_minute(settings: Settings, route_class: RouteClass) -> int:
    """Requests a minute allowed to one caller in one class of route; 0 means no limit."""
    if settings.rate_limit_per_minute is not None:
        return settings.rate_limit_per_minute
    return DEFAULT_PER_MINUTE[route_class]


async def take_place(services: Services, caller: Caller, route_class: RouteClass) -> None:
    """Count one request. Raises RateLimited once the minute's places are taken."""
    limit = limit_per_minute(services.settings, route_class)
    if limit == 0:
        return
    row = await services.database.row(_COUNT, {"caller": caller.user_id, "route_class": route_class})
    assert row is not None
    if row["requests"] > limit:
        raise RateLimited(
            f"More than {limit} requests in a minute; wait for the next one.",
            retry_after_seconds=max(1, math.ceil(row["seconds_left"])),
        )


def limited_caller(route_class: RouteClass) -> CallerDependency:
    """A route's dependency: the verified caller, having taken a place in this class of route."""

    async def dependency(
        request: Request,
        caller: Annotated[Caller, Depends(verified_caller)],
        services: ServicesDependency,
    ) -> Caller:
        # no stream is begun, and so no model called, for one who wants its headers only
        if not (route_class == "model" and wants_headers_only(request.scope)):
            await take_place(services, caller, route_class)
        return caller

    return dependency


PlainCaller = Annotated[Caller, Depends(limited_caller("plain"))]
ModelCaller = Annotated[Caller, Depends(limited_caller("model"))]
"""The caller of a route that asks no model, and of one that does."""
