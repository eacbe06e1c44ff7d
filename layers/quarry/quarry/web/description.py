"""The OpenAPI description of the HTTP interface: the routes, and the errors that routes of their kind share."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import RouteContext, iter_route_contexts
from pydantic import TypeAdapter
from starlette.responses import Response
from typing_extensions import TypedDict

from quarry import __version__
from quarry.platform.errors import (
    BodyTooLarge,
    Forbidden,
    HeadersTooLarge,
    InvalidInput,
    MalformedRequest,
    MisdirectedRequest,
    NotAuthenticated,
    QuarryError,
    RateLimited,
    Unavailable,
    UnsupportedMediaType,
    catalogue,
    problem_type,
)
from quarry.web.middleware import METHODS_WITH_BODY
from quarry.web.problems import ErrorDetail, OpenAIError, Problem, ProblemField, documented, error_schemas, openai_error
from quarry.web.requests import verified_caller

DESCRIPTION = "Agentic search over a team's own Postgres."

OF_EVERY_ROUTE = (MalformedRequest, MisdirectedRequest, HeadersTooLarge, QuarryError, Unavailable)
OF_EVERY_BODY = (BodyTooLarge, UnsupportedMediaType)
OF_EVERY_INPUT = (InvalidInput,)
OF_EVERY_CALLER = (NotAuthenticated, Forbidden, RateLimited)


class Description:
    """The description of `routers` as it is served. It is made once, on the first request; `routers` is not iterated before."""

    def __init__(self, routers: Iterable[APIRouter]) -> None:
        self._routers = routers
        self._lock = threading.Lock()
        self._file: TextFile | None = None

    def text(self) -> TextFile:
        """The description. The first call takes long, and concurrent ones wait for it: do not call it on an event loop."""
        with self._lock:
            if self._file is None:
                document = openapi_document(self._routers, recorded_examples())
                text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
                self._file = TextFile(text.encode(), "application/json")
            return self._file


def openapi_document(routers: Iterable[APIRouter], examples: Sequence[Example] = ()) -> dict[str, Any]:
    """The OpenAPI 3.1 description of `routers`, with `examples` of their calls."""
    routes = [route for router in routers for route in router.routes]
    document = get_openapi(
        title="Quarry", version=__version__, openapi_version="3.1.0", description=DESCRIPTION, routes=routes
    )
    for route in iter_route_contexts(routes):
        operations = document["paths"].get(route.path_format, {})
        for method in route.methods or ():
            if operation := operations.get(method.lower()):
                _describe_errors(operation, documented(*_errors_of(route, method), path=route.path_format or ""))
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    # the framework's own schemas of a 422, which no route uses
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    schemas |= error_schemas(Problem, ProblemField, OpenAIError, ErrorDetail)
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    for example in examples:
        # those of other routes are ignored
        if operation := document["paths"].get(example["path"], {}).get(example["method"]):
            _add(operation, example)
    document["x-problems"] = [_problem(error) for error in catalogue()]
    return document


def _problem(error: type[QuarryError]) -> dict[str, Any]:
    """An error in the API reference; `code` is its name below `/v1/`."""
    body = {"type": problem_type(error.title), "title": error.title, "status": error.status, "detail": ""}
    code = openai_error(body)["error"]["code"]
    del body["detail"]
    return body | {"code": code, "meaning": error.meaning, "remedy": error.remedy}


def _errors_of(route: RouteContext, method: str) -> Iterator[type[QuarryError]]:
    """The errors that any route of this kind can answer with."""
    yield from OF_EVERY_ROUTE
    if method in METHODS_WITH_BODY:
        yield from OF_EVERY_BODY
    if _takes_input(route.dependant):
        yield from OF_EVERY_INPUT
    if _calls(route.dependant, verified_caller):
        yield from OF_EVERY_CALLER


def _takes_input(dependant: Dependant) -> bool:
    inputs = (dependant.path_params, dependant.query_params, dependant.header_params, dependant.body_params)
    return any(inputs) or any(map(_takes_input, dependant.dependencies))


def _calls(dependant: Dependant, dependency: Callable[..., Any]) -> bool:
    return dependant.call is dependency or any(_calls(inner, dependency) for inner in dependant.dependencies)


def _describe_errors(operation: dict[str, Any], errors: dict[int | str, dict[str, Any]]) -> None:
    """Add `errors` to the responses of an operation; its own description of a status takes precedence."""
    responses: dict[str, Any] = operation["responses"]
    # the framework's own schema of a 422
    responses.pop(str(InvalidInput.status), None)
    for status, error in errors.items():
        described = responses.get(str(status))
        if described is None:
            responses[str(status)] = error
        else:
            described["content"] = described.get("content", {}) | error["content"]
    operation["responses"] = dict(sorted(responses.items()))


RECORDED = Path(__file__).resolve().parents[1] / "api" / "examples.json"

SHORTENED = "Shortened: two of each list, and of a stream the first event of each kind."


class Example(TypedDict):
    """One call. `parameters` holds the values of each parameter as they were sent; `answer` is a text if it was a stream."""

    name: str
    method: str
    path: str
    parameters: dict[str, list[str]]
    body: Any
    status: int
    media_type: str | None
    answer: Any
    is_shortened: bool


@cache
def recorded_examples() -> list[Example]:
    """The recorded calls of this package."""
    return TypeAdapter(list[Example]).validate_json(RECORDED.read_bytes())


def _add(operation: dict[str, Any], example: Example) -> None:
    for parameter in operation.get("parameters", []):
        if values := example["parameters"].get(parameter["name"]):
            _add_example(parameter, example, _typed(values, parameter["schema"]))
    if example["body"] is not None:
        _add_example(operation["requestBody"]["content"]["application/json"], example, example["body"])
    if media_type := example["media_type"]:
        note = {"description": SHORTENED} if example["is_shortened"] else {}
        _add_example(
            operation["responses"][str(example["status"])]["content"][media_type], example, example["answer"], note
        )


def _add_example(place: dict[str, Any], example: Example, value: Any, note: Mapping[str, str] | None = None) -> None:
    summary = example["name"].replace("_", " ").capitalize()
    place.setdefault("examples", {})[example["name"]] = {"summary": summary, **(note or {}), "value": value}


def _typed(values: list[str], schema: Mapping[str, Any]) -> Any:
    """Values that were sent as text, in the type of their schema."""
    [described, *_] = [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    if described.get("type") == "array":
        return values
    return json.loads(values[0]) if described.get("type") in ("integer", "number", "boolean") else values[0]


ETAG_LENGTH = 12

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATE = "no-cache"


@dataclass(frozen=True)
class TextFile:
    """A text and its media type."""

    body: bytes
    media_type: str

    @cached_property
    def etag(self) -> str:
        # weak: the same file is sent compressed or not
        return f'W/"{hashlib.sha256(self.body).hexdigest()[:ETAG_LENGTH]}"'

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, mtime=0)


def text_response(
    request: Request, file: TextFile, cache_control: str, headers: Mapping[str, str] | None = None
) -> Response:
    """The text, or a 304 if the client has it."""
    all_headers = {"Cache-Control": cache_control, "ETag": file.etag, "Vary": "Accept-Encoding", **(headers or {})}
    if _has(request, file):
        return Response(status_code=304, headers=all_headers)
    # a buffered Lambda response is text, and cannot be compressed
    if "gzip" in request.headers.get("accept-encoding", "") and "aws.event" not in request.scope:
        return Response(file.compressed, headers=all_headers | {"Content-Encoding": "gzip"}, media_type=file.media_type)
    return Response(file.body, headers=all_headers, media_type=file.media_type)


def _has(request: Request, file: TextFile) -> bool:
    # weak comparison (RFC 9110, 13.1.2): a proxy may remove W/ from a tag, or split the list
    listed = ",".join(request.headers.getlist("if-none-match"))
    tags = {tag.strip().removeprefix("W/") for tag in listed.split(",")}
    return "*" in tags or file.etag.removeprefix("W/") in tags
