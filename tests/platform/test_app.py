from __future__ import annotations

import pytest
from fastapi import APIRouter
from starlette.types import ASGIApp

from quarry.platform.errors import UNFORESEEN_MESSAGE, ModelUnavailable
from quarry.platform.settings import Settings
from quarry.services.services import Services, build_services
from quarry.web import service_routes
from quarry.web.app import create_app
from tests.conftest import local_client

router = APIRouter()
hidden = APIRouter()


@router.get("/fine")
async def fine() -> str:
    return "fine"


@hidden.get("/broken")
async def broken() -> str:
    raise RuntimeError("select secret from people")


def make_services(url: str = "postgresql://127.0.0.1:1/none", **environment: str) -> Services:
    return build_services(Settings.from_environment(environment), url)


@pytest.fixture
def app() -> ASGIApp:
    """An application that needs no database; it documents one of its two routers."""
    return create_app(make_services(), [router, hidden, service_routes.router], [router])


def test_every_response_has_a_request_id_of_its_own(app: ASGIApp) -> None:
    with local_client(app) as client:
        ids = [client.get(path).headers["x-request-id"] for path in ("/fine", "/fine", "/nowhere", "/broken")]
    assert len(set(ids)) == 4
    assert all(ids)


def test_an_unforeseen_error_tells_the_client_nothing_and_the_log_everything(
    app: ASGIApp, caplog: pytest.LogCaptureFixture
) -> None:
    with local_client(app) as client:
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
    services = make_services(database_url, OPENAI_BASE_URL="http://127.0.0.1:9/v1", EMBEDDINGS="openai")
    with local_client(create_app(services, [service_routes.router], [])) as client:
        assert client.get("/health").json()["models"] == {"chat": "ok", "embedding": "ok"}
        for _ in range(services.settings.model_failures_max):
            with pytest.raises(ModelUnavailable), services.breakers["chat"].attempt():
                raise ModelUnavailable("down")
        response = client.get("/health")
    assert (response.status_code, response.json()["status"]) == (200, "ok")
    assert response.json()["models"] == {"chat": "failing", "embedding": "ok"}
