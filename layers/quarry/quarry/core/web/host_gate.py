"""Which names a local server answers to.

Locally nobody signs in, so a page of any site that has its own name resolve to this machine (DNS rebinding) could read all that
the server answers. The browser tells such a page's name in `Host`, and in `Origin` where it sends one. Deployed, every request
carries a verified token, which no foreign page has.
"""

from __future__ import annotations

import ipaddress
import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.core.errors import MisdirectedRequest
from quarry.core.settings import Settings
from quarry.core.web import problems

_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_SCHEMES = ("http://", "https://")

REFUSAL = MisdirectedRequest(
    "This server answers to loopback names, such as localhost and 127.0.0.1, and to those in QUARRY_ALLOWED_HOSTS."
)


class HostGate:
    """Refuses a request whose `Host`, or whose `Origin`, is none of the server's names."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._names = settings.allowed_hosts
        self._origin = settings.allowed_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._admits(Headers(scope=scope)):
            await problems.from_quarry_error(scope.get("request_id"), REFUSAL)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _admits(self, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        return len(hosts) == 1 and self._is_ours(hosts[0]) and all(map(self._may_call, headers.getlist("origin")))

    def _is_ours(self, host: str) -> bool:
        name = host_name(host)
        return name is not None and (name in self._names or is_loopback(name))

    def _may_call(self, origin: str) -> bool:
        if self._origin in ("*", origin):
            return True
        scheme = next(filter(origin.startswith, _SCHEMES), None)
        return scheme is not None and self._is_ours(origin.removeprefix(scheme))


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
