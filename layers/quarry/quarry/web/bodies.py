"""Bodies of requests: JSON, and no larger than a limit. One is read whole before anything else is begun for its request, so a
client that is slow to send holds nothing but its connection.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.errors import QuarryError, UnsupportedMediaType
from quarry.web import problems

METHODS_WITH_BODY = ("POST", "PUT", "PATCH")

NOT_SAID_TO_BE_JSON = UnsupportedMediaType("Send the body as JSON, with `Content-Type: application/json`.")


class ShortJsonBodies:
    """Refuses a body that does not say it is JSON, or is too large, before a route sees it.

    What is left of a body that was refused is not waited for here; the server reads it away.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in METHODS_WITH_BODY:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            _check_media_type(headers)
            body = await _read(headers, receive)
        except QuarryError as error:
            await problems.from_quarry_error(scope.get("request_id"), error)(scope, receive, send)
            return
        if body is not None:
            await self.app(scope, _replaying(body, receive), send)


def _check_media_type(headers: Headers) -> None:
    media_type = headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise NOT_SAID_TO_BE_JSON


async def _read(headers: Headers, receive: Receive) -> bytes | None:
    """The whole body; None when the client has left. Raises BodyTooLarge, at once where the length is declared."""
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > problems.BODY_MAX_BYTES:
        raise problems.BODY_TOO_LARGE
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > problems.BODY_MAX_BYTES:
            raise problems.BODY_TOO_LARGE
        more = message.get("more_body", False)
    return bytes(body)


def _replaying(body: bytes, receive: Receive) -> Receive:
    """The body once more, and then what else comes, which is that the client has left."""
    replayed = False

    async def receive_again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
