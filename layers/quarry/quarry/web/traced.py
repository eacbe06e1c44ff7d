"""The span of a request, where traces are on."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.tracing import Tracing
from quarry.web.addresses import address_of


class Traced:
    """Traces each request whose address is known. Neither the path nor the query is told, which hold what was asked, and ids
    that open an answer.
    """

    def __init__(self, app: ASGIApp, tracing: Tracing) -> None:
        self.app = app
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        route = address_of(scope)
        with self._tracing.request(f"{scope['method']} {route}", Headers(scope=scope)) as told:
            told |= {
                "http.request.method": scope["method"],
                "http.route": route,
                "url.scheme": scope["scheme"],
                "quarry.request_id": scope["request_id"],
            }

            async def send_told(message: Message) -> None:
                if message["type"] == "http.response.start":
                    told["http.response.status_code"] = message["status"]
                await send(message)

            await self.app(scope, receive, send_told)
