"""The door by which every JSON body and event leaves, whichever route made it: no invisible character goes out as it is."""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.shown import shown_json

_MEDIA_TYPE = re.compile(r"application/(?:x-ndjson|(?:[\w.-]+\+)?json)\b|text/event-stream\b")
_DATA = "data: "


class VisibleOnly:
    """Cleans bodies of JSON and of events; others are our own files. A message of a body holds whole lines, and a document that
    has a length is one message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held: Message | None = None
        is_cleaned = False

        async def send_visible(message: Message) -> None:
            nonlocal held, is_cleaned
            if message["type"] == "http.response.start":
                headers = Headers(raw=message["headers"])
                is_cleaned = _MEDIA_TYPE.match(headers.get("content-type", "")) is not None
                is_cleaned = is_cleaned and "content-encoding" not in headers
                if is_cleaned and "content-length" in headers:
                    held = message
                    return
            elif is_cleaned and message.get("body"):
                message = {**message, "body": _visible(message["body"])}
            if held is not None:
                await send(_of_length(held, message))
                held = None
            await send(message)

        await self.app(scope, receive, send_visible)


def _of_length(start: Message, message: Message) -> Message:
    """The start of a response whose body is cleaned; that of a HEAD has none, and keeps its length."""
    if not message.get("body"):
        return start
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["Content-Length"] = str(len(message["body"]))
    return {**start, "headers": headers.raw}


def _visible(body: bytes) -> bytes:
    if body.isascii():
        return body
    # not by str.splitlines, which also divides at the characters that are looked for
    return "\n".join(map(_visible_line, body.decode().split("\n"))).encode()


def _visible_line(line: str) -> str:
    prefix = _DATA if line.startswith(_DATA) else ""
    return prefix + shown_json(line.removeprefix(prefix))
