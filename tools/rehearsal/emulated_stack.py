"""A deployed stack on a loopback port: API Gateway with the template's routes and errors, and the functions' processes.

It verifies no tokens: `Authorization: Bearer SUBJECT` stands for a verified one. Beside the API are managed login, and what
`quarry --stack` asks of AWS.
"""

from __future__ import annotations

import json
import re
import struct
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tools import gateway
from tools.rehearsal import managed_login
from tools.rehearsal.front_door import FrontDoor, Handler
from tools.rehearsal.runtime_api import Event, Invocation, RuntimeApi
from tools.rehearsal.template import ACCOUNT, OWN_DATA, REGION, deployed, of_type

SECONDS = 60.0
ADMIN_SECONDS = 900.0
BESIDE_THE_API = ("admin",)
"""The functions that no route leads to, and that may be invoked."""


ADMIN = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:quarry-admin:live"
PRINCIPAL = f"arn:aws:iam::{ACCOUNT}:user/ada"
INVOKED = re.compile(r"/2021-11-15/functions/.*:quarry-(\w+):live/response-streaming-invocations")


def _stream_event(kind: str, media_type: str, payload: bytes) -> bytes:
    """One message of AWS' event stream: lengths, headers and payload with their checksums."""
    headers = b"".join(
        struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value)) + value.encode()
        for name, value in {":message-type": "event", ":event-type": kind, ":content-type": media_type}.items()
    )
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


class EmulatedStack(FrontDoor):
    def __init__(self, functions: Mapping[str, RuntimeApi], port: int) -> None:
        super().__init__(functions["search"], SECONDS, _Handler, port)
        self.functions = functions
        [rest_api] = of_type(deployed(**OWN_DATA), "AWS::ApiGateway::RestApi").values()
        self.refusals: dict[str, Any] = rest_api["Body"]["x-amazon-apigateway-gateway-responses"]
        self.paths: dict[str, Any] = rest_api["Body"]["paths"]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


def route_of(method: str, path: str) -> gateway.Route | None:
    """The route that API Gateway chooses: a path without variables before one with them."""
    for route in sorted(gateway.routes(), key=lambda each: each.path.count("{")):
        pattern = re.sub(r"\\\{\w+\\\+\\\}", ".+", re.escape(route.path))
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", pattern)
        if route.method == method and re.fullmatch(pattern, path):
            return route
    return None


class _Handler(Handler):
    server: EmulatedStack

    def do_POST(self) -> None:  # noqa: N802
        """A request to the API, or one of the three calls to AWS that `quarry --stack` makes."""
        if self.path == "/":
            self._describe(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["Action"][0])
        elif invoked := INVOKED.fullmatch(unquote(self.path)):
            self._invoke(invoked[1], json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        else:
            super().do_POST()

    def _describe(self, action: str) -> None:
        result = {
            "DescribeStacks": "<Stacks><member><StackName>quarry</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime>"
            "<StackStatus>CREATE_COMPLETE</StackStatus><Outputs><member><OutputKey>AdminFunction</OutputKey>"
            f"<OutputValue>{ADMIN}</OutputValue></member></Outputs></member></Stacks>",
            "GetCallerIdentity": f"<Arn>{PRINCIPAL}</Arn><UserId>AIDA</UserId><Account>{ACCOUNT}</Account>",
        }[action]
        body = f"<{action}Response><{action}Result>{result}</{action}Result></{action}Response>"
        self._send(200, {"Content-Type": "text/xml"}, body)

    def _invoke(self, function: str, event: Event) -> None:
        """InvokeWithResponseStream: each piece of the response is an event of the stream, and its end is one."""
        invocation = self.server.functions[function].invoke(event, seconds=ADMIN_SECONDS)
        self.close_connection = True
        try:
            self._send_events(invocation)
        except OSError:  # the client has left
            invocation.hang_up()

    def _send_events(self, invocation: Invocation) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _, piece in invocation.pieces():
            self._send_chunk(_stream_event("PayloadChunk", "application/octet-stream", piece))
        failed = invocation.failure or (invocation.stream_error if invocation.trailers else None)
        ended = {"ErrorCode": failed["errorType"], "ErrorDetails": failed["errorMessage"]} if failed else {}
        self._send_chunk(_stream_event("InvokeComplete", "application/json", json.dumps(ended).encode()))
        self.wfile.write(b"0\r\n\r\n")

    def do_OPTIONS(self) -> None:  # noqa: N802
        mock = self.server.paths[self._path]["options"]["x-amazon-apigateway-integration"]["responses"]["default"]
        headers = {name.rpartition(".")[2]: value.strip("'") for name, value in mock["responseParameters"].items()}
        self._send(int(mock["statusCode"]), headers, "{}")

    def pass_on(self, body: str | None) -> None:
        self.close_connection = True
        if self.path.partition("?")[0] in managed_login.PATHS:
            given = parse_qs(body or urlsplit(self.path).query)
            self._send(
                *managed_login.answer(self.path.partition("?")[0], {name: values[-1] for name, values in given.items()})
            )
            return
        route = route_of(self.command, self._path)
        has_token = "Authorization" in self.headers
        if route is None:
            self._refuse("DEFAULT_4XX" if has_token else "MISSING_AUTHENTICATION_TOKEN")
        elif not (route.is_public or has_token):
            self._refuse("UNAUTHORIZED")
        elif route.function in gateway.STREAMING:
            super().pass_on(body)
        else:
            invocation = self.server.functions[route.function].invoke(self.event(body), seconds=SECONDS)
            answer = json.loads(invocation.response())
            self._send(answer["statusCode"], answer["headers"], answer["body"])

    def event(self, body: str | None) -> Event:
        sign_in = {"signInDomain": self.server.url, "signInClientId": "client-1", "accessTokenScope": "quarry/search"}
        return super().event(body) | {"stageVariables": sign_in}

    def _refuse(self, kind: str) -> None:
        response = self.server.refusals[kind]
        headers = {name.rpartition(".")[2]: value.strip("'") for name, value in response["responseParameters"].items()}
        self._send(int(response["statusCode"]), headers, response["responseTemplates"]["application/json"])

    def _send(self, status: int, headers: Mapping[str, str], body: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


@contextmanager
def emulated_stack(functions: Mapping[str, RuntimeApi], port: int = 0) -> Iterator[str]:
    """The URL at which the functions are served, by folder name. The API is there with and without its stage."""
    with EmulatedStack(functions, port) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield server.url
        finally:
            server.shutdown()
