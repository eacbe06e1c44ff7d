"""Errors as `application/problem+json` (RFC 9457), and in OpenAI's form below `/v1/`, whose clients read no other."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.errors import (
    UNFORESEEN_MESSAGE,
    BodyTooLarge,
    FieldError,
    InvalidInput,
    MalformedRequest,
    MethodNotAllowed,
    ModelNotFound,
    NotFound,
    QuarryError,
    problem_type,
)
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import shown, visible
from quarry.platform.validation import place_in

MEDIA_TYPE = "application/problem+json"
BODY_MAX_BYTES = 256 * 1024
FIELD_ERRORS_MAX = 50
logger = logging.getLogger(__name__)

BODY_TOO_LARGE = BodyTooLarge(f"The body is larger than {BODY_MAX_BYTES // 1024} KiB.")
NOT_JSON = MalformedRequest("The body is not valid JSON.")
NO_SUCH_ADDRESS = NotFound("There is nothing at this address.")
NO_SUCH_METHOD = MethodNotAllowed("This address does not take that method; the header `Allow` names those it takes.")
# What a bare HTTPException of the framework means to a client.
_MEANINGS: dict[int, QuarryError] = {
    400: NOT_JSON,
    404: NO_SUCH_ADDRESS,
    405: NO_SUCH_METHOD,
    413: BODY_TOO_LARGE,
}


class ProblemField(LazyModel):
    """One rejected field: a JSON pointer to it, and what a valid value is."""

    pointer: str
    message: str


class Problem(LazyModel):
    """The body of every error."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: list[ProblemField] | None = None


_REFERENCE = "#/components/schemas/{model}"


def error_schemas(*models: type[BaseModel]) -> dict[str, Any]:
    """The JSON schemas of bodies of errors, by their names in an OpenAPI document."""
    return {
        model.__name__: {
            name: value for name, value in model.model_json_schema(ref_template=_REFERENCE).items() if name != "$defs"
        }
        for model in models
    }


def documented(*errors: type[QuarryError]) -> dict[int | str, dict[str, Any]]:
    """What an OpenAPI description says of errors. A route names those of its own; `description` adds what all of its kind share.

    The description is ours because the framework would take it from the standard library, whose words change.
    """
    schema = {"$ref": _REFERENCE.format(model=Problem.__name__)}
    return {error.status: {"description": error.title, "content": {MEDIA_TYPE: {"schema": schema}}} for error in errors}


def problem_response(
    request_id: str | None,
    *,
    status: int,
    title: str,
    detail: str,
    errors: Sequence[FieldError] = (),
    retry_after_seconds: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One problem. `type` is derived from the title, so that a client may compare it."""
    body = {
        "type": problem_type(title),
        "title": title,
        "status": status,
        "detail": detail,
        "request_id": request_id,
    }
    if errors:
        body["errors"] = [{"pointer": error.pointer, "message": error.message} for error in errors]
    all_headers = dict(headers or {})
    if retry_after_seconds is not None:
        all_headers["Retry-After"] = str(retry_after_seconds)
    if status == HTTPStatus.UNAUTHORIZED:
        all_headers["WWW-Authenticate"] = "Bearer"
    return Response(json.dumps(shown(body)), status, all_headers, media_type=MEDIA_TYPE)


class HttpMiddleware(ABC):
    """ASGI middleware for HTTP requests; all else, such as the start of the application, passes by."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.serve if scope["type"] == "http" else self.app)(scope, receive, send)

    @abstractmethod
    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as a rule by `app`."""

    async def refuse(self, error: QuarryError, scope: Scope, receive: Receive, send: Send, **headers: str) -> None:
        """Answer with an error."""
        await from_quarry_error(scope.get("request_id"), error, headers=headers)(scope, receive, send)


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem."""
    app.add_exception_handler(QuarryError, _on_quarry_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_exception)


def from_quarry_error(
    request_id: str | None, error: QuarryError, *, headers: Mapping[str, str] | None = None
) -> Response:
    """The response to an error, which is logged where it is ours."""
    if error.status >= 500:
        logger.error("%s: %s", type(error).__name__, error.message, exc_info=error.__cause__)
    return unlogged(request_id, error, headers=headers)


def unlogged(request_id: str | None, error: QuarryError, *, headers: Mapping[str, str] | None = None) -> Response:
    """The response to an error that is no news, however often it is answered."""
    return problem_response(
        request_id,
        status=error.status,
        title=error.title,
        detail=error.public_message,
        errors=error.errors if isinstance(error, InvalidInput) else (),
        retry_after_seconds=error.retry_after_seconds,
        headers=headers,
    )


def unforeseen(request_id: str | None) -> Response:
    return problem_response(request_id, status=500, title=QuarryError.title, detail=UNFORESEEN_MESSAGE)


async def _on_quarry_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, QuarryError)
    return from_quarry_error(request_id_of(request), error)


async def _on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return from_quarry_error(request_id_of(request), NOT_JSON)
    # a parameter that a route and a dependency of it both take is named once
    errors = dict.fromkeys(_field_error(detail, error.body) for detail in details[:FIELD_ERRORS_MAX])
    return from_quarry_error(request_id_of(request), InvalidInput([*errors]))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if meaning := _MEANINGS.get(error.status_code):
        return from_quarry_error(request_id_of(request), meaning, headers=error.headers)
    phrase = HTTPStatus(error.status_code).phrase
    return problem_response(
        request_id_of(request),
        status=error.status_code,
        title=phrase.capitalize(),
        detail=phrase,
        headers=error.headers,
    )


def request_id_of(request: Request) -> str | None:
    request_id = request.scope.get("request_id")
    return request_id if isinstance(request_id, str) else None


def pointer_to(parts: Iterable[str]) -> str:
    """The JSON pointer (RFC 6901) to what lies behind these names."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def _field_error(detail: Mapping[str, Any], body: Any) -> FieldError:
    # the first part says where the field was sent: body, query, path or header
    sent, *within = detail["loc"]
    if sent == "body" and isinstance(body, dict):
        within = place_in(body, {**detail, "loc": within})
    parts = [str(part) for part in within]
    # an element of a list is named as the list is: its place in it, "0", would say nothing
    name = next((part for part in reversed(parts) if not part.isdecimal()), "the body")
    return FieldError(pointer_to(parts), f"{name}: {str(detail['msg']).removeprefix('Value error, ')}")


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


def documented_for_openai(*errors: type[QuarryError]) -> dict[int | str, dict[str, Any]]:
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


class OpenAIErrors(HttpMiddleware):
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
    return Headers(raw=start["headers"]).get("content-type", "").startswith(MEDIA_TYPE)


async def _send_translated(start: Message, body: bytes, send: Send) -> None:
    # a HEAD's answer has no body
    translated = json.dumps(error_of(json.loads(body))).encode() if body else b""
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["Content-Type"] = "application/json"
    if body:
        headers["Content-Length"] = str(len(translated))
    await send({**start, "status": _status(start["status"]), "headers": headers.raw})
    await send({"type": "http.response.body", "body": translated})
