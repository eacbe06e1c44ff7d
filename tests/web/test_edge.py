"""What every route has in common: its methods, `HEAD`, the order of refusals, headers, bodies, and its description."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel
from starlette.testclient import TestClient

from quarry.api.routers import EVERYTHING
from quarry.platform.errors import UNFORESEEN_MESSAGE, ModelUnavailable
from quarry.platform.settings import Settings
from quarry.services.services import Caller, build_services
from quarry.streaming import runs
from quarry.streaming.events import SSE, Event
from quarry.web import service_routes
from quarry.web.app import create_app
from quarry.web.requests import ServicesDependency, verified_caller
from quarry.web.streams import stream_response
from tests.conftest import local_client

router = APIRouter()
begun: list[str] = []
"""The streams that were begun."""


class Thing(BaseModel):
    name: str


@router.get("/things/{id:path}")
async def thing(id: str, response: Response) -> dict[str, str]:
    return {"id": id}


@router.delete("/things/{id:path}")
async def forget(id: str) -> None: ...


@router.post("/things/search")
async def search(body: Thing, caller: Annotated[Caller, Depends(verified_caller)]) -> Thing:
    return body


@router.get("/kept")
async def kept(response: Response) -> str:
    response.headers["Cache-Control"] = "public, max-age=60"
    return "kept"


@router.get("/stream")
async def stream(request: Request, services: ServicesDependency) -> Response:
    async def events() -> AsyncGenerator[Event]:
        begun.append("stream")
        yield Event(type="one")

    return stream_response(request, lambda _: events(), Caller("someone"), services, SSE)


@router.get("/broken")
async def broken() -> str:
    raise RuntimeError("select secret from people")


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of an application that needs no database."""
    services = build_services(Settings.from_environment({}), "postgresql://127.0.0.1:1/none")
    with (
        pytest.MonkeyPatch.context() as patch,
        local_client(create_app(services, [router, service_routes.router], EVERYTHING)) as client,
    ):
        patch.setattr(runs, "LAST_WRITE_SECONDS", 0.05)
        yield client


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST", "OPTIONS", "TRACE", "BREW"])
def test_another_method_is_a_405_that_names_all_methods_of_the_address(client: TestClient, method: str) -> None:
    response = client.request(method, "/things/one")
    assert response.status_code == 405
    assert response.headers["allow"] == "DELETE, GET, HEAD"
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/things/one", "/kept", "/openapi.json", "/nowhere"])
def test_head_is_get_without_the_body(client: TestClient, path: str) -> None:
    got, headed = client.get(path), client.head(path)
    assert headed.status_code == got.status_code
    assert headed.content == b""
    passing = {"x-request-id"}
    assert {**headed.headers} | dict.fromkeys(passing, "") == {**got.headers} | dict.fromkeys(passing, "")


def test_head_of_a_stream_begins_no_work(client: TestClient) -> None:
    begun.clear()
    response = client.head("/stream")
    assert (response.status_code, response.content, begun) == (200, b"", [])
    assert response.headers["content-type"].startswith("text/event-stream")
    assert "content-length" not in response.headers
    assert "one" in client.get("/stream").text
    assert begun == ["stream"]


def test_every_response_has_a_request_id_of_its_own(client: TestClient) -> None:
    ids = [client.get(path).headers["x-request-id"] for path in ("/kept", "/kept", "/nowhere", "/broken")]
    assert len(set(ids)) == 4
    assert all(ids)


def test_an_unforeseen_error_tells_the_client_nothing_and_the_log_everything(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    response = client.get("/broken")
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {
        "type": "urn:quarry:problem:internal-error",
        "title": "Internal error",
        "status": 500,
        "detail": UNFORESEEN_MESSAGE,
        "request_id": response.headers["x-request-id"],
    }
    assert "select secret from people" in caplog.text


def test_health_tells_of_each_remote_model_whether_it_answers(database_url: str) -> None:
    environment = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "EMBEDDINGS": "openai"}
    services = build_services(Settings.from_environment(environment), database_url)
    with local_client(create_app(services, [service_routes.router], [])) as client:
        assert client.get("/health").json()["models"] == {"chat": "ok", "embedding": "ok"}
        for _ in range(services.settings.model_failures_max):
            with pytest.raises(ModelUnavailable), services.breakers["chat"].attempt():
                raise ModelUnavailable("down")
        response = client.get("/health")
    assert (response.status_code, response.json()["status"]) == (200, "ok")
    assert response.json()["models"] == {"chat": "failing", "embedding": "ok"}
