"""Requests: known addresses and methods, checked before a body is read; who calls; and rate limits.

Another method of a known address is a 405 with `Allow`, an unknown address a 404, a parameter that is not UTF-8 a 422. `HEAD` is
answered as `GET` without the body.

Deployed, the caller comes from the claims of the Cognito token that API Gateway verified; headers are not read. Locally,
`Authorization: Bearer NAME` makes NAME the user; with TENANT_CLAIM, `Bearer NAME@TENANT` is a user of that tenant. Requests a
minute are counted in the database, so that all instances share one count.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Request
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.language.messages import gettext_noop
from quarry.platform.contract import pointer_to
from quarry.platform.errors import FieldError, InvalidInput, NotAuthenticated, RateLimited
from quarry.platform.settings import Settings
from quarry.services.services import LOCAL_USER, Caller, Services
from quarry.web import problems

_HEADERS_ONLY = "quarry.headers_only"
_ENDPOINT = "quarry.endpoint"
_ADDRESS = "quarry.address"
_ALIASES = {"/mcp/": "/mcp"}
"""Other spellings of addresses: some clients of the Model Context Protocol append a slash."""


def wants_headers_only(scope: Scope) -> bool:
    """Whether the request is a `HEAD`, which routes see as a `GET`. They may skip expensive work for the body."""
    return bool(scope.get(_HEADERS_ONLY))


def endpoint_of(scope: Scope) -> object:
    """The endpoint of a request that KnownAddresses let through, known before routing."""
    return scope[_ENDPOINT]


def address_of(scope: Scope) -> str:
    """The address of such a request with its parameters by name: `/people/{id}`."""
    address: str = scope[_ADDRESS]
    return address


class _Address(NamedTuple):
    path: str
    """With its parameters by their names."""
    pattern: re.Pattern[str]
    endpoints: Mapping[str, object]
    """By method."""


class KnownAddresses(problems.HttpMiddleware):
    """Lets through requests with an address and a method of one of `routes`."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        super().__init__(app)
        self._addresses = _addresses(routes)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (path := _ALIASES.get(scope["path"])) is not None:
            scope = {**scope, "path": path, "raw_path": path.encode()}
        address = next((each for each in self._addresses if each.pattern.match(scope["path"])), None)
        if address is None:
            await self.refuse(problems.NO_SUCH_ADDRESS, scope, receive, send)
            return
        if scope["method"] not in address.endpoints:
            methods = ", ".join(sorted(address.endpoints))
            await self.refuse(problems.NO_SUCH_METHOD, scope, receive, send, Allow=methods)
            return
        if broken := [*_not_in_utf8(scope, address)]:
            await self.refuse(InvalidInput([*dict.fromkeys(broken)]), scope, receive, send)
            return
        scope = {**scope, _ADDRESS: address.path, _ENDPOINT: address.endpoints[scope["method"]]}
        if scope["method"] == "HEAD":
            await self.app({**scope, "method": "GET", _HEADERS_ONLY: True}, receive, _without_body(send))
        else:
            await self.app(scope, receive, send)


def _addresses(routes: Sequence[BaseRoute]) -> list[_Address]:
    """The addresses of `routes`, those with fewest parameters first: /people/search is not the person `search`."""
    patterns: dict[str, re.Pattern[str]] = {}
    endpoints: defaultdict[str, dict[str, object]] = defaultdict(dict)
    for route in iter_route_contexts(routes):
        assert route.path_format is not None
        patterns[route.path_format] = route.path_regex
        endpoints[route.path_format] |= dict.fromkeys(route.methods or (), route.endpoint)
    for by_method in endpoints.values():
        if "GET" in by_method:
            by_method["HEAD"] = by_method["GET"]
    addresses = [_Address(path, pattern, endpoints[path]) for path, pattern in patterns.items()]
    return sorted(addresses, key=lambda address: (address.path.count("{"), -len(address.path)))


def _not_in_utf8(scope: Scope, address: _Address) -> Iterator[FieldError]:
    """Parameters of the path and the query that are not UTF-8."""
    if not _is_utf8(scope.get("raw_path") or b"") and (in_path := address.pattern.match(scope["path"])):
        yield from (_must_be_utf8(name) for name, value in in_path.groupdict().items() if "\ufffd" in value)
    for parameter in scope.get("query_string", b"").split(b"&"):
        if not _is_utf8(parameter):
            yield _must_be_utf8(unquote_to_bytes(parameter.partition(b"=")[0]).decode(errors="replace"))


def _is_utf8(text: bytes) -> bool:
    try:
        unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return False
    return True


def _must_be_utf8(name: str) -> FieldError:
    return FieldError(pointer_to([name]), f"{name}: must be UTF-8")


def _without_body(send: Send) -> Send:
    async def send_headers(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return send_headers


LOCAL_NAME_MAX_CHARACTERS = 64


def installation_of(request: Request) -> Services:
    """The services of the process, which belong to no tenant."""
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


async def public_services(request: Request) -> Services:
    """The same as a route's dependency: for routes that nobody signs in for."""
    return installation_of(request)


async def services_of(request: Request) -> Services:
    """The services for the caller's tenant, as a route's dependency; without TENANT_CLAIM, those of the process."""
    installation = installation_of(request)
    return installation if installation.tenants is None else await installation.of(verified_caller(request))


PublicServices = Annotated[Services, Depends(public_services)]
ServicesDependency = Annotated[Services, Depends(services_of)]


def verified_caller(request: Request) -> Caller:
    """The caller, as a route's dependency. Raises NotAuthenticated."""
    settings = installation_of(request).settings
    if settings.identity == "gateway":
        return _from_gateway(request.scope.get("aws.event"))
    return _from_bearer_name(request.headers.get("authorization"), settings.tenant_claim)


def _from_gateway(event: Any) -> Caller:
    try:
        claims = event["requestContext"]["authorizer"]["claims"]
        subject = claims["sub"]
    except (KeyError, TypeError):
        raise NotAuthenticated(gettext_noop("Sign in first.")) from None
    if not isinstance(subject, str) or not subject:
        raise NotAuthenticated(gettext_noop("Sign in first."))
    return Caller(subject, {name: value for name, value in claims.items() if isinstance(value, str)})


def _from_bearer_name(header: str | None, tenant_claim: str | None) -> Caller:
    if header is None:
        return Caller(LOCAL_USER)
    scheme, _, name = header.partition(" ")
    name = name.strip()
    is_valid = 1 <= len(name) <= LOCAL_NAME_MAX_CHARACTERS and not any(each <= " " or each == "\x7f" for each in name)
    if scheme.lower() != "bearer" or not is_valid:
        raise NotAuthenticated("Locally the header is `Authorization: Bearer NAME`, where NAME has 1 to 64 characters.")
    tenant = name.rpartition("@")[2] if "@" in name else ""
    return Caller(name, {tenant_claim: tenant} if tenant_claim and tenant else {})


RouteClass = Literal["model", "plain", "typing"]
DEFAULT_PER_MINUTE: dict[RouteClass, int] = {"model": 30, "plain": 120, "typing": 600}
"""Of `typing` routes every few letters make a request."""
CallerDependency = Callable[[Request, Caller, Services], Awaitable[Caller]]
# One statement counts and reads, so that concurrent requests never share a place. A tenant's are counted for the caller '',
# without those that the caller's own limit refuses.
_COUNT = """
with own as (
  insert into rate_windows as w (caller, route_class, window_start, requests)
  select %(caller)s, %(route_class)s, date_trunc('minute', now()), 1 where %(limit)s > 0
  on conflict (caller, route_class, window_start) do update set requests = w.requests + 1
  returning requests
), shared as (
  insert into rate_windows as w (caller, route_class, window_start, requests)
  select '', 'tenant', date_trunc('minute', now()), 1
  where %(shared_limit)s > 0 and not exists (select from own where requests > %(limit)s)
  on conflict (caller, route_class, window_start) do update set requests = w.requests + 1
  returning requests
)
select (select requests from own) as own, (select requests from shared) as shared,
  extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now())::float8 as seconds_left
"""


def limit_per_minute(settings: Settings, route_class: RouteClass) -> int:
    """Requests a minute allowed to one caller in one class of route; 0 means no limit."""
    if settings.rate_limit_per_minute is not None:
        return settings.rate_limit_per_minute
    return DEFAULT_PER_MINUTE[route_class]


async def take_place(services: Services, caller: Caller, route_class: RouteClass) -> None:
    """Count one request. Raises RateLimited once the minute's places are taken, the caller's or those of the tenant."""
    limit = limit_per_minute(services.settings, route_class)
    shared_limit = services.quotas.requests_per_minute if services.quotas else 0
    if not (limit or shared_limit):
        return
    row = await services.database.row(
        _COUNT,
        {"caller": caller.user_id, "route_class": route_class, "limit": limit, "shared_limit": shared_limit},
    )
    assert row is not None
    for of_whom, requests, allowed in (("", row["own"], limit), (" of your organization", row["shared"], shared_limit)):
        if requests is not None and requests > allowed:
            raise RateLimited(
                f"More than {allowed} requests{of_whom} in a minute; wait until the next one begins.",
                retry_after_seconds=max(1, math.ceil(row["seconds_left"])),
            )


def limited_caller(route_class: RouteClass) -> CallerDependency:
    """A route's dependency: the verified caller, after counting the request in this class of route."""

    async def dependency(
        request: Request,
        caller: Annotated[Caller, Depends(verified_caller)],
        services: ServicesDependency,
    ) -> Caller:
        # a HEAD starts no stream, and so calls no model
        if not (route_class == "model" and wants_headers_only(request.scope)):
            await take_place(services, caller, route_class)
        return caller

    return dependency


PlainCaller = Annotated[Caller, Depends(limited_caller("plain"))]
ModelCaller = Annotated[Caller, Depends(limited_caller("model"))]
TypingCaller = Annotated[Caller, Depends(limited_caller("typing"))]
"""The caller of a route that calls no model, of one that does, and of one that is called while somebody types."""
