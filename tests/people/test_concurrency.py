"""What happens at once is charged once and never overdrawn: real concurrent calls, several instances, one Postgres."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from quarry.people.access import balance_of, unlock_contact
from quarry.people.contract import PeopleSearchRequest
from quarry.people.search import search_people
from quarry.platform.errors import PaymentRequired
from quarry.postgres import pool
from quarry.runs import idempotency
from quarry.services.services import Caller, Services
from tests.people.factories import as_user, ledger, rows, somebody, store_search, value
from tests.people.world import PERSON_IDS, contact_of
from tests.running import running_server
from tests.waiting import PATIENCE_SECONDS

QUERY = "backend engineer for payments in Python"


class FixedVector:
    """In place of the query's embedding: what a vector is made of is not the matter here."""

    async def embed(self, query: str, *, seconds: float) -> list[float]:
        return [0.05] * 384


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine serves what is asked at once one after the other; who pays what is the matter here."""
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 60)
    monkeypatch.setattr(idempotency, "WAIT_SECONDS", 2 * PATIENCE_SECONDS)


@pytest.fixture
async def instances(world_url: str, make_services: Callable[..., Services]) -> list[Services]:
    """Three instances of the service, each with a pool of its own."""
    return [replace(make_services(world_url), queries=FixedVector()) for _ in range(3)]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def servers(world_url: str) -> Iterator[tuple[str, str]]:
    """The addresses of two servers, one with two connections."""
    environment = {"RATE_LIMIT_PER_MINUTE": "0", "DATABASE_TIMEOUT_SECONDS": "60"}
    with (
        running_server(world_url, **environment) as one,
        running_server(world_url, **environment, DATABASE_POOL_SIZE="2") as other,
    ):
        yield one, other


def fifty_at_once(servers: tuple[str, str], path: str, body: dict[str, Any], headers: dict[str, str]) -> list[Any]:
    """What fifty equal calls at both servers are answered; who is told that a server is too busy comes again."""
    with httpx2.Client(timeout=PATIENCE_SECONDS, headers=headers) as http, ThreadPoolExecutor(50) as threads:
        for url in servers:
            # routes are built when they are first asked for, with a switch of Python's warnings that is not safe among threads
            http.post(url + path, json={})

        def call(url: str) -> Any:
            while (answer := http.post(url + path, json=body)).status_code == 503:
                assert answer.headers["retry-after"]
            assert answer.status_code == 200
            return answer.json()

        return [*threads.map(call, servers * 25)]


def test_fifty_searches_under_one_key_at_once_are_one(servers: tuple[str, str], world_url: str) -> None:
    user = somebody()
    answers = fifty_at_once(servers, "/people/search", {"query": QUERY}, as_user(user) | {"Idempotency-Key": "k1"})
    assert answers == [answers[0]] * 50
    assert ledger(world_url, user) == [10, -1]
    assert value(world_url, "select count(*) from people_searches where user_id = %s", user) == 1


def test_fifty_unlocks_of_one_person_at_once_cost_one_credit(servers: tuple[str, str], world_url: str) -> None:
    user = somebody()
    search_id = store_search(world_url, user, ["p01"])
    answers = fifty_at_once(servers, "/people/p01/unlock-contact", {"search_id": search_id}, as_user(user))
    assert Counter(answer["charged"] for answer in answers) == {True: 1, False: 49}
    assert all(answer["contact"] == contact_of("p01") for answer in answers)
    assert {answer["balance"] for answer in answers} == {9}
    assert ledger(world_url, user) == [10, -1]
    assert value(world_url, "select count(*) from contact_unlocks where user_id = %s", user) == 1


async def test_two_hundred_mixed_operations_never_overdraw_and_the_ledger_adds_up(
    instances: list[Services], world_url: str
) -> None:
    user, caller = (name := somebody()), Caller(name)
    search_id = store_search(world_url, user, PERSON_IDS, credits=20)
    balances: list[int] = []

    async def search(services: Services, key: str | None) -> None:
        await search_people(PeopleSearchRequest(query=QUERY), caller, services, idempotency_key=key)

    async def unlock(services: Services, person: str) -> None:
        unlocked = await unlock_contact(person, search_id, caller, services)
        balances.append(unlocked.balance)

    async def look(services: Services) -> None:
        async with services.database.transaction() as connection:
            balances.append(await balance_of(connection, services.settings, user))

    def operation(number: int) -> Coroutine[Any, Any, None]:
        services = instances[number % 3]
        match number % 8:
            case 0:
                return search(services, None)
            case 1:
                return search(services, f"k{number % 4}")
            case 2 | 3 | 4 | 5:
                return unlock(services, PERSON_IDS[number % 13])
            case _:
                return look(services)

    operations = [operation(number) for number in range(200)]
    random.Random(11).shuffle(operations)
    outcomes = await asyncio.gather(*operations, return_exceptions=True)

    assert {type(outcome) for outcome in outcomes} <= {type(None), PaymentRequired}
    assert any(isinstance(outcome, PaymentRequired) for outcome in outcomes)
    assert all(0 <= balance <= 20 for balance in balances)
    amounts = ledger(world_url, user)
    assert amounts == [20, *[-1] * 20]
    booked = dict(
        rows(world_url, "select reason, count(*) from credit_ledger where user_id = %s and amount < 0 group by 1", user)
    )
    assert booked == {
        "search": value(world_url, "select count(*) - 1 from people_searches where user_id = %s", user),
        "unlock": value(world_url, "select count(*) from contact_unlocks where user_id = %s", user),
    }
    assert set(booked) == {"search", "unlock"}
