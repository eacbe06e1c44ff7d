"""HTTP connections with limits on size and time, so that idle clients cannot hold them.

uvicorn's own protocol waits without limit for the rest of a request and for a client that does not read its response, and buffers
a head of any size. Each of its connections stands behind one of ours, which passes on what arrives and has limits; the
application tells it how far its request is.
"""

from __future__ import annotations

import asyncio
import uuid
from http import HTTPStatus
from typing import Any
from weakref import WeakValueDictionary

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from quarry.platform.errors import HeadersTooLarge, QuarryError, Unavailable
from quarry.web import problems

HEAD_MAX_BYTES = 64 * 1024
"""The most bytes of a request line and headers."""

HEAD_TOO_LARGE = HeadersTooLarge(f"The address and headers are larger than {HEAD_MAX_BYTES // 1024} KiB.")
TOO_MANY_CONNECTIONS = Unavailable("Too many connections are open; try again shortly.")

_END_OF_HEAD = b"\r\n\r\n"


class BoundedConnection(asyncio.Protocol):
    """One connection. Times are in seconds."""

    request_seconds = 20.0
    """How long a whole request may take to arrive, from its first byte; the first request from the connection."""
    stall_seconds = 30.0
    """A client that reads nothing of its response for this long is disconnected."""
    connections_max = 512

    _transport: asyncio.Transport
    _address: tuple[object, object]
    _arrival: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _head = 0
    """The bytes of the head so far; -1 where it is whole."""
    _last = b""
    """Its last bytes."""
    _body = 0
    """The bytes of the request's body so far, and of what follows it."""
    _unread = 0
    """The bytes that are still to come of the body of a request that is answered: no part of the next head."""

    def __init__(self, **of_server: Any) -> None:
        self._behind: asyncio.Protocol = AutoHTTPProtocol(**of_server)
        self._open = of_server["server_state"].connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._address = _ends(transport.get_extra_info("peername"), transport.get_extra_info("sockname"))
        _connections[self._address] = self
        self._behind.connection_made(transport)
        if len(self._open) > self.connections_max:
            self._refuse(TOO_MANY_CONNECTIONS)
        else:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self.request_is_whole()
        self._client_reads()
        self._behind.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        unread = min(self._unread, len(data))
        if unread:
            self._unread -= unread
            if not self._unread:
                self.request_is_whole()
        if self._head < 0:
            self._body += len(data)
        elif len(data) > unread and not self._takes_head(data[unread:]):
            self._refuse(HEAD_TOO_LARGE)
            return
        if not self._transport.is_closing():
            self._behind.data_received(data)

    def _takes_head(self, data: bytes) -> bool:
        """Count what arrives of a head. False where the head is too large."""
        self._expect_request()
        before, self._last = self._last, (self._last + data)[-len(_END_OF_HEAD) + 1 :]
        end = (before + data).find(_END_OF_HEAD)
        if end < 0:
            self._head += len(data)
            return self._head <= HEAD_MAX_BYTES
        size = end + len(_END_OF_HEAD) - len(before)
        is_bounded = self._head + size <= HEAD_MAX_BYTES
        self._head, self._body = -1, len(data) - size
        return is_bounded

    def eof_received(self) -> bool | None:
        return self._behind.eof_received()

    def pause_writing(self) -> None:
        self._behind.pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        self._client_reads()
        self._behind.resume_writing()

    def request_is_whole(self) -> None:
        """Nothing more is expected of the client but that it reads."""
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def response_is_whole(self, body_bytes: int = 0) -> None:
        """Another request may follow what is still to come of this one, whose body has `body_bytes`."""
        self._unread = max(0, body_bytes - self._body)
        if not self._unread:
            self.request_is_whole()
        self._head, self._last = 0, b""
        if self._transport.is_closing():
            self._expect_reader()

    def _expect_request(self) -> None:
        if self._arrival is None:
            loop = asyncio.get_running_loop()
            self._arrival = loop.call_later(self.request_seconds, self._transport.abort)

    def _expect_reader(self) -> None:
        if self._stall is None:
            self._stall = asyncio.get_running_loop().call_later(self.stall_seconds, self._transport.abort)

    def _client_reads(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _refuse(self, error: QuarryError) -> None:
        """Answer without the application, and close the connection."""
        scope = {"request_id": str(uuid.uuid4())}
        headers = {
            "X-Request-Id": scope["request_id"],
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            "Connection": "close",
        }
        self._transport.write(_on_the_wire(problems.response_to(error, scope, headers=headers, is_logged=False)))
        self._transport.close()
        self._expect_reader()


_connections: WeakValueDictionary[tuple[object, object], BoundedConnection] = WeakValueDictionary()
"""By the addresses of their client and server."""


def _ends(client: Any, server: Any) -> tuple[object, object]:
    return tuple(client or ())[:2], tuple(server or ())[:2]


class TellingConnections:
    """An application that tells each connection when its request is whole, and when its response is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = _connections.get(_ends(scope.get("client"), scope.get("server")))
        if scope["type"] != "http" or connection is None:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        body_bytes = int(headers.get(b"content-length", b"0"))
        is_whole = not body_bytes and b"transfer-encoding" not in headers
        if is_whole:
            connection.request_is_whole()

        async def received() -> Message:
            nonlocal is_whole
            message = await receive()
            if not message.get("more_body"):
                is_whole = True
                connection.request_is_whole()
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_whole and not body_bytes:
                # nothing tells where the rest of its body ends
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                connection.response_is_whole(body_bytes)

        await self._app(scope, received, sent)


def _on_the_wire(response: Response) -> bytes:
    status = HTTPStatus(response.status_code)
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}".encode(),
        *(b": ".join(header) for header in response.raw_headers),
    ]
    return b"\r\n".join([*lines, b"", bytes(response.body)])
