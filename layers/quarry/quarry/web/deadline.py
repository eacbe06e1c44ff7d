"""When a response must have ended: before Lambda ends the invocation, which would cut it off without a word."""

from __future__ import annotations

import asyncio
import logging
import math

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.errors import Unavailable
from quarry.streaming.encoding import LATE_MESSAGE
from quarry.web import problems

RESERVE_SECONDS = 4.0
"""Kept back of an invocation's time for ending the stream, writing the run log and telling the runtime."""

logger = logging.getLogger(__name__)


def deadline_of(scope: Scope) -> float:
    """The moment by the event loop's clock; infinite outside Lambda."""
    context = scope.get("aws.context")
    if context is None:
        return math.inf
    remaining_seconds: float = context.get_remaining_time_in_millis() / 1000
    return asyncio.get_running_loop().time() + remaining_seconds - RESERVE_SECONDS


class BeginsInTime:
    """Ends what has not begun to respond at the deadline, and says so. A stream that has begun minds its deadline itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        deadline = deadline_of(scope) if scope["type"] == "http" else math.inf
        waiting = asyncio.timeout_at(deadline if deadline < math.inf else None)

        async def send_begun(message: Message) -> None:
            waiting.reschedule(None)
            await send(message)

        try:
            async with waiting:
                await self.app(scope, receive, send_begun)
        except TimeoutError:
            if not waiting.expired():
                raise
            logger.error("no response before the deadline: %s %s", scope["method"], scope["path"])
            late = problems.from_quarry_error(scope.get("request_id"), Unavailable(LATE_MESSAGE))
            await late(scope, receive, send)
