"""API Gateway's REST API on a loopback port, in front of a streaming function.

A request becomes a REST proxy event. The prelude of the response becomes status and headers, and the rest is passed on as it
comes. `Authorization: Bearer SUBJECT` stands for a token that the authorizer has verified; without it the request has no
claims, as on a public route. A response without a prelude is a 502, and an interrupted one breaks the client's connection.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tools.rehearsal.runtime_api import PRELUDE_BYTES_MAX, PRELUDE_END, Event, Invocation, RuntimeApi, split_prelude

STAGE = "/prod"


class FrontDoor(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: RuntimeApi, seconds: float, handler: type[Handler] | None = None, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler or Handler)
        self.api = api
        self.seconds = seconds


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FrontDoor

    def do_GET(self) -> None:
        self.pass_on(None)

    def do_POST(self) -> None:
        self.pass_on(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

    do_HEAD = do_DELETE = do_GET  # noqa: N815
    do_PATCH = do_POST  # noqa: N815

    @property
    def _path(self) -> str:
        """The path without its stage."""
        path = urlsplit(self.path).path
        return path.removeprefix(STAGE) if path.startswith(f"{STAGE}/") else path

    def pass_on(self, body: str | None) -> None:
        self.close_connection = True
        invocation = self.server.api.invoke(self.event(body), seconds=self.server.seconds)
        try:
            self._send_on(invocation)
        except OSError:
            # Lambda goes on when a client has left; a runtime that notices is what must be shown to survive it
            invocation.hang_up()

    def _send_on(self, invocation: Invocation) -> None:
        pieces = (piece for _, piece in invocation.pieces())
        begun = b""
        while PRELUDE_END not in begun and len(begun) < PRELUDE_BYTES_MAX and (piece := next(pieces, None)):
            begun += piece
        if PRELUDE_END not in begun:
            self.send_error(502)
            return
        prelude, first = split_prelude(begun)
        self.send_response(prelude["statusCode"])
        for name, value in prelude["headers"].items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._send_chunk(first)
        for piece in pieces:
            self._send_chunk(piece)
        if not invocation.trailers:
            self.wfile.write(b"0\r\n\r\n")

    def _send_chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def event(self, body: str | None) -> Event:
        url = urlsplit(self.path)
        headers: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in self.headers.items():
            headers[name].append(value)
        query = parse_qs(url.query, keep_blank_values=True)
        context: Event = {"stage": "prod", "path": f"{STAGE}{self._path}", "identity": {"sourceIp": "127.0.0.1"}}
        if subject := self.headers.get("Authorization", "").removeprefix("Bearer "):
            context["authorizer"] = {"claims": {"sub": subject}}
        return {
            "resource": "/{proxy+}",
            "path": self._path,
            "httpMethod": self.command,
            "headers": {name: values[-1] for name, values in headers.items()},
            "multiValueHeaders": dict(headers),
            "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
            "multiValueQueryStringParameters": query or None,
            "requestContext": context,
            "body": body,
            "isBase64Encoded": False,
        }

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the tests speak."""


@contextmanager
def front_door(api: RuntimeApi, *, seconds: float = 60.0) -> Iterator[str]:
    """The URL at which the function on `api` is served. Its invocations have a timeout of `seconds`."""
    with FrontDoor(api, seconds) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
