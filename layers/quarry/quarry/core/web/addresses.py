"""Which addresses there are, and which methods each of them takes.

A known address with another method is a 405 that names all its methods, whatever the body; an unknown one is a 404. Only then
is a body looked at. `HEAD` is answered wherever `GET` is, as `GET` without the body.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.core.errors import QuarryError
from quarry.core.web import problems

_HEADERS_ONLY = "quarry.headers_only"
_PARAMETER = re.compile(r"{[^}]*}")


def wants_headers_only(scope: Scope) -> bool:
    """Whether the request is a `HEAD`, which routes see as a `GET`: what is expensive and only fills a body may be left out."""
    return bool(scope.get(_HEADERS_ONLY))


@dataclass(frozen=True)
class _Address:
    pattern: re.Pattern[str]
    literal_characters: int
    methods: frozenset[str]


class KnownAddresses:
    """Lets through what has an address and a method that one of `routes` takes."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self.app = app
        self._addresses = _addresses(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        methods = self._methods_at(scope["path"])
        if scope["method"] not in methods:
            await _refusal(scope, methods)(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self.app({**scope, "method": "GET", _HEADERS_ONLY: True}, receive, _without_body(send))
        else:
            await self.app(scope, receive, send)

    def _methods_at(self, path: str) -> frozenset[str]:
        """Those of the most literal address that `path` has; none where it has none."""
        for address in self._addresses:
            if address.pattern.match(path):
                return address.methods
        return frozenset()


def _addresses(routes: Sequence[BaseRoute]) -> list[_Address]:
    """The addresses of `routes`, the most literal ones first, so that /people/search is not read as the person `search`."""
    patterns: dict[str, re.Pattern[str]] = {}
    methods: defaultdict[str, set[str]] = defaultdict(set)
    for route in iter_route_contexts(routes):
        assert route.path_format is not None
        patterns[route.path_format] = route.path_regex
        methods[route.path_format] |= route.methods or set()
    addresses = (
        _Address(
            pattern,
            literal_characters=len(_PARAMETER.sub("", path)),
            methods=frozenset(methods[path] | ({"HEAD"} if "GET" in methods[path] else set())),
        )
        for path, pattern in patterns.items()
    )
    return sorted(addresses, key=lambda address: address.literal_characters, reverse=True)


def _refusal(scope: Scope, methods: frozenset[str]) -> ASGIApp:
    error: QuarryError = problems.NO_SUCH_METHOD if methods else problems.NO_SUCH_ADDRESS
    headers = {"Allow": ", ".join(sorted(methods))} if methods else {}
    return problems.from_quarry_error(scope.get("request_id"), error, headers=headers)


def _without_body(send: Send) -> Send:
    async def send_headers(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return send_headers
