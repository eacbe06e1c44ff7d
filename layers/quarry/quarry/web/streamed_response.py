"""A response that leaves a Lambda function while it is made: API Gateway's event becomes an ASGI scope, and the application's
messages come out one by one. `lambda_stream` sends them.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from mangum.handlers.api_gateway import APIGateway
from starlette.types import ASGIApp, Message, Scope

from quarry.web.middleware import BEGAN, deadline_of

PRELUDE_END = b"\0" * 8
GRACE_SECONDS = 1.0
"""How long after its deadline a stream may take for its last event. What takes longer is cut off."""

# The connection between the runtime and Lambda has its own.
_HOP_BY_HOP = frozenset(("connection", "content-length", "transfer-encoding"))


@dataclass(frozen=True)
class StreamedResponse:
    """A response whose first piece of body has come. `body` raises what the application raised, and TimeoutError when the
    invocation's time is up; closing it ends the application's work.
    """

    status: int
    headers: list[tuple[str, str]]
    body: AsyncGenerator[bytes]
    latest: float
    """When it is cut off, by the event loop's clock."""
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    """The loop on which the body is made."""

    @property
    def prelude(self) -> bytes:
        """What API Gateway reads before the body."""
        values: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in self.headers:
            if name not in _HOP_BY_HOP:
                values[name].append(value)
        metadata: dict[str, Any] = {"statusCode": self.status}
        if cookies := values.pop("set-cookie", None):
            metadata["cookies"] = cookies
        metadata["headers"] = {name: each[0] for name, each in values.items() if len(each) == 1}
        if repeated := {name: each for name, each in values.items() if len(each) > 1}:
            metadata["multiValueHeaders"] = repeated
        return json.dumps(metadata).encode() + PRELUDE_END


async def respond(app: ASGIApp, event: dict[str, Any], context: object, *, began: float) -> StreamedResponse:
    """The application's response to a REST proxy event, once the first piece of its body has come. `began`: when the invocation
    did, by `time.perf_counter`. Raises what the application raises until then.
    """
    request = APIGateway(event, context, {"api_gateway_base_path": "/"})  # type: ignore[typeddict-item, arg-type]
    scope: Scope = {**request.scope, BEGAN: began}
    latest = deadline_of(scope) + GRACE_SECONDS
    messages = _messages(app, scope, request.body)
    try:
        start, first = await anext(messages), await anext(messages)
    except BaseException:
        await messages.aclose()
        raise
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in start["headers"]]
    return StreamedResponse(start["status"], headers, _body(first, messages, latest), latest)


async def _body(first: Message, messages: AsyncGenerator[Message], latest: float) -> AsyncGenerator[bytes]:
    async with aclosing(messages):
        message: Message | None = first
        while message is not None:
            if piece := message.get("body", b""):
                yield piece
            async with asyncio.timeout_at(latest):
                message = await anext(messages, None)


async def _messages(app: ASGIApp, scope: Scope, body: bytes) -> AsyncGenerator[Message]:
    """What the application sends, until it ends; raises what it raises. Closing this cancels it and waits for its end."""
    received = False
    # Unbounded: an application that never waits for its reader is never cancelled between two pieces of a stream,
    # where the stream's generator would stay behind unclosed.
    sent: asyncio.Queue[Message | None] = asyncio.Queue()

    async def receive() -> Message:
        nonlocal received
        if received:
            # nobody tells a Lambda function that the client went away
            await asyncio.Event().wait()
        received = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def run() -> None:
        try:
            await app(scope, receive, sent.put)
        finally:
            sent.put_nowait(None)

    running = asyncio.create_task(run())
    # what it raises while it is cancelled is nobody's
    running.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        while (message := await sent.get()) is not None:
            yield message
        await running
    finally:
        running.cancel()
        await asyncio.wait({running}, timeout=GRACE_SECONDS)
