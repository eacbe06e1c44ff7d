"""Errors in OpenAI's form, for what is served below `/v1/`: its clients read no other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from quarry.platform.errors import InvalidInput, MalformedRequest, ModelNotFound, QuarryError, problem_type
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import visible
from quarry.web import problems

PREFIX = "/v1/"


class ErrorDetail(LazyModel):
    """What went wrong; `param` is the field that is wrong, `code` says which error it is."""

    message: str
    type: Literal[
        "invalid_request_error", "authentication_error", "insufficient_quota", "rate_limit_error", "server_error"
    ]
    param: str | None
    code: str | None


class OpenAIError(LazyModel):
    """The body of every error below `/v1/`."""

    error: ErrorDetail


_TYPES: dict[int, str] = {401: "authentication_error", 402: "insufficient_quota", 429: "rate_limit_error"}
_CODES: dict[int, str] = {401: "invalid_api_key", 402: "insufficient_quota", 429: "rate_limit_exceeded"}


def is_served_so(path: str) -> bool:
    return path.startswith(PREFIX)


def documented(*errors: type[QuarryError]) -> dict[int | str, dict[str, Any]]:
    """What an OpenAPI description says of errors below `/v1/`; of those of one status, what the first one is called."""
    schema = {"$ref": f"#/components/schemas/{OpenAIError.__name__}"}
    described: dict[int | str, dict[str, Any]] = {}
    for error in errors:
        content = {"application/json": {"schema": schema}}
        described.setdefault(_status(error.status), {"description": error.title, "content": content})
    return described


def stream_error(message: str) -> dict[str, Any]:
    """What ends a stream that failed."""
    return {"error": {"message": visible(message), "type": "server_error", "param": None, "code": None}}


def error_of(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem in OpenAI's form."""
    status: int = problem["status"]
    name = str(problem["type"]).rpartition(":")[2].replace("-", "_")
    fields = problem.get("errors") or [{"pointer": ""}]
    is_about_model = problem["type"] == problem_type(ModelNotFound.title)
    param = "model" if is_about_model else fields[0]["pointer"].removeprefix("/").replace("/", ".")
    return {
        "error": {
            "message": problem["detail"],
            "type": "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error"),
            "param": param or None,
            "code": _CODES.get(status, name),
        }
    }


def _status(status: int) -> int:
    return MalformedRequest.status if status == InvalidInput.status else status


class OpenAIErrors(problems.HttpMiddleware):
    """Makes OpenAI's errors of the problems that are answered below `/v1/`, whichever layer found them."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_served_so(scope["path"]):
            await self.app(scope, receive, send)
            return
        held: Message | None = None
        body = b""

        async def send_error(message: Message) -> None:
            nonlocal held, body
            if message["type"] == "http.response.start" and _is_problem(message):
                held = message
            elif held is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    await _send_translated(held, body, send)

        await self.app(scope, receive, send_error)


def _is_problem(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith(problems.MEDIA_TYPE)


async def _send_translated(start: Message, body: bytes, send: Send) -> None:
    # a HEAD's answer has no body
    translated = json.dumps(error_of(json.loads(body))).encode() if body else b""
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["Content-Type"] = "application/json"
    if body:
        headers["Content-Length"] = str(len(translated))
    await send({**start, "status": _status(start["status"]), "headers": headers.raw})
    await send({"type": "http.response.body", "body": translated})
