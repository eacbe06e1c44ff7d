"""Reading from a real replica: what goes there, what does not, and what happens when it stops or lags."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from starlette.testclient import TestClient

from quarry import catalog
from quarry.local.database import LocalDatabase
from quarry.local.doctor import replica_finding
from quarry.postgres import reader
from quarry.postgres.pool import Database
from quarry.services.services import Caller, Services
from quarry.web import service_routes
from tests.conftest import client_of, clone_database
from tests.replica import StreamingReplica, streaming_replica

SAMPLE_PERSON = "p-anagha-venkataraman"
MOTION = "2023-11-14-council-m2"

READ: list[tuple[str, dict[str, Any] | None, str]] = [
    ("/records/search?q=Sable+River+Bridge", None, "Sable River Bridge"),
    ("/records/facets?type=motion&by=result", None, '"Carried"'),
    (f"/records/motion/{MOTION}", None, "Sable River Bridge"),
    ("/companies/chat", {"messages": [{"role": "user", "content": "restaurant technology"}]}, "Pass & Rail"),
    ("/companies/c-afyapamoja", None, "c-afyapamoja"),
    ("/people", None, SAMPLE_PERSON),
    (f"/people/{SAMPLE_PERSON}/profile", None, '"cards"'),
    ("/campaigns/chat", {"message": "Which campaigns are about travel?"}, "cmp-"),
    ("/campaigns/cmp-lumen-voyage-3", None, "cmp-lumen-voyage-3"),
    ("/ontology/search", {"query": "marketing plan"}, "riverside-bakery-plan-02"),
    ("/ontology/plan/spring-membership-plan-01", None, "spring-membership-plan-01"),
]
"""Addresses, what is posted to them, and what the answers hold where the rows of the sample were found."""


@pytest.fixture(scope="module")
def replica(server_url: str, sample_template: str) -> Iterator[StreamingReplica]:
    with streaming_replica(server_url) as running:
        yield running


@pytest.fixture(scope="module")
def shared_url(server_url: str, migrated_template: str, replica: StreamingReplica) -> Iterator[str]:
    """The URL of a migrated, empty database that tests share."""
    with clone_database(server_url, migrated_template) as url:
        replica.catch_up()
        yield url


@pytest.fixture
def services(
    shared_url: str, replica: StreamingReplica, make_services: Callable[..., Services], monkeypatch: pytest.MonkeyPatch
) -> Services:
    """Services that ask the replica each time how far it is behind, and at once again when it was left out. It is not behind."""
    replica.catch_up()
    monkeypatch.setattr(reader, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(reader, "PAUSE_SECONDS", 0.0)
    return make_services(shared_url, DATABASE_READER_URL=replica.url_of(shared_url), DATABASE_READER_LAG_SECONDS="0.2")


async def is_from_replica(database: Database) -> bool:
    row = await database.row("select pg_is_in_recovery() as is_replica")
    assert row is not None
    return bool(row["is_replica"])


async def becomes(services: Services, *, from_replica: bool) -> None:
    """Read until the replica is used, or left out. No read fails meanwhile."""
    async with asyncio.timeout(60):
        while await is_from_replica(services.reader) is not from_replica:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def health(services: Services) -> object:
    return json.loads(bytes((await service_routes.deep_health(services, Caller("ada"))).body))["reader"]


def test_searches_and_records_are_read_from_the_replica_and_all_else_from_the_database(
    server_url: str, sample_template: str, replica: StreamingReplica, caplog: pytest.LogCaptureFixture
) -> None:
    with clone_database(server_url, sample_template) as url:
        environment = {"DATABASE_READER_URL": replica.url_of(url), "DATABASE_READER_LAG_SECONDS": "3600"}
        with replica.held_back(), client_of(url, **environment) as client:
            # from here on the database itself holds nothing to be found but another motion, and the replica does not know yet
            with psycopg.connect(url) as connection:
                gone = [Identifier(name) for name in catalog.LOADABLE if name != "people"]
                connection.execute(SQL("truncate {} cascade").format(SQL(", ").join(gone)))
                connection.execute("insert into motions (id, text_content) values (%s, 'Of other things')", [MOTION])
            for path, body, held in READ:
                answer = client.post(path, json=body) if body else client.get(path)
                assert held in answer.text, path
            _buys_a_contact(client)
            assert client.get("/health").json()["reader"] == "ok"
        assert [record.message for record in caplog.records if record.name == reader.__name__] == []


def _buys_a_contact(client: TestClient) -> None:
    """People are searched on the replica, charged, stored, unlocked and opened on the database: at once."""
    before = client.get("/credits").json()["balance"]
    found = client.post("/people/search", json={"query": "Go engineers in Bengaluru who are open to work"}).json()
    search = {"search_id": found["search_id"]}
    # some may not be reached by anybody, which costs nothing
    for person in (each["id"] for each in found["people"]):
        unlocked = client.post(f"/people/{person}/unlock-contact", json=search)
        if unlocked.status_code == 200:
            break
    assert unlocked.json()["balance"] == before - 2
    assert client.get(f"/people/{person}", params=search).json()["contact_unlocked"]


async def test_a_replica_that_stops_is_left_out_and_used_again_when_it_is_back(
    services: Services, replica: StreamingReplica, shared_url: str
) -> None:
    assert await is_from_replica(services.reader)
    replica.stop()
    try:
        answers = await asyncio.gather(*(is_from_replica(services.reader) for _ in range(5)))
        assert not any(answers)
        assert not await is_from_replica(services.reader)
        assert await health(services) == "unavailable"
        assert (await replica_finding(LocalDatabase(services.settings, shared_url))).status == "broken"
    finally:
        replica.start()
    await becomes(services, from_replica=True)
    assert (await replica_finding(LocalDatabase(services.settings, shared_url))).status == "ok"


async def test_a_replica_that_lags_is_left_out_until_it_has_caught_up(
    services: Services, replica: StreamingReplica
) -> None:
    assert await is_from_replica(services.reader)
    with replica.held_back():
        # nothing was written: it is as it should be, however long ago that was
        assert await health(services) == "ok"
        await services.database.execute("insert into tuned_weights (name, weight) values ('late', 1)")
        await becomes(services, from_replica=False)
        assert await health(services) == "behind"
        assert await services.reader.row("select from tuned_weights where name = 'late'") is not None
    await becomes(services, from_replica=True)
    assert await services.reader.row("select from tuned_weights where name = 'late'") is not None
