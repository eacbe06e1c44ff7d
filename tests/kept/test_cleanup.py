from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

import pytest

from quarry import catalog
from quarry.platform.tables import ExpiringTable
from quarry.postgres.pool import Database
from quarry.runs import run_log
from quarry.runs.run_log import delete_expired

TABLES: Sequence[ExpiringTable] = catalog.EXPIRING
ANSWERS = [table for table in TABLES if table.label == "answers"]


@pytest.fixture
async def database(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """The module's own database, emptied after each test, and batches of ten rows."""
    monkeypatch.setattr(run_log, "BATCH_ROWS", 10)
    database = Database(shared_url, pool_size=4, timeout_seconds=60)
    yield database
    await database.execute("truncate answer_cache, rate_windows, search_runs cascade")
    await database.close()


async def add_answers(database: Database, ids: Iterable[int], *, expires_in: str) -> None:
    await database.execute(
        """insert into answer_cache (id, query, answer, sources, source_count, confidence, expires_at)
           select n::text, 'q', 'a', '[]', 0, 'low', now() + %s::interval from unnest(%s::int[]) n""",
        [expires_in, list(ids)],
    )


async def remaining(database: Database) -> int:
    row = await database.row("select count(*) as answers from answer_cache")
    assert row is not None
    return int(row["answers"])


async def test_what_has_expired_goes_and_what_has_not_stays(database: Database) -> None:
    await add_answers(database, range(25), expires_in="-1 second")
    await add_answers(database, range(100, 103), expires_in="1 minute")
    assert (await delete_expired(database, TABLES, run_log_days=90))["answers"] == 25
    assert await remaining(database) == 3
    assert (await delete_expired(database, TABLES, run_log_days=90))["answers"] == 0


async def test_runs_live_for_the_given_days_and_take_their_steps_along(database: Database) -> None:
    await database.execute(
        """with runs as (
             insert into search_runs (id, domain, caller, query, status, started_at, duration_ms)
             select gen_random_uuid(), 'records', 'demo', 'q', 'completed', now() - n * interval '1 day', 1
             from generate_series(1, 9) n returning id)
           insert into search_run_steps (run_id, step_number, name, status, started_ms, duration_ms)
           select id, 1, 'search', 'completed', 0, 1 from runs"""
    )
    assert (await delete_expired(database, TABLES, run_log_days=5))["runs"] == 5
    assert await database.row("select count(*) as steps from search_run_steps") == {"steps": 4}


async def test_two_cleanups_at_once_share_the_work(database: Database) -> None:
    await add_answers(database, range(400), expires_in="-1 second")
    await add_answers(database, [1000], expires_in="1 minute")
    counts = await asyncio.gather(*(delete_expired(database, ANSWERS, run_log_days=90) for _ in range(3)))
    while await remaining(database) > 1:
        # a cleanup that found all that is left locked by another has ended early
        counts.append(await delete_expired(database, ANSWERS, run_log_days=90))
    assert sum(count["answers"] for count in counts) == 400
