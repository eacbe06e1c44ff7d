"""Streams of events as HTTP responses: heartbeats, a deadline, and nothing on the way that holds them back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from quarry.core.services import Services
from quarry.core.stream.encoding import NDJSON, SSE, encode_ndjson, encode_sse
from quarry.core.stream.events import Event
from quarry.core.web.addresses import wants_headers_only
from quarry.core.web.deadline import deadline_of

NDJSON_EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"type": {"type": "string"}, "data": {"type": "object"}},
    "required": ["type", "data"],
}
SSE_EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]},
        }
    },
    "required": ["data"],
}
"""What a stream's items have in common, as an OpenAPI document says it."""

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class _EventStream(StreamingResponse):
    """A stream whose search has ended when it ends, however it ends: admission cancels it when its client leaves."""

    def __init__(self, encoded: AsyncGenerator[bytes], media_type: str) -> None:
        super().__init__(encoded, media_type=media_type, headers=_HEADERS)
        self._encoded = encoded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._encoded):
            await self.stream_response(send)


def ndjson_response(request: Request, events: AsyncGenerator[Event], services: Services) -> StreamingResponse:
    """The events, one a line."""
    encoded = encode_ndjson(
        events, heartbeat_seconds=services.settings.heartbeat_seconds, deadline=deadline_of(request.scope)
    )
    return _stream(request, encoded, NDJSON)


def sse_response(request: Request, events: AsyncGenerator[Event], services: Services) -> StreamingResponse:
    """The events as server-sent events."""
    encoded = encode_sse(
        events, heartbeat_seconds=services.settings.heartbeat_seconds, deadline=deadline_of(request.scope)
    )
    return _stream(request, encoded, SSE)


def _stream(request: Request, encoded: AsyncGenerator[bytes], media_type: str) -> StreamingResponse:
    """The stream, which begins only for who reads it."""
    return _EventStream(_nothing() if wants_headers_only(request.scope) else encoded, media_type)


async def _nothing() -> AsyncGenerator[bytes]:
    return
    yield
