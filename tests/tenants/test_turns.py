"""Work that nobody waits for goes round the tenants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import cast

import pytest

from quarry.collections.collection import Collection
from quarry.local import server
from quarry.postgres.pool import Database
from quarry.services.services import Services
from quarry.web.lambda_app import LambdaContext, in_turns
from tests.functions.conftest import Context
from tests.tenants.conftest import CLAIM


async def pause() -> None:
    await asyncio.sleep(0.02)


async def test_a_tenant_with_endless_work_leaves_turns_to_the_others(
    tenants_url: str, make_services: Callable[..., Services], monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = list[str]()

    async def keep_in_step(
        database: Database, _: Collection, *, keep_going: Callable[[], bool], rows_max: int
    ) -> dict[str, object]:
        turns.append(database.schema)
        while database.schema == "acme" and keep_going():
            await pause()
        return {"tickets": None} if database.schema == "acme" else {}

    monkeypatch.setattr(server, "keep_in_step", keep_in_step)
    monkeypatch.setattr(server, "TURN_SECONDS", 0.05)
    keeping = asyncio.create_task(server.keep(make_services(tenants_url, TENANT_CLAIM=CLAIM)))
    try:
        async with asyncio.timeout(30):
            while not (turns.count("globex") >= 2 and turns.count("acme") >= 2 and "quarry" in turns):
                await pause()
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


def test_what_is_left_of_the_time_is_shared_evenly() -> None:
    context = Context(10_000)
    spent = dict[str, int]()
    for name, keep_going in in_turns(["large", "small", "last"], cast("LambdaContext", context), 1_000):
        before = context.remaining_ms
        while keep_going() and not (name == "small" and before - context.remaining_ms >= 500):
            context.remaining_ms -= 100
        spent[name] = before - context.remaining_ms
    assert spent == {"large": 3_000, "small": 500, "last": 5_500}
