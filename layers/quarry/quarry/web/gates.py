"""What a local server refuses because nobody signs in to it. Deployed, every request carries a verified token.

A page whose name resolves to this machine (DNS rebinding) could read answers: `Host` and `Origin` give it away. Another site's
image or redirect could send a `GET` that spends money: `Sec-Fetch-Site` gives that away.
"""

from __future__ import annotations

import ipaddress
import re
from abc import abstractmethod
from typing import ClassVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.platform.errors import Forbidden, MisdirectedRequest, QuarryError
from quarry.platform.settings import Settings
from quarry.web.admission import is_public
from quarry.web.problems import HttpMiddleware
from quarry.web.requests import endpoint_of

_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_OWN_SITES = frozenset(("same-origin", "none"))
"""What browsers put into `Sec-Fetch-Site` for the server's own pages, and for an address that the user typed or opened from
another program. `same-site` is not enough: it covers every other port of localhost."""


class _Gate(HttpMiddleware):
    """Answers a request that it does not admit with its `refusal`."""

    refusal: ClassVar[QuarryError]

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(app)
        self._names = settings.allowed_hosts
        self._origin = settings.allowed_origin

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._admits(scope, Headers(scope=scope)):
            await self.app(scope, receive, send)
        else:
            await self.refuse(self.refusal, scope, receive, send)

    @abstractmethod
    def _admits(self, scope: Scope, headers: Headers) -> bool: ...

    def _is_named(self, origin: str) -> bool:
        """Whether the settings name the origin of a page, or its host."""
        return self._origin in ("*", origin) or _host_of(origin) in self._names


class HostGate(_Gate):
    """Refuses a request whose `Host`, or whose `Origin`, is none of the server's names."""

    refusal = MisdirectedRequest(
        "This server answers to loopback names, such as localhost and 127.0.0.1, and to those in QUARRY_ALLOWED_HOSTS."
    )

    def _admits(self, scope: Scope, headers: Headers) -> bool:
        names = [_host_name(host) for host in headers.getlist("host")]
        is_ours = len(names) == 1 and (names[0] in self._names or is_loopback(names[0]))
        return is_ours and all(
            self._is_named(origin) or is_loopback(_host_of(origin)) for origin in headers.getlist("origin")
        )


class SiteGate(_Gate):
    """Refuses what a page of another site sends, except to public routes. Pages that the settings name may call all routes."""

    refusal = Forbidden(
        "A page of another site or port sent this request, and a local server has no sign-in that would protect it. Open "
        "Quarry's own page, or name the other page's origin in ALLOWED_ORIGIN, or its host in QUARRY_ALLOWED_HOSTS."
    )

    def _admits(self, scope: Scope, headers: Headers) -> bool:
        if is_public(endpoint_of(scope)) or _OWN_SITES.issuperset(headers.getlist("sec-fetch-site")):
            return True
        origins = headers.getlist("origin")
        return bool(origins) and all(map(self._is_named, origins))


def _host_of(origin: str) -> str:
    """The host of a web page's origin, as `_host_name` returns it."""
    scheme, _, host = origin.partition("://")
    return _host_name(host) if scheme in ("http", "https") else ""


def _host_name(host: str) -> str:
    """The name in a `Host` header, in lower case, without port, brackets and final dot; empty if it is malformed."""
    match = _HOST.fullmatch(host)
    return match["name"].lower().strip("[]").removesuffix(".") if match else ""


def is_loopback(name: str) -> bool:
    """Whether a host name always means this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
