from __future__ import annotations

import asyncio
import contextlib
import json
import math
import socket
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from quarry.platform.errors import UNFORESEEN_MESSAGE, ConfigurationError, Unavailable
from quarry.streaming.events import LATE_MESSAGE, NDJSON, SSE, Event, Form
from quarry.streaming.runs import RunStreams
from tests.waiting import PATIENCE_SECONDS

QUIET = 60.0
"""A heartbeat interval that no test reaches."""
RUN = UUID("6d0f6d2e-0a5c-4f0b-9a52-6a3c8f0e1b77")


def _encode(
    events: AsyncGenerator[Event], form: Form, heartbeat_seconds: float, deadline: float = math.inf
) -> AsyncGenerator[bytes]:
    return RunStreams().live(RUN, "someone", events, form, heartbeat_seconds=heartbeat_seconds, deadline=deadline)


def encode_ndjson(events: AsyncGenerator[Event], **timing: float) -> AsyncGenerator[bytes]:
    return _encode(events, NDJSON, **timing)


def encode_sse(events: AsyncGenerator[Event], **timing: float) -> AsyncGenerator[bytes]:
    return _encode(events, SSE, **timing)


class Said(Event):
    type: str = "said"
    text: str
    note: str | None = None


class Source:
    """A search that plays `script`: seconds to wait, or texts to say. It notes how it ended, and in which tasks it ran."""

    def __init__(self, *script: float | str) -> None:
        self._script = script
        self.said: list[str] = []
        self.ended_by: type[BaseException] | None = None
        self.closed = threading.Event()
        self.tasks: set[asyncio.Task[Any] | None] = set()

    async def events(self) -> AsyncGenerator[Event]:
        try:
            for act in self._script:
                self.tasks.add(asyncio.current_task())
                if isinstance(act, str):
                    self.said.append(act)
                    yield Said(text=act)
                else:
                    await asyncio.sleep(act)
        except BaseException as error:
            self.ended_by = type(error)
            raise
        finally:
            self.tasks.add(asyncio.current_task())
            self.closed.set()


async def failing(*texts: str, error: Exception) -> AsyncGenerator[Event]:
    for text in texts:
        yield Said(text=text)
    raise error


async def joined(stream: AsyncIterator[bytes]) -> str:
    return b"".join([chunk async for chunk in stream]).decode()


def texts(ndjson: str) -> list[str]:
    """What was said, heartbeats left out."""
    return [json.loads(line)["text"] for line in ndjson.split("\n") if line]


async def test_ndjson_is_one_event_a_line_without_absent_fields() -> None:
    stream = encode_ndjson(Source("one", "two\nlines").events(), heartbeat_seconds=QUIET)
    assert await joined(stream) == (
        f'{{"type":"said","text":"one","seq":"{RUN}/1"}}\n{{"type":"said","text":"two\\nlines","seq":"{RUN}/2"}}\n'
    )


async def test_sse_is_an_id_and_one_data_line_an_event() -> None:
    stream = encode_sse(Source("one", "two\nlines").events(), heartbeat_seconds=QUIET)
    assert (await joined(stream)).split("\n\n") == [
        f'id: {RUN}/1\ndata: {{"type":"said","text":"one"}}',
        f'id: {RUN}/2\ndata: {{"type":"said","text":"two\\nlines"}}',
        "",
    ]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_from_the_wire_in_one_piece(text: str) -> None:
    async def chunks() -> list[bytes]:
        return [chunk async for chunk in encode_sse(Source(text).events(), heartbeat_seconds=QUIET)]

    [chunk] = asyncio.run(chunks())
    data = chunk.decode().removeprefix(f"id: {RUN}/1\ndata: ").removesuffix("\n\n")
    # the separators that EventSource and readers of lines know
    assert not {"\n", "\r"} & set(data)
    assert json.loads(data)["text"] == text


async def test_heartbeats_fill_the_silence_and_only_that() -> None:
    source = Source("one", 0.15, "two")
    lines = (await joined(encode_ndjson(source.events(), heartbeat_seconds=0.1))).splitlines()
    assert lines[0]
    assert lines[-1]
    assert set(lines[1:-1]) == {""}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Unavailable("The model is down."), "The model is down."),
        (ConfigurationError("OPENAI_API_KEY is sk-secret"), UNFORESEEN_MESSAGE),
        (ValueError("select secret from people"), UNFORESEEN_MESSAGE),
        (ExceptionGroup("all of it", [KeyError("secret")]), UNFORESEEN_MESSAGE),
    ],
)
async def test_a_failure_is_the_last_event_with_a_public_message(error: Exception, message: str) -> None:
    stream = encode_ndjson(failing("one", error=error), heartbeat_seconds=QUIET)
    [first, last] = (await joined(stream)).splitlines()
    assert json.loads(first)["text"] == "one"
    assert json.loads(last) == {"type": "error", "data": {"message": message}, "seq": f"{RUN}/2"}


async def test_closing_the_stream_cancels_a_search_that_waits() -> None:
    source = Source("one", 60.0)
    stream = encode_ndjson(source.events(), heartbeat_seconds=0.02)
    assert await anext(stream)
    assert await anext(stream) == b"\n"  # the search is in its sleep
    async with asyncio.timeout(PATIENCE_SECONDS):
        await stream.aclose()
    assert source.ended_by is asyncio.CancelledError


@contextlib.contextmanager
def serving(source: Source) -> Iterator[int]:
    async def endpoint(request: Request) -> StreamingResponse:
        return StreamingResponse(encode_ndjson(source.events(), heartbeat_seconds=0.1), media_type=NDJSON.media_type)

    app = Starlette(routes=[Route("/", endpoint)])
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def received_until(connection: socket.socket, until: bytes) -> bytes:
    received = b""
    while until not in received:
        received += connection.recv(65536)
    return received


def test_events_arrive_over_http_as_they_are_said() -> None:
    source = Source("grüße", 60.0, "last")
    with serving(source) as port, socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = received_until(connection, "grüße".encode())
        assert source.said == ["grüße"]
    assert b"content-type: application/x-ndjson; charset=utf-8" in head


def test_a_client_that_leaves_cancels_the_search() -> None:
    source = Source("one", 60.0)
    with serving(source) as port:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received_until(connection, b"one")
        assert source.closed.wait(PATIENCE_SECONDS)
    assert source.ended_by is asyncio.CancelledError


@pytest.mark.parametrize("script", [("one", 60.0, "two"), ("one", *["more"] * 10_000)])
async def test_at_its_deadline_a_stream_ends_with_an_error_and_its_search_has_ended(script: tuple[float | str]) -> None:
    source = Source(*script)
    deadline = asyncio.get_running_loop().time() + 1
    stream = encode_ndjson(source.events(), heartbeat_seconds=QUIET, deadline=deadline)
    received = []
    async for line in stream:
        received.append(json.loads(line))
        ended_before = source.ended_by
        await asyncio.sleep(0.001)
    assert received[0]["text"] == "one"
    assert received[-1] | {"seq": ""} == {"type": "error", "data": {"message": LATE_MESSAGE}, "seq": ""}
    assert ended_before is not None
