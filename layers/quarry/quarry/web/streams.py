"""Streams of events as HTTP responses: heartbeats, a deadline, resumption, and no buffering."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any, NamedTuple, TypeVar
from uuid import UUID, uuid4

from fastapi import Depends, Header, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from quarry.platform.contract import LazyModel
from quarry.platform.errors import Gone, NotFound
from quarry.services.services import Caller, Services
from quarry.streaming.events import AFTER_SEQ, NDJSON, PLACE_PATTERN, Event, Form, StreamPosition
from quarry.web.middleware import deadline_of
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import ServicesDependency, take_place, verified_caller, wants_headers_only

NDJSON_EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"type": {"type": "string"}, "data": {"type": "object"}, "seq": {"type": "string"}},
    "required": ["type", "data", "seq"],
}
SSE_EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]},
        },
    },
    "required": ["id", "data"],
}
"""The schemas of a stream's items in the OpenAPI document."""

_LAST_EVENT_ID = (
    "Like `after_seq`, but takes precedence: the id of the last event received. Other values are ignored, such as an id from "
    "another service."
)
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class _EventStream(StreamingResponse):
    """A stream that closes its search when it ends for any reason; admission cancels it when its client leaves."""

    def __init__(self, encoded: AsyncGenerator[bytes], media_type: str) -> None:
        super().__init__(encoded, media_type=media_type, headers=_HEADERS)
        self._encoded = encoded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._encoded):
            await self.stream_response(send)


class StreamReader(NamedTuple):
    """Who reads a stream, and after which event of an earlier run; None for a new search."""

    caller: Caller
    place: StreamPosition | None


async def stream_reader(
    request: Request,
    caller: Annotated[Caller, Depends(verified_caller)],
    services: ServicesDependency,
    after_seq: Annotated[str, Query(pattern=PLACE_PATTERN, description=AFTER_SEQ)] = "",
    last_event_id: Annotated[str, Header(description=_LAST_EVENT_ID)] = "",
) -> StreamReader:
    """The reader of a stream, as a route's dependency. Counts against the rate limit; resuming a stream calls no model."""
    # an EventSource that reconnects sends its first address, and the last event in the header
    place = last_event_id if re.search(PLACE_PATTERN, last_event_id) else after_seq
    # a HEAD starts no stream, and so calls no model
    if not wants_headers_only(request.scope):
        await take_place(services, caller, "plain" if place else "model")
    return StreamReader(caller, StreamPosition.read(place) if place else None)


Reader = Annotated[StreamReader, Depends(stream_reader)]


def stream_response(
    request: Request,
    search: Callable[[UUID], AsyncGenerator[Event]],
    caller: Caller,
    services: Services,
    form: Form,
    domain: str | None = None,
) -> StreamingResponse:
    """The events of a search, which is called with the id of its run and starts when the stream is read. `domain` is the domain
    of the records in the events, None for any.
    """
    if wants_headers_only(request.scope):
        return _EventStream(_nothing(), form.media_type)
    run_id = uuid4()
    live = services.streams.live(
        run_id, caller.user_id, search(run_id), form, domain=domain, **_timing(request, services)
    )
    return _EventStream(live, form.media_type)


def wants_stream(request: Request) -> bool:
    """Whether the client asks for the events, not for the answer in one piece."""
    return NDJSON.media_type.partition(";")[0] in request.headers.get("accept", "").lower()


Body = TypeVar("Body")
Answering = Callable[[Body, Caller, Services, str | None, UUID | None], AsyncGenerator[Event]]


def documented_answer(answer: type[LazyModel], domain: str) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that `answer_response` serves, for the OpenAPI document."""
    of_answer = {
        "model": answer,
        "description": "The answer; as events, one a line, where `Accept` asks for `application/x-ndjson`: "
        f"`docs/api/{domain}-events.json` holds their schema.",
        "content": {"application/x-ndjson": {"itemSchema": NDJSON_EVENT_SCHEMA}},
    }
    return {200: of_answer} | documented(NotFound, Gone)


async def answer_response(
    request: Request, body: Body, answer: Answering[Body], reader: StreamReader, services: Services, domain: str
) -> Response:
    """The events of an answer as NDJSON where the client asks for these, or the rest of those of an earlier run; else the data of
    the last one as JSON.
    """
    request_id = request_id_of(request)
    if not wants_stream(request):
        *_, last = [event async for event in answer(body, reader.caller, services, request_id, None)]
        data: LazyModel = last.data  # type: ignore[attr-defined]
        return Response(data.model_dump_json(by_alias=True, exclude_none=True), media_type="application/json")
    if reader.place is not None:
        return await rest_of_stream(request, reader.place, reader.caller, services, NDJSON)
    return stream_response(
        request,
        lambda run_id: answer(body, reader.caller, services, request_id, run_id),
        reader.caller,
        services,
        NDJSON,
        domain,
    )


async def rest_of_stream(
    request: Request, place: StreamPosition, caller: Caller, services: Services, form: Form
) -> StreamingResponse:
    """The events of a run of the caller's after `place`. Raises NotFound and Gone if there are none."""
    await services.streams.check(place, caller.user_id)
    if wants_headers_only(request.scope):
        return _EventStream(_nothing(), form.media_type)
    rest = services.streams.behind(place, caller.user_id, form, **_timing(request, services))
    return _EventStream(rest, form.media_type)


def _timing(request: Request, services: Services) -> dict[str, float]:
    return {"heartbeat_seconds": services.settings.heartbeat_seconds, "deadline": deadline_of(request.scope)}


async def _nothing() -> AsyncGenerator[bytes]:
    return
    yield
