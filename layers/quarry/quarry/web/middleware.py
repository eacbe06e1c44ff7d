"""Middleware before every route: metrics, traces, limits of headers, bodies and time, and clean responses."""

from __future__ import annotations

import asyncio
import logging
import math
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.language.messages import accepted_language, speaking
from quarry.platform.errors import UNFORESEEN_MESSAGE, MalformedRequest, QuarryError, Unavailable, UnsupportedMediaType
from quarry.platform.telemetry import (
    REFUSED_402,
    REFUSED_429,
    REFUSED_503,
    REQUESTS,
    TIME_TO_FIRST_EVENT,
    Metrics,
    Tracing,
)
from quarry.platform.text import visible_json
from quarry.streaming.events import LATE_MESSAGE
from quarry.web import problems
from quarry.web.problems import HttpMiddleware
from quarry.web.requests import address_of

BEGAN = "quarry.began"
"""Key of a scope: when the request came, by `time.perf_counter`, if that was before the application got it."""
RESERVE_SECONDS = 4.0
"""Part of an invocation's time that is reserved for ending the stream, writing the run log and answering the runtime."""
METHODS_WITH_BODY = ("POST", "PUT", "PATCH")
SINGLE = ("Authorization", "Content-Length", "Content-Type", "Idempotency-Key", "Last-Event-ID")
"""Headers that may be sent only once."""

_NOT_SAID_TO_BE_JSON = UnsupportedMediaType("Send the body as JSON, with `Content-Type: application/json`.")
_REFUSED = {402: REFUSED_402, 429: REFUSED_429, 503: REFUSED_503}
_EVENT_STREAMS = ("text/event-stream", "application/x-ndjson")
_DATA = "data: "

logger = logging.getLogger(__name__)


class Measured(HttpMiddleware):
    """Counts requests, refusals, and the time to the first event of a stream. The outermost middleware."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        began: float = scope.get(BEGAN) or time.perf_counter()
        awaits_event = False

        async def send_measured(message: Message) -> None:
            nonlocal awaits_event
            if message["type"] == "http.response.start":
                awaits_event = _media_type(Headers(raw=message["headers"])) in _EVENT_STREAMS
                if refused := _REFUSED.get(message["status"]):
                    self._metrics.count(refused)
            elif awaits_event and message.get("body"):
                awaits_event = False
                self._metrics.count(TIME_TO_FIRST_EVENT, (time.perf_counter() - began) * 1000)
            await send(message)

        self._metrics.count(REQUESTS)
        await self.app(scope, receive, send_measured)


class EveryResponse(HttpMiddleware):
    """Gives every request an id, and every response that id, `nosniff`, and `no-store` unless the route allows caching."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = getattr(scope.get("aws.context"), "aws_request_id", None) or str(uuid.uuid4())

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app({**scope, "request_id": request_id}, receive, send_with_headers)


class InLanguage(HttpMiddleware):
    """Speaks the language that the client accepts, until a question is in another."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        with speaking(accepted_language(Headers(scope=scope).get("accept-language", ""))):
            await self.app(scope, receive, send)


class VisibleOnly(HttpMiddleware):
    """Removes invisible characters from every JSON body and event. Each message of a body has whole lines, and a document with a
    length is one message.
    """

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        start: Message | None = None
        is_cleaned = False

        async def send_visible(message: Message) -> None:
            nonlocal start, is_cleaned
            if message["type"] == "http.response.start":
                headers = Headers(raw=message["headers"])
                media_type = _media_type(headers)
                is_cleaned = _is_json(media_type) or media_type in _EVENT_STREAMS
                is_cleaned = is_cleaned and "content-encoding" not in headers
                if is_cleaned and "content-length" in headers:
                    start = message
                    return
            elif is_cleaned and message.get("body"):
                message = {**message, "body": _visible(message["body"])}
            if start is not None:
                await send(_of_length(start, message))
                start = None
            await send(message)

        await self.app(scope, receive, send_visible)


def _media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or media_type.endswith("+json")


def _of_length(start: Message, message: Message) -> Message:
    """The start of a response with a cleaned body. The answer to a HEAD has no body, and keeps its length."""
    if not message.get("body"):
        return start
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["Content-Length"] = str(len(message["body"]))
    return {**start, "headers": headers.raw}


def _visible(body: bytes) -> bytes:
    if body.isascii():
        return body
    # not by str.splitlines, which also splits at characters that are removed here
    lines = body.decode().split("\n")
    prefixes = (_DATA if line.startswith(_DATA) else "" for line in lines)
    return "\n".join(
        prefix + visible_json(line.removeprefix(prefix)) for prefix, line in zip(prefixes, lines, strict=True)
    ).encode()


def deadline_of(scope: Scope) -> float:
    """When a response must have ended, by the event loop's clock, so that Lambda does not cut it off. Infinite outside Lambda."""
    context = scope.get("aws.context")
    if context is None:
        return math.inf
    remaining_seconds: float = context.get_remaining_time_in_millis() / 1000
    return asyncio.get_running_loop().time() + remaining_seconds - RESERVE_SECONDS


class AlwaysAnswers(HttpMiddleware):
    """Answers a request that the application did not answer: because of an error, or because the deadline came first. It leaves
    alone a response that has begun: a stream watches its own deadline.
    """

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        deadline = deadline_of(scope)
        waiting = asyncio.timeout_at(deadline if deadline < math.inf else None)
        has_begun = False

        async def send_begun(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            waiting.reschedule(None)
            await send(message)

        try:
            async with waiting:
                await self.app(scope, receive, send_begun)
        except Exception:
            if has_begun:
                raise
            if waiting.expired():
                logger.error("no response before the deadline: %s %s", scope["method"], scope["path"])
                await self.refuse(Unavailable(LATE_MESSAGE), scope, receive, send)
                return
            logger.exception("unforeseen error")
            unforeseen = QuarryError(UNFORESEEN_MESSAGE)
            await problems.response_to(unforeseen, scope, is_logged=False)(scope, receive, send)


class SingleHeaders(HttpMiddleware):
    """Refuses a request that sends one of these headers twice: a proxy in front may have read the other one. The host gate checks
    `Host` and `Origin`.
    """

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if repeated := [name for name in SINGLE if len(headers.getlist(name)) > 1]:
            error = MalformedRequest(f"The header {repeated[0]} came more than once; send it once.")
            await self.refuse(error, scope, receive, send)
        else:
            await self.app(scope, receive, send)


class Traced(HttpMiddleware):
    """Traces each request to a known address, without its path and query, which contain questions and ids of answers."""

    def __init__(self, app: ASGIApp, tracing: Tracing) -> None:
        super().__init__(app)
        self._tracing = tracing

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = address_of(scope)
        with self._tracing.request(f"{scope['method']} {route}", Headers(scope=scope)) as attributes:
            attributes |= {
                "http.request.method": scope["method"],
                "http.route": route,
                "url.scheme": scope["scheme"],
                "quarry.request_id": scope["request_id"],
            }

            async def send_traced(message: Message) -> None:
                if message["type"] == "http.response.start":
                    attributes["http.response.status_code"] = message["status"]
                await send(message)

            await self.app(scope, receive, send_traced)


class ShortJsonBodies(HttpMiddleware):
    """Refuses a body that is not declared as JSON, or is too large, before a route sees it. The whole body is read first, so a
    slow client holds nothing but its connection. The server discards what is left.
    """

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in METHODS_WITH_BODY:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            if not _is_json(_media_type(headers)):
                raise _NOT_SAID_TO_BE_JSON
            body = await _whole_body(headers, receive)
        except QuarryError as error:
            await self.refuse(error, scope, receive, send)
            return
        if body is not None:
            await self.app(scope, _replaying(body, receive), send)


async def _whole_body(headers: Headers, receive: Receive) -> bytes | None:
    """The whole body; None if the client has left. Raises BodyTooLarge, at once if the length is declared."""
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > problems.BODY_MAX_BYTES:
        raise problems.BODY_TOO_LARGE
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > problems.BODY_MAX_BYTES:
            raise problems.BODY_TOO_LARGE
        more = message.get("more_body", False)
    return bytes(body)


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Receives the body again, then the client's disconnect."""
    replayed = False

    async def receive_again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
