"""The host names and web pages that a local server answers to. Deployed, every request carries a verified token.

Locally nobody signs in. A page whose name resolves to this machine (DNS rebinding) could read answers; `Host` and `Origin` give
it away. Another site's image or redirect could send a `GET` that spends money; `Sec-Fetch-Site` gives that away.
"""

from __future__ import annotations

import ipaddress
import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.platform.errors import Forbidden, MisdirectedRequest
from quarry.platform.settings import Settings
from quarry.web.addresses import endpoint_of
from quarry.web.admission import is_public
from quarry.web.problems import HttpMiddleware

_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_SCHEMES = ("http://", "https://")

REFUSAL = MisdirectedRequest(
    "This server answers to loopback names, such as localhost and 127.0.0.1, and to those in QUARRY_ALLOWED_HOSTS."
)

OTHER_SITE = Forbidden(
    "A page of another site or port sent this request, and a local server has no sign-in that would protect it. Open Quarry's "
    "own page, or name the other page's origin in ALLOWED_ORIGIN, or its host in QUARRY_ALLOWED_HOSTS."
)
_OWN_SITES = frozenset(("same-origin", "none"))
"""What browsers put into `Sec-Fetch-Site` for the server's own pages, and for an address that the user typed or opened from
another program. `same-site` is not enough: it covers every other port of localhost."""


class HostGate(HttpMiddleware):
    """Refuses a request whose `Host`, or whose `Origin`, is none of the server's names."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(app)
        self._names = settings.allowed_hosts
        self._origin = settings.allowed_origin

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._admits(Headers(scope=scope)):
            await self.app(scope, receive, send)
        else:
            await self.refuse(REFUSAL, scope, receive, send)

    def _admits(self, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        return len(hosts) == 1 and self._is_ours(hosts[0]) and all(map(self._may_call, headers.getlist("origin")))

    def _is_ours(self, host: str) -> bool:
        name = host_name(host)
        return name is not None and (name in self._names or is_loopback(name))

    def _may_call(self, origin: str) -> bool:
        if self._origin in ("*", origin):
            return True
        host = _host_of(origin)
        return host is not None and self._is_ours(host)


class SiteGate(HttpMiddleware):
    """Refuses what a page of another site sends, except to public routes. Pages that the settings name may call all routes."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(app)
        self._names = settings.allowed_hosts
        self._origin = settings.allowed_origin

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_public(endpoint_of(scope)) or self._admits(Headers(scope=scope)):
            await self.app(scope, receive, send)
        else:
            await self.refuse(OTHER_SITE, scope, receive, send)

    def _admits(self, headers: Headers) -> bool:
        if _OWN_SITES.issuperset(headers.getlist("sec-fetch-site")):
            return True
        origins = headers.getlist("origin")
        return bool(origins) and all(map(self._is_named, origins))

    def _is_named(self, origin: str) -> bool:
        host = _host_of(origin)
        return self._origin in ("*", origin) or (host is not None and host_name(host) in self._names)


def _host_of(origin: str) -> str | None:
    """Host and port of a web page's origin."""
    scheme = next(filter(origin.startswith, _SCHEMES), None)
    return None if scheme is None else origin.removeprefix(scheme)


def host_name(host: str) -> str | None:
    """The name in a `Host` header, in lower case, without port, brackets and closing dot; None where it is not well-formed."""
    match = _HOST.fullmatch(host)
    return match["name"].lower().strip("[]").removesuffix(".") if match else None


def is_loopback(name: str) -> bool:
    """Whether a host's name always means this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
