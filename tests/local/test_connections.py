"""Connections that want to be held for nothing, over real sockets: each is ended, and what it held is given up."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from quarry.local.server import HEAD_MAX_BYTES, BoundedConnection
from quarry.web.middleware import ShortJsonBodies
from tests.running import serving_app

END_SECONDS = 30.0
"""Longer than anything here takes; a socket that waits so long fails its test."""

GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST_HEAD = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"


class Hasty(BoundedConnection):
    request_seconds = 0.3
    stall_seconds = 0.3
    connections_max = 2


class Patient(BoundedConnection):
    """Ends nothing by time."""

    request_seconds = stall_seconds = 600.0


class Answering:
    """Answers each request shortly, or without an end where it is asked for /endless, and knows what it works on."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._live(receive, send)
            return
        self.begun.set()
        endless = scope["path"] == "/endless"
        await (StreamingResponse(self._endless()) if endless else Response("fine"))(scope, receive, send)

    async def _endless(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x" * 65_536
                await asyncio.sleep(0)
        finally:
            self.ended.set()

    async def _live(self, receive: Receive, send: Send) -> None:
        for phase in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{phase}.complete"})


@pytest.fixture
def answering() -> Answering:
    return Answering()


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    address = urlsplit(url)
    assert address.hostname
    assert address.port
    with socket.create_connection((address.hostname, address.port), timeout=END_SECONDS) as connection:
        yield connection


def read_to_the_end(connection: socket.socket) -> bytes:
    """All that comes until the server ends the connection, in whichever way."""
    received = b""
    try:
        while piece := connection.recv(65_536):
            received += piece
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("beginning", [b"", GET[:-2], POST_HEAD + b"{"], ids=["nothing", "half a head", "half a body"])
def test_a_request_that_does_not_arrive_is_dropped(answering: Answering, beginning: bytes) -> None:
    with serving_app(ShortJsonBodies(answering), Hasty) as url, connected(url) as connection:
        connection.sendall(beginning)
        assert read_to_the_end(connection) == b""
    assert not answering.begun.is_set()


def test_a_reader_that_stops_reading_is_dropped_and_its_work_ends(answering: Answering) -> None:
    with serving_app(answering, Hasty) as url, connected(url) as connection:
        connection.sendall(GET.replace(b"/ ", b"/endless "))
        assert answering.begun.wait(END_SECONDS)
        assert answering.ended.wait(END_SECONDS)


def test_one_connection_too_many_is_told_when_to_come_again(answering: Answering) -> None:
    class Few(Patient):
        connections_max = 2

    with serving_app(answering, Few) as url, connected(url) as one, connected(url) as two:
        for connection in (one, two):
            connection.sendall(GET)
            assert b" 200 " in connection.recv(65_536)
        with connected(url) as third:
            refused = read_to_the_end(third)
    assert_problem(refused, 503, "temporarily-unavailable")
    assert b"\r\nRetry-After: " in refused or b"\r\nretry-after: " in refused


def test_a_body_may_be_larger_than_a_head_and_a_request_may_follow(answering: Answering) -> None:
    body = b"x" * (2 * HEAD_MAX_BYTES)
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serving_app(answering, Patient) as url, connected(url) as connection:
        for _ in range(2):
            connection.sendall(head + body)
            assert b" 200 " in connection.recv(65_536)
            connection.sendall(GET)
            assert b" 200 " in connection.recv(65_536)
        connection.sendall(GET[:-2].ljust(HEAD_MAX_BYTES + 1, b"x"))
        assert_problem(read_to_the_end(connection), 431, "headers-too-large")


def test_a_request_may_follow_one_that_is_answered_before_its_body_has_arrived(answering: Answering) -> None:
    body = b" " * (2 * HEAD_MAX_BYTES)
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serving_app(answering, Patient) as url, connected(url) as connection:
        for _ in range(2):
            connection.sendall(head + body[:10])
            assert b" 200 " in connection.recv(65_536)
            connection.sendall(body[10:] + GET)
            assert b" 200 " in connection.recv(65_536)
        connection.sendall(head)
        assert b" 200 " in connection.recv(65_536)
        connection.sendall(body + GET[:-2].ljust(HEAD_MAX_BYTES + 1, b"x"))
        assert_problem(read_to_the_end(connection), 431, "headers-too-large")


def test_the_rest_of_a_body_that_is_answered_must_arrive_in_time(answering: Answering) -> None:
    with serving_app(answering, Hasty) as url, connected(url) as connection:
        connection.sendall(POST_HEAD)
        assert b" 200 " in read_to_the_end(connection)


def test_a_connection_ends_after_an_answer_to_a_body_of_unknown_length(answering: Answering) -> None:
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    with serving_app(answering, Patient) as url, connected(url) as connection:
        connection.sendall(head)
        assert b"\r\nconnection: close\r\n" in read_to_the_end(connection)


def test_an_answer_may_take_longer_than_its_request_to_arrive() -> None:
    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await asyncio.sleep(2 * Hasty.request_seconds)
            await Response("fine")(scope, receive, send)

    with serving_app(late, Hasty) as url, connected(url) as connection:
        connection.sendall(GET)
        assert b" 200 " in connection.recv(65_536)


def assert_problem(response: bytes, status: int, kind: str) -> None:
    head, _, body = response.partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"content-type: application/problem+json" in head.lower()
    assert problem["type"] == f"urn:quarry:problem:{kind}"
    assert f"x-request-id: {problem['request_id']}".encode() in head.lower()
