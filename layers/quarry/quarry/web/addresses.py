"""The known addresses and their methods, checked before a body is read.

Another method of a known address is a 405 with `Allow`, an unknown address a 404, a parameter that is not UTF-8 a 422. `HEAD` is
answered as `GET` without the body.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.errors import FieldError, InvalidInput
from quarry.web import problems

_HEADERS_ONLY = "quarry.headers_only"
_ENDPOINT = "quarry.endpoint"
_ADDRESS = "quarry.address"
_ALIASES = {"/mcp/": "/mcp"}
"""Other spellings of addresses: some clients of the Model Context Protocol put a slash behind what they are given."""
_PARAMETER = re.compile(r"{[^}]*}")


def wants_headers_only(scope: Scope) -> bool:
    """Whether the request is a `HEAD`, which routes see as a `GET`: what is expensive and only fills a body may be left out."""
    return bool(scope.get(_HEADERS_ONLY))


def endpoint_of(scope: Scope) -> object:
    """What serves a request that KnownAddresses let through, known before it is routed."""
    return scope[_ENDPOINT]


def address_of(scope: Scope) -> str:
    """Which address such a request has, its parameters by their names: `/people/{id}`."""
    address: str = scope[_ADDRESS]
    return address


@dataclass(frozen=True)
class _Address:
    path: str
    """With its parameters by their names."""
    pattern: re.Pattern[str]
    literal_characters: int
    endpoints: Mapping[str, object]
    """By method."""


class KnownAddresses(problems.HttpMiddleware):
    """Lets through what has an address and a method that one of `routes` takes."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        super().__init__(app)
        self._addresses = _addresses(routes)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (path := _ALIASES.get(scope["path"])) is not None:
            scope = {**scope, "path": path, "raw_path": path.encode()}
        address = self._address_at(scope["path"])
        if address is None:
            await self.refuse(problems.NO_SUCH_ADDRESS, scope, receive, send)
            return
        if scope["method"] not in address.endpoints:
            methods = ", ".join(sorted(address.endpoints))
            await self.refuse(problems.NO_SUCH_METHOD, scope, receive, send, Allow=methods)
            return
        if broken := [*_not_in_utf8(scope, address)]:
            await self.refuse(InvalidInput([*dict.fromkeys(broken)]), scope, receive, send)
            return
        scope = {**scope, _ADDRESS: address.path, _ENDPOINT: address.endpoints[scope["method"]]}
        if scope["method"] == "HEAD":
            await self.app({**scope, "method": "GET", _HEADERS_ONLY: True}, receive, _without_body(send))
        else:
            await self.app(scope, receive, send)

    def _address_at(self, path: str) -> _Address | None:
        """The most literal address that `path` has."""
        return next((address for address in self._addresses if address.pattern.match(path)), None)


def _addresses(routes: Sequence[BaseRoute]) -> list[_Address]:
    """The addresses of `routes`, the most literal ones first, so that /people/search is not read as the person `search`."""
    patterns: dict[str, re.Pattern[str]] = {}
    endpoints: defaultdict[str, dict[str, object]] = defaultdict(dict)
    for route in iter_route_contexts(routes):
        assert route.path_format is not None
        patterns[route.path_format] = route.path_regex
        endpoints[route.path_format] |= dict.fromkeys(route.methods or (), route.endpoint)
    for by_method in endpoints.values():
        if "GET" in by_method:
            by_method["HEAD"] = by_method["GET"]
    addresses = (
        _Address(path, pattern, literal_characters=len(_PARAMETER.sub("", path)), endpoints=endpoints[path])
        for path, pattern in patterns.items()
    )
    return sorted(addresses, key=lambda address: address.literal_characters, reverse=True)


def _not_in_utf8(scope: Scope, address: _Address) -> Iterator[FieldError]:
    """The parameters that are not UTF-8, of the path and of the query."""
    if not _is_utf8(scope.get("raw_path") or b"") and (in_path := address.pattern.match(scope["path"])):
        yield from (_must_be_utf8(name) for name, value in in_path.groupdict().items() if "\ufffd" in value)
    for parameter in scope.get("query_string", b"").split(b"&"):
        if not _is_utf8(parameter):
            yield _must_be_utf8(unquote_to_bytes(parameter.partition(b"=")[0]).decode(errors="replace"))


def _is_utf8(text: bytes) -> bool:
    try:
        unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return False
    return True


def _must_be_utf8(name: str) -> FieldError:
    return FieldError(problems.pointer_to([name]), f"{name}: must be UTF-8")


def _without_body(send: Send) -> Send:
    async def send_headers(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return send_headers
