from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.testclient import TestClient

from quarry.platform.errors import (
    UNFORESEEN_MESSAGE,
    ConfigurationError,
    DatabaseUnavailable,
    FieldError,
    InvalidInput,
    MalformedRequest,
    ModelOutputInvalid,
    ModelRefused,
    ModelUnavailable,
    NotAuthenticated,
    NotFound,
    QuarryError,
    RateLimited,
    Unavailable,
    UnsupportedMediaType,
)
from quarry.platform.settings import Settings
from quarry.platform.text import Identifier, QueryText
from quarry.services.services import build_services
from quarry.web.app import create_app
from quarry.web.problems import BODY_MAX_BYTES
from tests.conftest import local_client

ERRORS: dict[str, QuarryError] = {}

router = APIRouter()


@router.get("/raise/{name}")
async def raise_error(name: str) -> None:
    raise ERRORS[name] from ValueError("select secret from people")


def _no_colon(text: str) -> str:
    if ":" in text:
        raise ValueError("must not contain a colon")
    return text


class Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")
    question: QueryText


class Ask(BaseModel):
    model_config = ConfigDict(extra="forbid")
    question: QueryText
    history: list[Turn] = []
    limit: int = Field(default=10, le=50)
    odd: Annotated[str, AfterValidator(_no_colon), Field(alias="a/b~c")] = ""


@router.post("/ask")
async def ask(body: Ask) -> str:
    return body.question


@router.get("/things/{id}")
async def thing(id: Identifier, limit: Annotated[int, Query(ge=1)] = 20) -> str:
    return id


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of an application that needs no database."""
    services = build_services(Settings.from_environment({}), "postgresql://127.0.0.1:1/none")
    with local_client(create_app(services, [router], [router])) as client:
        yield client


def post(client: TestClient, body: Any) -> Any:
    """The response to a body, which is sent as it is or else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post("/ask", content=content, headers={"Content-Type": "application/json"})


def invalid_fields(response: Any) -> dict[str, str]:
    """The rejected fields of a 422: pointers and messages."""
    problem = response.json()
    assert (response.status_code, problem["status"], problem["title"]) == (422, 422, "Invalid input")
    return {error["pointer"]: error["message"] for error in problem["errors"]}


@pytest.mark.parametrize(
    ("error", "status", "kind", "retry_after"),
    [
        (MalformedRequest("m"), 400, "malformed-request", None),
        (NotAuthenticated("m"), 401, "not-signed-in", None),
        (NotFound("m"), 404, "not-found", None),
        (UnsupportedMediaType("m"), 415, "unsupported-media-type", None),
        (InvalidInput([FieldError("/q", "m")]), 422, "invalid-input", None),
        (RateLimited("m", retry_after_seconds=17), 429, "too-many-requests", "17"),
        (Unavailable("m", retry_after_seconds=9), 503, "temporarily-unavailable", "9"),
        (DatabaseUnavailable("m"), 503, "temporarily-unavailable", "5"),
        (ModelUnavailable("m"), 503, "temporarily-unavailable", "5"),
        (ModelRefused("m"), 503, "temporarily-unavailable", "5"),
        (ModelOutputInvalid("m"), 503, "temporarily-unavailable", "5"),
        (QuarryError("m"), 500, "internal-error", None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, QuarryError) else "",
)
def test_every_error_is_a_problem(
    client: TestClient, error: QuarryError, status: int, kind: str, retry_after: str | None
) -> None:
    ERRORS["one"] = error
    response = client.get("/raise/one")
    problem = response.json()
    assert response.status_code == problem["status"] == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers.get("retry-after") == retry_after
    assert (problem["type"], problem["title"], problem["detail"]) == (f"urn:quarry:problem:{kind}", error.title, "m")
    assert problem["request_id"] == response.headers["x-request-id"]
    assert ("errors" in problem) == (status == 422)


def test_a_configuration_error_is_for_the_operator_only(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    ERRORS["one"] = ConfigurationError("OPENAI_API_KEY is sk-secret")
    response = client.get("/raise/one")
    assert (response.status_code, response.json()["detail"]) == (500, UNFORESEEN_MESSAGE)
    assert "secret" not in response.text
    assert "OPENAI_API_KEY is sk-secret" in caplog.text


@pytest.mark.parametrize(
    ("body", "pointer", "message"),
    [
        ({}, "/question", "question: Field required"),
        ({"question": "  "}, "/question", "question: String should have at least 1 character"),
        ({"question": "x" * 2001}, "/question", "question: String should have at most 2000 characters"),
        ({"question": "a\x00b"}, "/question", "question: must not contain the NUL character"),
        ({"question": "\ud800"}, "/question", "question: Input should be a valid string"),
        ({"question": "q", "limit": 51}, "/limit", "limit: Input should be less than or equal to 50"),
        ({"question": "q", "limit": float("nan")}, "/limit", "limit: Input should be a finite number"),
        ({"question": "q", "history": [{"question": "q"}, {"question": ""}]}, "/history/1/question", "question: "),
        ({"question": "q", "user_id": "mayor"}, "/user_id", "user_id: Extra inputs are not permitted"),
        ({"question": "q", "x/y~z": 1}, "/x~1y~0z", "x/y~z: Extra inputs are not permitted"),
        ({"question": "q", "a/b~c": "1:2"}, "/a~1b~0c", "a/b~c: must not contain a colon"),
        (["question"], "", "the body: Input should be a valid dictionary"),
        ({"question": "q", "\ud800": 1}, "", "the body: "),
        (b"", "", "the body: Field required"),
    ],
)
def test_a_wrong_field_is_pointed_at(client: TestClient, body: Any, pointer: str, message: str) -> None:
    [(found, said)] = invalid_fields(post(client, body)).items()
    assert found == pointer
    assert said.startswith(message)


@pytest.mark.parametrize(
    "body",
    [b"{", b"question", b'{"question": "q"', b'{"question": "\xff"}', b"[" * 100_000, b"9" * 5000],
    ids=["cut", "bare", "unclosed", "latin-1", "deep", "huge number"],
)
def test_a_body_that_is_not_json_is_malformed(client: TestClient, body: bytes) -> None:
    response = post(client, body)
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, problem["type"]) == (400, "urn:quarry:problem:malformed-request")
    assert problem["request_id"] == response.headers["x-request-id"]
    assert "errors" not in problem


@pytest.mark.parametrize("media_type", [None, "text/plain", "application/x-www-form-urlencoded", "json", "image/jpeg"])
def test_a_body_of_another_type_is_refused(client: TestClient, media_type: str | None) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    response = client.post("/ask", content=b'{"question": "q"}', headers=headers)
    assert (response.status_code, response.json()["title"]) == (415, "Unsupported media type")
    assert response.json()["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_256_kib_is_too_large(client: TestClient, chunked: bool) -> None:
    def send(size: int) -> Any:
        body = b'{"question": "q"}'.ljust(size)
        content = iter([body[: size // 2], body[size // 2 :]]) if chunked else body
        return client.post("/ask", content=content, headers={"Content-Type": "application/json"})

    assert BODY_MAX_BYTES == 262_144
    assert send(BODY_MAX_BYTES).status_code == 200
    response = send(BODY_MAX_BYTES + 1)
    problem = response.json()
    assert (response.status_code, problem["status"], problem["detail"]) == (
        413, 413, "The body is larger than 256 KiB.",
    )  # fmt: skip
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["request_id"] == response.headers["x-request-id"]
