"""Headers that mean something once only."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.platform.errors import MalformedRequest
from quarry.web import problems

SINGLE = ("Authorization", "Content-Length", "Content-Type", "Idempotency-Key", "Last-Event-ID")


class SingleHeaders:
    """Refuses a request that sends one of these headers twice: a proxy in front may have looked at the other one. `Host` and
    `Origin` are the host gate's.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            repeated = next((name for name in SINGLE if len(headers.getlist(name)) > 1), None)
            if repeated is not None:
                error = MalformedRequest(f"The header {repeated} came more than once; send it once.")
                await problems.from_quarry_error(scope.get("request_id"), error)(scope, receive, send)
                return
        await self.app(scope, receive, send)
