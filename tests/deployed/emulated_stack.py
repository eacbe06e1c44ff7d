"""A deployed stack on a loopback port: API Gateway with the template's routes and errors, and the functions' processes.

It verifies no tokens: `Authorization: Bearer SUBJECT` stands for a verified one. `/login` plays managed login.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.deployed.front_door import FrontDoor, Handler
from tests.deployed.runtime_api import Event, RuntimeApi
from tests.deployed.template import OWN_DATA, deployed, of_type
from tools import gateway

SECONDS = 60.0


class EmulatedStack(FrontDoor):
    def __init__(self, functions: Mapping[str, RuntimeApi]) -> None:
        super().__init__(functions["search"], SECONDS, _Handler)
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

    def do_OPTIONS(self) -> None:  # noqa: N802
        mock = self.server.paths[self._path]["options"]["x-amazon-apigateway-integration"]["responses"]["default"]
        headers = {name.rpartition(".")[2]: value.strip("'") for name, value in mock["responseParameters"].items()}
        self._send(int(mock["statusCode"]), headers, "{}")

    @property
    def _path(self) -> str:
        return self.path.partition("?")[0]

    def pass_on(self, body: str | None) -> None:
        self.close_connection = True
        if self._path == "/login":
            self._send(200, {"Content-Type": "text/html"}, "<title>Sign in</title>")
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
def emulated_stack(functions: Mapping[str, RuntimeApi]) -> Iterator[str]:
    """The URL at which the functions are served, by folder name."""
    with EmulatedStack(functions) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield server.url
        finally:
            server.shutdown()
