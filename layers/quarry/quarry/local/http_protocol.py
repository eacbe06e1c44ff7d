"""HTTP connections with limits on size and time, so that idle clients cannot hold them.

uvicorn's own protocol waits without limit for the rest of a request and for a client that does not read its response, and buffers
a head of any size. Here each of these has a limit, and so has the number of connections.
"""

from __future__ import annotations

import asyncio
import uuid
from http import HTTPStatus

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from quarry.platform.errors import HeadersTooLarge, MalformedRequest, QuarryError, Unavailable
from quarry.web import problems

HEAD_MAX_BYTES = 64 * 1024
"""The most bytes of a request line and headers."""

NOT_HTTP = MalformedRequest("This is not an HTTP/1.1 request.")
HEAD_TOO_LARGE = HeadersTooLarge(f"The address and headers are larger than {HEAD_MAX_BYTES // 1024} KiB.")
TOO_MANY_CONNECTIONS = Unavailable("Too many connections are open; try again shortly.")


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. Times are in seconds."""

    request_seconds = 20.0
    """How long a whole request may take to arrive, from its first byte; the first request from the connection."""
    stall_seconds = 30.0
    """A client that reads nothing of its response for this long is disconnected."""
    connections_max = 512

    _arrival: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.connections_max:
            self._refuse(TOO_MANY_CONNECTIONS)
        else:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._request_is_whole()
        self._client_reads()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._expect_request()
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > HEAD_MAX_BYTES and not self.transport.is_closing():
            self._refuse(HEAD_TOO_LARGE)

    def on_message_begin(self) -> None:
        self._expect_request()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._head_bytes = 0

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._request_is_whole()
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        self._client_reads()
        super().resume_writing()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._expect_reader()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        # closing waits until the client has read what was written
        self._expect_reader()

    def send_400_response(self, msg: str) -> None:
        self._refuse(HEAD_TOO_LARGE if self._head_bytes > HEAD_MAX_BYTES else NOT_HTTP)

    def _expect_request(self) -> None:
        if self._arrival is None:
            self._arrival = self.loop.call_later(self.request_seconds, self.transport.abort)

    def _request_is_whole(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def _expect_reader(self) -> None:
        if self._stall is None and self in self.connections:
            self._stall = self.loop.call_later(self.stall_seconds, self.transport.abort)

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
        self.transport.write(_on_the_wire(problems.response_to(error, scope, headers=headers, is_logged=False)))
        self.transport.close()
        self._expect_reader()


def _on_the_wire(response: Response) -> bytes:
    status = HTTPStatus(response.status_code)
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}".encode(),
        *(b": ".join(header) for header in response.raw_headers),
    ]
    return b"\r\n".join([*lines, b"", bytes(response.body)])
