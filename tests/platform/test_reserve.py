"""What is small and must not wait behind searches."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from quarry.api import everything
from quarry.platform.settings import Settings
from quarry.postgres import pool
from quarry.services.services import Services, build_services
from quarry.web.app import create_app


@pytest.mark.parametrize(
    ("path", "status"), [("/health", 200), ("/config.json", 200), ("/examples.json", 200), ("/answers/none", 404)]
)
async def test_an_answer_that_is_small_does_not_wait_behind_searches(
    database_url: str,
    make_services: Callable[..., Services],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    status: int,
) -> None:
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 5)
    services = make_services(database_url, DATABASE_POOL_SIZE="1", DATABASE_TIMEOUT_SECONDS="60")
    transport = httpx2.ASGITransport(create_app(services, everything.ROUTERS, everything.ROUTERS))
    async with (
        services.database.transaction(),  # a search that takes the only connection
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        assert (await client.get(path)).status_code == status


async def test_a_lambda_which_does_one_thing_at_a_time_sets_no_connection_aside() -> None:
    url = "postgresql://127.0.0.1:1/none"
    local = build_services(Settings.from_environment({"DATABASE_URL": url})).database
    deployed = build_services(
        Settings.from_environment({"DATABASE_URL": url, "AWS_LAMBDA_FUNCTION_NAME": "search"})
    ).database
    assert local not in (local.reserve, local.probe)
    assert deployed.reserve is deployed.probe is deployed
