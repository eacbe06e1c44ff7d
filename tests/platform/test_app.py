from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import cast

import pytest
from fastapi import APIRouter
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.errors import UNFORESEEN_MESSAGE, ModelUnavailable
from quarry.platform.settings import Settings
from quarry.postgres import pool
from quarry.services.services import Services, build_services
from quarry.web import service_routes
from quarry.web.app import create_app
from quarry.web.middleware import RESERVE_SECONDS, BeginsInTime
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


@pytest.mark.parametrize("begun", [False, True])
async def test_only_what_has_not_begun_to_respond_is_ended_at_lambda_s_deadline(begun: bool) -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.05)
        await send({"type": "http.response.body", "body": b"done"})

    async def send(message: Message) -> None:
        sent.append(message)

    sent: list[Message] = []
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: RESERVE_SECONDS * 1000 + 10)
    scope = {"type": "http", "method": "GET", "path": "/slow", "request_id": "1", "aws.context": context}
    await BeginsInTime(slow)(scope, cast("Receive", None), send)
    assert [message.get("status") for message in sent] == ([200, None] if begun else [503, None])


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


def test_health_is_503_when_the_database_does_not_answer(app: ASGIApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 0.2)
    with local_client(app) as client:
        response = client.get("/health")
    assert (response.status_code, response.json()["status"]) == (503, "unavailable")
    assert int(response.headers["retry-after"]) > 0
