"""A request under an idempotency key, against a real database and with calls that are really concurrent."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime

import pytest
from pydantic import BaseModel

from quarry.platform.errors import Conflict, PaymentRequired
from quarry.postgres.pool import Database
from quarry.runs import idempotency
from quarry.runs.idempotency import OTHER_BODY, STILL_RUNNING, Claim, KeyedRequest, once
from tests.waiting import PATIENCE_SECONDS

ENDPOINT = "POST /orders"


class Order(BaseModel):
    item: str
    count: int = 1


class Receipt(BaseModel):
    number: int


@pytest.fixture
async def databases(shared_url: str) -> AsyncIterator[list[Database]]:
    """Three instances' pools on one database, emptied after each test."""
    databases = [Database(shared_url, pool_size=4, timeout_seconds=10) for _ in range(3)]
    yield databases
    await databases[0].execute("truncate idempotency_keys")
    for database in databases:
        await database.close()


@pytest.fixture
def database(databases: list[Database]) -> Database:
    return databases[0]


def keyed(key: str = "k1", *, caller: str = "ada", endpoint: str = ENDPOINT, item: str = "lamp") -> KeyedRequest:
    return KeyedRequest.of(caller, endpoint, key, Order(item=item))


class Shop:
    """Counts how often it worked. A shop that is held works on until it is released."""

    def __init__(self, database: Database, *, held: bool = False) -> None:
        self.database = database
        self.worked = 0
        self.begun = asyncio.Event()
        self.released = asyncio.Event()
        if not held:
            self.released.set()

    async def __call__(self, claim: Claim) -> Receipt:
        self.worked += 1
        receipt = Receipt(number=self.worked)
        self.begun.set()
        await self.released.wait()
        async with self.database.transaction() as connection:
            await claim.store(connection, receipt)
        return receipt


async def order(shop: Shop, request: KeyedRequest, database: Database | None = None) -> Receipt:
    return await once(database or shop.database, request, Receipt, shop)


async def test_the_second_call_gets_the_first_ones_answer(database: Database) -> None:
    shop = Shop(database)
    assert [(await order(shop, keyed())).number for _ in range(3)] == [1, 1, 1]
    assert shop.worked == 1


async def test_callers_endpoints_and_keys_are_apart(database: Database) -> None:
    shop = Shop(database)
    requests = [keyed(), keyed("k2"), keyed(caller="bob"), keyed(endpoint="POST /returns")]
    assert [(await order(shop, request)).number for request in requests * 2] == [1, 2, 3, 4] * 2


async def test_a_key_stands_for_one_body(database: Database) -> None:
    shop = Shop(database)
    await order(shop, keyed())
    with pytest.raises(Conflict, match=OTHER_BODY) as refused:
        await order(shop, keyed(item="chair"))
    assert refused.value.retry_after_seconds is None
    assert shop.worked == 1


async def test_calls_at_once_over_several_instances_work_once(databases: list[Database]) -> None:
    shop = Shop(databases[0], held=True)
    calls = [asyncio.create_task(order(shop, keyed(), databases[number % 3])) for number in range(50)]
    await shop.begun.wait()
    shop.released.set()
    receipts = await asyncio.gather(*calls)
    assert Counter(receipt.number for receipt in receipts) == {1: 50}
    assert shop.worked == 1


async def test_who_waits_too_long_is_told_to_come_back(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "WAIT_SECONDS", 0.2)
    shop = Shop(database, held=True)
    first = asyncio.create_task(order(shop, keyed()))
    await shop.begun.wait()
    with pytest.raises(Conflict, match="still running") as refused:
        await order(shop, keyed())
    shop.released.set()
    assert refused.value.retry_after_seconds
    assert (await first).number == 1
    assert (await order(shop, keyed())).number == 1


async def test_a_call_that_fails_gives_the_key_free_also_for_another_body(database: Database) -> None:
    async def fail(claim: Claim) -> Receipt:
        raise PaymentRequired("no")

    with pytest.raises(PaymentRequired):
        await once(database, keyed(), Receipt, fail)
    assert await database.rows("select from idempotency_keys") == []
    assert (await order(Shop(database), keyed(item="chair"))).number == 1


async def test_a_claim_is_renewed_while_its_call_runs(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "RENEWAL_SECONDS", 0.01)
    shop = Shop(database, held=True)
    calls = [asyncio.create_task(order(shop, keyed())) for _ in range(2)]
    await shop.begun.wait()
    first = await claimed_until(database)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await claimed_until(database) == first:  # noqa: ASYNC110 -- it happens in the database
            await asyncio.sleep(0.01)
    shop.released.set()
    assert [receipt.number for receipt in await asyncio.gather(*calls)] == [1, 1]
    assert shop.worked == 1


async def test_the_claim_of_a_call_that_died_is_taken_over_by_one(
    databases: list[Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "_release", _do_nothing)  # as a killed process
    dying = Shop(databases[0], held=True)
    dead = asyncio.create_task(order(dying, keyed()))
    await dying.begun.wait()
    dead.cancel()
    await asyncio.gather(dead, return_exceptions=True)

    shop = Shop(databases[1])
    with pytest.raises(Conflict, match=OTHER_BODY):
        await order(shop, keyed(item="chair"))
    calls = [asyncio.create_task(order(shop, keyed(), databases[number % 3])) for number in range(9)]
    await let_claims_lapse(databases[0])
    receipts = await asyncio.gather(*calls)
    assert Counter(receipt.number for receipt in receipts) == {1: 9}


async def claimed_until(database: Database) -> datetime:
    row = await database.row("select claimed_until from idempotency_keys")
    assert row is not None
    until: datetime = row["claimed_until"]
    return until


async def let_claims_lapse(database: Database) -> None:
    await database.execute("update idempotency_keys set claimed_until = now() - interval '1 second'")


async def _do_nothing(*_: object) -> None: ...


async def test_a_call_that_lost_its_claim_stores_nothing(database: Database) -> None:
    slow, quick = Shop(database, held=True), Shop(database)
    quick.worked = 41
    late = asyncio.create_task(order(slow, keyed()))
    await slow.begun.wait()
    await let_claims_lapse(database)
    assert (await order(quick, keyed())).number == 42
    slow.released.set()
    with pytest.raises(Conflict, match=STILL_RUNNING):
        await late
    assert (await order(slow, keyed())).number == 42
