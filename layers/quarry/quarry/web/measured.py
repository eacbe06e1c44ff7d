"""What the edge counts of requests: how many, which were refused, and how long readers waited for a stream's first event."""

from __future__ import annotations

import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.metrics import REFUSED_402, REFUSED_429, REFUSED_503, REQUESTS, TIME_TO_FIRST_EVENT, Metrics

BEGAN = "quarry.began"
"""In a scope: when the request came, by `time.perf_counter`, where that was before the application had it."""

_REFUSED = {402: REFUSED_402, 429: REFUSED_429, 503: REFUSED_503}
_EVENT_STREAMS = ("text/event-stream", "application/x-ndjson")


class Measured:
    """Counts each request in `metrics`. The outermost of all, it sees every response."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began: float = scope.get(BEGAN) or time.perf_counter()
        awaits_event = False

        async def send_measured(message: Message) -> None:
            nonlocal awaits_event
            if message["type"] == "http.response.start":
                awaits_event = Headers(raw=message["headers"]).get("content-type", "").startswith(_EVENT_STREAMS)
                if refused := _REFUSED.get(message["status"]):
                    self._metrics.count(refused)
            elif awaits_event and message.get("body"):
                awaits_event = False
                self._metrics.count(TIME_TO_FIRST_EVENT, (time.perf_counter() - began) * 1000)
            await send(message)

        self._metrics.count(REQUESTS)
        await self.app(scope, receive, send_measured)
