"""Errors as `application/problem+json` (RFC 9457), and in OpenAI's form below `/v1/`, as its clients expect."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.language.messages import gettext, gettext_noop
from quarry.platform.contract import LazyModel, place_in, pointer_to
from quarry.platform.errors import (
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
from quarry.platform.text import visible, visible_value

MEDIA_TYPE = "application/problem+json"
OPENAI_MEDIA_TYPE = "application/json"
OPENAI_PREFIX = "/v1/"
BODY_MAX_BYTES = 256 * 1024
FIELD_ERRORS_MAX = 50
logger = logging.getLogger(__name__)

BODY_TOO_LARGE = BodyTooLarge(f"The body is larger than {BODY_MAX_BYTES // 1024} KiB.")
NOT_JSON = MalformedRequest("The body is not valid JSON.")
NO_SUCH_ADDRESS = NotFound(gettext_noop("There is nothing at this address."))
NO_SUCH_METHOD = MethodNotAllowed("This address does not take this method; the header `Allow` lists those it takes.")
# The errors for the framework's own exceptions.
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
    """The JSON schemas of error bodies, by name."""
    return {
        model.__name__: {
            name: value for name, value in model.model_json_schema(ref_template=_REFERENCE).items() if name != "$defs"
        }
        for model in models
    }


def documented(*errors: type[QuarryError], path: str = "") -> dict[int | str, dict[str, Any]]:
    """The responses that an OpenAPI description lists for errors at `path`; of those with one status, the first names it.

    A route lists its own errors; `description` adds those that every route of its kind shares. The description is ours: the
    framework would take it from the standard library, whose words change.
    """
    is_openai = is_openai_path(path)
    media_type, model = (OPENAI_MEDIA_TYPE, OpenAIError) if is_openai else (MEDIA_TYPE, Problem)
    described: dict[int | str, dict[str, Any]] = {}
    for error in errors:
        content = {media_type: {"schema": {"$ref": _REFERENCE.format(model=model.__name__)}}}
        status = _openai_status(error.status) if is_openai else error.status
        described.setdefault(status, {"description": error.title, "content": content})
    return described


def problem_response(
    scope: Mapping[str, Any],
    *,
    status: int,
    title: str,
    detail: str,
    errors: Sequence[FieldError] = (),
    retry_after_seconds: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One error, in the form of its address. `type` follows from the title, so that a client can compare it."""
    body: dict[str, Any] = {
        "type": problem_type(title),
        "title": gettext(title),
        "status": status,
        "detail": gettext(detail),
        "request_id": scope.get("request_id"),
    }
    if errors:
        body["errors"] = [{"pointer": error.pointer, "message": error.message} for error in errors]
    all_headers = dict(headers or {})
    if retry_after_seconds is not None:
        all_headers["Retry-After"] = str(retry_after_seconds)
    if status == HTTPStatus.UNAUTHORIZED:
        all_headers["WWW-Authenticate"] = "Bearer"
    if is_openai_path(scope.get("path", "")):
        error = json.dumps(visible_value(openai_error(body)))
        return Response(error, _openai_status(status), all_headers, media_type=OPENAI_MEDIA_TYPE)
    return Response(json.dumps(visible_value(body)), status, all_headers, media_type=MEDIA_TYPE)


class HttpMiddleware(ABC):
    """ASGI middleware for HTTP requests; it passes on everything else, such as the start of the application."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.serve if scope["type"] == "http" else self.app)(scope, receive, send)

    @abstractmethod
    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, usually through `app`."""

    async def refuse(self, error: QuarryError, scope: Scope, receive: Receive, send: Send, **headers: str) -> None:
        """Answer with an error."""
        await response_to(error, scope, headers=headers)(scope, receive, send)


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem."""
    app.add_exception_handler(QuarryError, _on_quarry_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_exception)


def response_to(
    error: QuarryError, scope: Mapping[str, Any], *, headers: Mapping[str, str] | None = None, is_logged: bool = True
) -> Response:
    """The response to an error. A fault of ours is logged, unless the caller has done so or does not want a line for each."""
    if is_logged and error.status >= 500:
        logger.error("%s: %s", type(error).__name__, error.message, exc_info=error.__cause__)
    return problem_response(
        scope,
        status=error.status,
        title=error.title,
        detail=error.public_message,
        errors=error.errors if isinstance(error, InvalidInput) else (),
        retry_after_seconds=error.retry_after_seconds,
        headers=headers,
    )


async def _on_quarry_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, QuarryError)
    return response_to(error, request.scope)


async def _on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return response_to(NOT_JSON, request.scope)
    # without duplicates: a route and its dependency may take the same parameter
    errors = dict.fromkeys(_field_error(detail, error.body) for detail in details[:FIELD_ERRORS_MAX])
    return response_to(InvalidInput([*errors]), request.scope)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if meaning := _MEANINGS.get(error.status_code):
        return response_to(meaning, request.scope, headers=error.headers)
    phrase = HTTPStatus(error.status_code).phrase
    return problem_response(
        request.scope,
        status=error.status_code,
        title=phrase.capitalize(),
        detail=phrase,
        headers=error.headers,
    )


def request_id_of(request: Request) -> str | None:
    request_id = request.scope.get("request_id")
    return request_id if isinstance(request_id, str) else None


def _field_error(detail: Mapping[str, Any], body: Any) -> FieldError:
    # the first part is the place: body, query, path or header
    part_of_request, *within = detail["loc"]
    if part_of_request == "body" and isinstance(body, dict):
        within = place_in(body, {**detail, "loc": within})
    parts = [str(part) for part in within]
    # an element of a list is called by the name of the list, not by its index
    name = next((part for part in reversed(parts) if not part.isdecimal()), "the body")
    return FieldError(pointer_to(parts), f"{name}: {str(detail['msg']).removeprefix('Value error, ')}")


class ErrorDetail(LazyModel):
    """What went wrong. `param` is the wrong field, and `code` identifies the error."""

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


def is_openai_path(path: str) -> bool:
    """Whether the clients of this address expect OpenAI's form of an error."""
    return path.startswith(OPENAI_PREFIX)


def stream_error(message: str) -> dict[str, Any]:
    """The last event of a stream that failed."""
    return {"error": {"message": visible(message), "type": "server_error", "param": None, "code": None}}


def openai_error(problem: Mapping[str, Any]) -> dict[str, Any]:
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


def _openai_status(status: int) -> int:
    return MalformedRequest.status if status == InvalidInput.status else status
