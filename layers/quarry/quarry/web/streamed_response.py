"""A streamed response of a Lambda function, which `lambda_stream` sends. For API Gateway, its event becomes an ASGI scope, and
the application's messages come out one by one.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from mangum.handlers.api_gateway import APIGateway
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Scope

from quarry.web.middleware import BEGAN, deadline_of

PRELUDE_MEDIA_TYPE = "application/vnd.awslambda.http-integration-response"
COMPRESSED_BYTES_MIN = 1024
COMPRESSION_LEVEL = 5
PRELUDE_END = b"\0" * 8
GRACE_SECONDS = 1.0
"""How long after its deadline a stream may take for its last event, before it is cut off."""

# The connection between the runtime and Lambda has its own.
_HOP_BY_HOP = frozenset(("connection", "content-length", "transfer-encoding"))


@dataclass(frozen=True)
class StreamedResponse:
    """A response whose body is sent as it is made. `body` raises what its maker raised, and TimeoutError when the invocation's
    time is up; closing it ends the work.
    """

    body: AsyncGenerator[bytes]
    latest: float
    """When the response is cut off, by the event loop's clock."""
    prelude: bytes = b""
    """What API Gateway reads before the body."""
    media_type: str = "application/octet-stream"
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    """The loop on which the body is made."""


def _prelude(status: int, headers: list[tuple[str, str]]) -> bytes:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in headers:
        if name not in _HOP_BY_HOP:
            values[name].append(value)
    metadata: dict[str, Any] = {"statusCode": status}
    if cookies := values.pop("set-cookie", None):
        metadata["cookies"] = cookies
    metadata["headers"] = {name: each[0] for name, each in values.items() if len(each) == 1}
    if repeated := {name: each for name, each in values.items() if len(each) > 1}:
        metadata["multiValueHeaders"] = repeated
    return json.dumps(metadata).encode() + PRELUDE_END


async def respond(app: ASGIApp, event: dict[str, Any], context: object, *, began: float) -> StreamedResponse:
    """The application's response to a REST proxy event, once it has sent the first piece of the body. `began` is when the
    invocation began, by `time.perf_counter`. Raises what the application raises until then.
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
    if (body := _compressed(first, headers, Headers(raw=scope["headers"]))) is not None:
        first = {**first, "body": body}
        headers += [("content-encoding", "gzip"), ("vary", "Accept-Encoding")]
    prelude = _prelude(start["status"], headers)
    return StreamedResponse(_body(first, messages, latest), latest, prelude, PRELUDE_MEDIA_TYPE)


def _compressed(first: Message, headers: list[tuple[str, str]], request_headers: Headers) -> bytes | None:
    """The body of a whole JSON answer for a client that takes gzip: API Gateway compresses nothing that streams."""
    by_name, body = dict(headers), first.get("body", b"")
    is_whole = not first.get("more_body") and "content-encoding" not in by_name
    is_json = by_name.get("content-type", "").startswith(("application/json", "application/problem+json"))
    if not (
        is_whole
        and is_json
        and len(body) >= COMPRESSED_BYTES_MIN
        and "gzip" in request_headers.get("accept-encoding", "")
    ):
        return None
    return gzip.compress(body, COMPRESSION_LEVEL, mtime=0)


async def _body(first: Message, messages: AsyncGenerator[Message], latest: float) -> AsyncGenerator[bytes]:
    async with aclosing(messages):
        message: Message | None = first
        while message is not None:
            if piece := message.get("body", b""):
                yield piece
            async with asyncio.timeout_at(latest):
                message = await anext(messages, None)


async def _messages(app: ASGIApp, scope: Scope, body: bytes) -> AsyncGenerator[Message]:
    """The messages that the application sends until it ends; raises what it raises. Closing this cancels it and waits for its
    end.
    """
    received = False
    # Unbounded: an application that waited for its reader could be cancelled between two pieces of a stream, which would leave
    # the stream's generator unclosed.
    queue: asyncio.Queue[Message | None] = asyncio.Queue()

    async def receive() -> Message:
        nonlocal received
        if received:
            # a Lambda function does not learn that its client has left
            await asyncio.Event().wait()
        received = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def run() -> None:
        try:
            await app(scope, receive, queue.put)
        finally:
            queue.put_nowait(None)

    running = asyncio.create_task(run())
    # retrieve what it raises while it is cancelled
    running.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        while (message := await queue.get()) is not None:
            yield message
        await running
    finally:
        running.cancel()
        await asyncio.wait({running}, timeout=GRACE_SECONDS)
