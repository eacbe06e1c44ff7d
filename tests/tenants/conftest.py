"""An installation with two tenants on one database. The same user signs in to both, so that only the tenant tells them apart."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.api.routers import EVERYTHING
from quarry.local.data import load_sample
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.settings import Settings
from quarry.postgres.pool import Database
from quarry.postgres.tenants import add_tenant
from quarry.services.services import build_services
from quarry.web.app import create_app
from tests.conftest import create_database, local_client

CLAIM = "custom:tenant"
USER = "demo"
ASKED, SECRET = "Xyloquartz", "Zephyrline"
"""Words that only acme's rows contain: what questions ask for, and what only its own users may be shown."""


class Gateway:
    """An application behind API Gateway: the headers `sub` and `tenant` stand for the claims of a token that it has verified."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = {name.decode(): value.decode() for name, value in scope["headers"]}
            claims = {"sub": sent.get("sub", USER)} | ({CLAIM: sent["tenant"]} if "tenant" in sent else {})
            scope = {**scope, "aws.event": {"requestContext": {"authorizer": {"claims": claims}}}}
        await self._app(scope, receive, send)


def tenants_client(url: str, **environment: str) -> TestClient:
    """A client of an installation with tenants, as behind API Gateway."""
    given = {
        "DATABASE_URL": url,
        "IDENTITY": "gateway",
        "TENANT_CLAIM": CLAIM,
        "RATE_LIMIT_PER_MINUTE": "0",
        "EMBEDDINGS": "local",
    }
    services = build_services(Settings.from_environment(given | environment))
    return local_client(Gateway(create_app(services, EVERYTHING, EVERYTHING)))


def headers(tenant: str | None, **more: str) -> dict[str, str]:
    return ({"tenant": tenant} if tenant is not None else {}) | more


def run(url: str, schema: str, statement: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """Run a statement in a tenant's schema; its rows."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("set search_path = {}, public").format(Identifier(schema)))
        cursor = connection.execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


_MARKED = (
    "update companies set company_name = '{0} Bank', description = '{0} ' || description where id = 'c-harbor-banking'",
    "update motions set plain_english_summary = '{0} bridge ' || plain_english_summary",
    "update people set name = 'Aarav {0}', headline = '{0} ' || headline where id = 'p-anagha-venkataraman'",
    "update campaigns set brand = '{0}', campaign_text = '{0} ' || campaign_text where id = 'cmp-ardent-no4-1'",
    "update onto_tasks set title = '{0} oven' where id = 'riverside-bakery-task-01'",
)


@pytest.fixture(scope="package")
def tenants_url(server_url: str, migrated_template: str) -> str:
    """The URL of a database with the tenants `acme`, which has the sample data and a secret in each domain, and `globex`, which
    has none.
    """
    url = create_database(server_url, "tenants", template=migrated_template)
    for name in ("acme", "globex"):
        add_tenant(url, name, name, own_schema="quarry", embedding_dimensions=384)

    async def fill() -> None:
        database, model = Database(url, pool_size=1, timeout_seconds=60, schema="acme"), LocalEmbedding()
        await load_sample(database, url, model)
        await model.close()
        await database.close()

    asyncio.run(fill())
    for statement in _MARKED:
        run(url, "acme", statement.format(f"{ASKED} {SECRET}"))
    return url


@pytest.fixture(scope="package")
def tenants(tenants_url: str) -> Iterator[TestClient]:
    with tenants_client(tenants_url) as client:
        yield client
