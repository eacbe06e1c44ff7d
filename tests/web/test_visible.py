"""Characters that nobody sees do not leave the service."""

from __future__ import annotations

import json

import pytest
from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.responses import JSONResponse, Response, StreamingResponse

from quarry.platform.errors import NotFound
from quarry.platform.settings import Settings
from quarry.platform.text import QueryText, visible
from quarry.services.services import build_services
from quarry.web.app import create_app
from tests.conftest import local_client

HIDDEN = "\u202e\u2066\u200e\u061c\u200b\u2060\ufeff"
SPLIT = f"Tim{HIDDEN}buktu\u2028town"
router = APIRouter()


@router.get("/json")
async def whole() -> Response:
    return JSONResponse({"title": SPLIT, "id": SPLIT, "groups": [{"value": SPLIT, "label": SPLIT}]})


@router.get("/missing")
async def missing() -> Response:
    raise NotFound(f"There is no {SPLIT}.")


@router.get("/events")
async def events() -> Response:
    async def made() -> object:
        yield f"id: 1\ndata: {json.dumps({'chunk': SPLIT, 'source_id': SPLIT}, ensure_ascii=False)}\n\n".encode()
        yield ": still here ü\n\n".encode()

    return StreamingResponse(made(), media_type="text/event-stream; charset=utf-8")  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/json", "/missing", "/events"])
def test_no_body_holds_one_as_it_is(path: str) -> None:
    services = build_services(Settings.from_environment({}), "postgresql://127.0.0.1:1/none")
    response = local_client(create_app(services, [router])).get(path)
    assert not set(response.text) & {*HIDDEN, "\u2028"}
    assert int(response.headers.get("content-length", len(response.content))) == len(response.content)
    lines = [line.removeprefix("data: ") for line in response.text.split("\n") if line.startswith(("data: ", "{"))]
    [body] = map(json.loads, lines)
    told = json.dumps(body, ensure_ascii=False)
    assert "Timbuktu" in told
    if path == "/json":
        # what clients send back is what the data has
        assert body["id"] == body["groups"][0]["value"] == SPLIT
        assert body["groups"][0]["label"] == "Timbuktu\ntown"


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\U0001f680",
        "\U0001f3f4\U000e0067\U000e007f",
        "naïve – 1\u00a0km",
    ],
)
def test_joiners_and_flags_stay(text: str) -> None:
    assert visible(text) == text


def test_questions_are_read_without_them() -> None:
    assert TypeAdapter(QueryText).validate_python(f" {SPLIT} ") == "Timbuktu\ntown"
    with pytest.raises(ValueError, match="at least 1 char"):
        TypeAdapter(QueryText).validate_python(HIDDEN)
