from __future__ import annotations

import asyncio

from quarry.platform.errors import DatabaseUnavailable
from quarry.platform.renewal import renewed


async def test_a_lease_is_renewed_until_the_end_of_the_block_also_after_a_failure() -> None:
    calls, enough = 0, asyncio.Event()

    async def renew() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            enough.set()
        raise DatabaseUnavailable

    async with renewed(renew, seconds=0):
        await enough.wait()
    last = calls
    await asyncio.sleep(0)
    assert calls == last


async def test_a_renewal_that_has_begun_is_waited_for() -> None:
    begun, finished = asyncio.Event(), False

    async def renew() -> None:
        nonlocal finished
        begun.set()
        await asyncio.sleep(0)
        finished = True

    async with renewed(renew, seconds=0):
        await begun.wait()
    assert finished
