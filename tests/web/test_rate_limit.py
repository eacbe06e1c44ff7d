from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Annotated

import psycopg
import pytest
from fastapi import APIRouter, Depends
from starlette.testclient import TestClient

from quarry.platform.settings import Settings
from quarry.services.services import Caller, build_services
from quarry.web import requests
from quarry.web.app import create_app
from quarry.web.requests import limited_caller
from tests.conftest import local_client

MakeClient = Callable[..., TestClient]

router = APIRouter()


@router.get("/plain")
async def plain(caller: Annotated[Caller, Depends(limited_caller("plain"))]) -> str:
    return caller.user_id


@router.get("/model")
async def model(caller: Annotated[Caller, Depends(limited_caller("model"))]) -> str:
    return caller.user_id


@pytest.fixture
def database_url(shared_url: str) -> Iterator[str]:
    """A database without counts: the module's own, emptied after each test."""
    yield shared_url
    with psycopg.connect(shared_url) as connection:
        connection.execute("truncate rate_windows")


MOMENT = "timestamptz '2024-03-05 18:30:20+00'"


@pytest.fixture
def make_client(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeClient]:
    """Makes instances of the service on one database, each with its own pool; for them it is always MOMENT."""
    assert "now()" in requests._COUNT
    monkeypatch.setattr(requests, "_COUNT", requests._COUNT.replace("now()", MOMENT))
    with ExitStack() as instances:

        def make(limit: str = "3", url: str = database_url) -> TestClient:
            services = build_services(Settings.from_environment({"RATE_LIMIT_PER_MINUTE": limit}), url)
            return instances.enter_context(local_client(create_app(services, [router], [])))

        yield make


def statuses(client: TestClient, requests: int, path: str = "/plain", user: str = "ada") -> list[int]:
    return [client.get(path, headers={"Authorization": f"Bearer {user}"}).status_code for _ in range(requests)]


def test_requests_over_the_limit_are_refused_until_the_next_minute(make_client: MakeClient, database_url: str) -> None:
    client = make_client()
    assert statuses(client, 5) == [200, 200, 200, 429, 429]
    refusal = client.get("/plain", headers={"Authorization": "Bearer ada"})
    assert refusal.headers["retry-after"] == "40"
    assert refusal.headers["content-type"] == "application/problem+json"
    assert refusal.json()["type"] == "urn:quarry:problem:too-many-requests"
    with psycopg.connect(database_url) as connection:
        connection.execute("update rate_windows set window_start = window_start - interval '1 minute'")
    assert statuses(client, 1) == [200]


def test_users_and_classes_of_route_are_counted_apart(make_client: MakeClient) -> None:
    client = make_client("1")
    assert statuses(client, 2, "/plain", "ada") == [200, 429]
    assert statuses(client, 2, "/model", "ada") == [200, 429]
    assert statuses(client, 2, "/plain", "bob") == [200, 429]


def test_instances_share_one_count_also_under_concurrent_requests(make_client: MakeClient) -> None:
    instances = [make_client("7"), make_client("7")]
    with ThreadPoolExecutor(10) as threads:
        done = threads.map(lambda number: instances[number % 2].get("/plain").status_code, range(30))
        assert Counter(done) == {200: 7, 429: 23}
