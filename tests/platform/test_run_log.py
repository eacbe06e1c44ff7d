from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing

import pytest

from quarry.models.interface import Usage
from quarry.platform.budget import Budget
from quarry.platform.errors import NotFound
from quarry.postgres import pool
from quarry.postgres.pool import Connection, Database, Query
from quarry.runs import run_log
from quarry.runs.run_log import ResultRecord, Run, RunLog, recent_runs, whole_run


@pytest.fixture
async def database(shared_url: str) -> AsyncIterator[Database]:
    """A database without runs: the module's own, emptied after each test."""
    database = Database(shared_url, pool_size=2, timeout_seconds=5)
    yield database
    await database.execute("truncate search_runs cascade")
    await database.close()


@pytest.fixture
def log(database: Database) -> RunLog:
    return RunLog(database)


def make_run(query: str = "parks") -> Run:
    return Run("records", "demo", query, Budget(5, 5, 30.0, 1000), chat=None, request_id="request-1")


async def search(log: RunLog, run: Run) -> AsyncGenerator[str]:
    """A search as the domains write them."""
    with log.record(run), run.step("search") as step:
        step.counts["rows"] = 2
        yield "first"
        await asyncio.sleep(60)
        yield "never"


async def written(log: RunLog, database: Database, run: Run) -> dict[str, object]:
    await log.drain()
    return await whole_run(database, str(run.id))


async def test_a_completed_run_is_written_with_its_steps_and_results(log: RunLog, database: Database) -> None:
    run = make_run("new parks “ö”")
    with log.record(run):
        with run.step("plan") as step:
            step.usage = Usage(7, 3)
            step.counts["variants"] = 4
        with run.step("rerank") as step:
            step.usage += Usage(2, 1)
            run.degrade("rerank", step)
        run.results = [ResultRecord("motion", "m2", 0.5), ResultRecord("matter", "m1", 0.25)]
        run.end_reason = "answered"
    row = await written(log, database, run)
    assert (row["status"], row["end_reason"], row["query"], row["caller"], row["domain"], row["request_id"]) == (
        "completed", "answered", "new parks “ö”", "demo", "records", "request-1",
    )  # fmt: skip
    assert (row["prompt_tokens"], row["completion_tokens"], row["degraded_steps"]) == (9, 4, ["rerank"])
    steps = row["steps"]
    assert isinstance(steps, list)
    assert [(step["step_number"], step["name"], step["status"], step["counts"]) for step in steps] == [
        (1, "plan", "completed", {"variants": 4}),
        (2, "rerank", "degraded", {}),
    ]
    assert row["results"] == [
        {"rank": 1, "result_type": "motion", "result_id": "m2", "score": 0.5},
        {"rank": 2, "result_type": "matter", "result_id": "m1", "score": 0.25},
    ]


async def test_a_run_without_steps_and_results_is_written_too(log: RunLog, database: Database) -> None:
    run = make_run()
    with log.record(run):
        pass
    row = await written(log, database, run)
    assert (row["status"], row["steps"], row["results"]) == ("completed", [], [])


async def test_a_run_that_lasts_is_there_before_it_ends(
    log: RunLog, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_log, "BEGUN_SECONDS", 0.0)
    run = make_run()
    run.session_id = "chat-1"
    with log.record(run):
        await asyncio.sleep(0.01)
        await log.drain()
        began = await whole_run(database, str(run.id))
        with run.step("search") as step:
            run.budget.spend_call()
            run.degrade("search", step, TimeoutError("what was asked"))
        run.iterations, run.end_reason = 2, "converged"
    await log.drain()
    ended = await whole_run(database, str(run.id))
    assert (began["status"], began["end_reason"], began["session_id"]) == ("running", "in_progress", "chat-1")
    assert (ended["status"], ended["end_reason"]) == ("completed", "converged")
    assert (ended["iteration_count"], ended["tool_call_count"]) == (2, 1)
    assert [(each["status"], each["reason"]) for each in ended["steps"]] == [("degraded", "TimeoutError")]


async def test_times_count_from_the_start_of_the_run() -> None:
    run = make_run()
    await asyncio.sleep(0.02)
    with run.step("one") as one:
        await asyncio.sleep(0.03)
    assert one.started_ms >= 20
    assert one.duration_ms >= 30
    assert one.started_ms + one.duration_ms <= run.elapsed_ms()


async def test_an_exception_closes_the_run_as_failed_and_goes_on(log: RunLog, database: Database) -> None:
    run = make_run()
    with pytest.raises(ZeroDivisionError), log.record(run), run.step("divide"):
        raise ZeroDivisionError
    row = await written(log, database, run)
    assert (row["status"], row["end_reason"]) == ("failed", "error")
    assert run.steps[0].status == "failed"


async def test_a_closed_generator_leaves_an_abandoned_run(log: RunLog, database: Database) -> None:
    run = make_run()
    async with aclosing(search(log, run)) as events:
        assert await anext(events) == "first"
    row = await written(log, database, run)
    assert (row["status"], row["end_reason"]) == ("abandoned", "abandoned")
    assert run.steps[0].counts == {"rows": 2}


async def test_a_cancelled_task_leaves_an_abandoned_run(log: RunLog, database: Database) -> None:
    run = make_run()

    async def read() -> list[str]:
        return [event async for event in search(log, run)]

    reading = asyncio.create_task(read())
    await asyncio.wait({reading}, timeout=0.02)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert (await written(log, database, run))["status"] == "abandoned"


async def test_a_generator_that_is_only_dropped_leaves_an_abandoned_run(log: RunLog, database: Database) -> None:
    run = make_run()
    events = search(log, run)
    await anext(events)
    del events
    await asyncio.sleep(0.01)
    assert (await written(log, database, run))["status"] == "abandoned"


def record(log: RunLog, number: int, *, results: int = 0) -> None:
    """A run that asked for its number."""
    run = make_run(f"query {number}")
    with log.record(run), run.step("search"):
        run.results = [ResultRecord("motion", f"m{rank}", 1 / rank) for rank in range(1, results + 1)]


async def recorded(database: Database) -> set[str]:
    return {row["query"] for row in await recent_runs(database, 1000)}


async def test_what_the_database_refuses_is_counted_and_never_fails_a_search(
    log: RunLog, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await database.execute("alter table search_run_steps add constraint broken check (false)")
    for number in range(3):
        record(log, number)
    await log.drain()
    await database.execute("alter table search_run_steps drop constraint broken")
    assert log.dropped == 3
    # one line for all of them, and half a run does not stay behind
    assert [line.getMessage() for line in caplog.records] == [
        "runs are not recorded, 1 since the start: CheckViolation"
    ]
    assert await recorded(database) == set()


async def test_a_run_that_cannot_be_written_leaves_the_others_of_its_batch_alone(
    log: RunLog, database: Database
) -> None:
    await database.execute("alter table search_runs add constraint broken check (query <> 'query 4')")
    for number in range(8):
        record(log, number)
    await log.drain()
    await database.execute("alter table search_runs drop constraint broken")
    assert log.dropped == 1
    assert await recorded(database) == {f"query {number}" for number in range(8) if number != 4}


async def test_an_unreachable_database_does_not_hold_drain_up() -> None:
    database = Database("postgresql://127.0.0.1:1/nothing", pool_size=1, timeout_seconds=1)
    log = RunLog(database)
    record(log, 1)
    started = time.perf_counter()
    await log.drain(0.1)
    assert time.perf_counter() - started < pool.CONNECT_TIMEOUT_SECONDS
    await log.close()
    assert log.dropped == 1
    await database.close()
    await log.drain()


async def test_runs_beyond_those_that_can_wait_are_dropped(
    log: RunLog, database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run_log, "PENDING_RUNS_MAX", 2)
    for number in range(4):
        record(log, number)
    assert log.dropped == 2
    assert "too many wait to be written" in caplog.text
    await log.drain()
    record(log, 5)
    await log.drain()
    assert await recorded(database) == {"query 0", "query 1", "query 5"}


async def test_runs_that_wait_are_written_together(
    log: RunLog, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    transactions = 0
    begin = Database.transaction

    def counted(self: Database, statement: Query | None = None) -> AbstractAsyncContextManager[Connection]:
        nonlocal transactions
        transactions += 1
        return begin(self, statement)

    monkeypatch.setattr(Database, "transaction", counted)
    for number in range(45):
        record(log, number, results=3)
    await log.drain()
    assert transactions == 3
    assert await database.rows("select count(*)::int as results from search_run_results") == [{"results": 135}]


@pytest.fixture
async def reserved(shared_url: str) -> AsyncIterator[Database]:
    """A database with one connection for searches, and others set aside."""
    database = Database(shared_url, pool_size=1, timeout_seconds=5, sets_aside=True)
    yield database
    await database.close()


async def test_a_locked_run_log_takes_no_connection_from_searches_and_is_written_again_once_free(
    reserved: Database, database: Database
) -> None:
    log = RunLog(reserved)

    async def search_and_record(number: int) -> None:
        await reserved.row("select 1")
        record(log, number)

    async with database.transaction() as operator:
        await operator.execute("lock table search_runs in access exclusive mode")
        await asyncio.gather(*(search_and_record(number) for number in range(10)))
        await until_blocked(reserved)
        # the only connection of searches is theirs, however long the writer waits
        await asyncio.gather(*(search_and_record(number) for number in range(10, 20)))
        await log.drain(30)
        assert log.dropped == 20
    record(log, 99)
    await log.drain()
    assert await recorded(database) == {"query 99"}
    assert log.dropped == 20


async def until_blocked(database: Database) -> None:
    """Until somebody waits for a lock on the run log."""
    waiting = "select count(*)::int as n from pg_locks where relation = 'search_runs'::regclass and not granted"
    for _ in range(1000):
        if await database.row(waiting) != {"n": 0}:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nobody waits")


async def test_closing_gives_up_on_a_locked_run_log_and_counts_what_is_lost(
    log: RunLog, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunLog.drain, "__defaults__", (0.1,))
    async with database.transaction() as operator:
        await operator.execute("lock table search_runs in access exclusive mode")
        for number in range(30):
            record(log, number)
        await log.close()
    assert log.dropped == 30
    assert await recorded(database) == set()


async def test_what_is_lost_is_told_no_oftener_than_once_in_a_while(
    log: RunLog, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run_log, "PENDING_RUNS_MAX", 0)
    for number in range(50):
        record(log, number)
    monkeypatch.setattr(run_log, "WARNING_PAUSE_SECONDS", 0.0)
    record(log, 50)
    assert [line.args[0] for line in caplog.records if isinstance(line.args, tuple)] == [1, 51]


async def test_many_runs_at_once_are_all_written(log: RunLog, database: Database) -> None:
    async def one(number: int) -> None:
        run = make_run(f"query {number}")
        with log.record(run), run.step("wait"):
            await asyncio.sleep(0)

    await asyncio.gather(*(one(number) for number in range(60)))
    await log.drain()
    assert {row["query"] for row in await recent_runs(database, 100)} == {f"query {number}" for number in range(60)}


async def test_recent_runs_are_the_newest_first(log: RunLog, database: Database) -> None:
    for query in ("one", "two", "three"):
        with log.record(make_run(query)):
            pass
    await log.drain()
    assert [row["query"] for row in await recent_runs(database, 2)] == ["three", "two"]


async def test_a_run_is_found_by_the_beginning_of_its_id(log: RunLog, database: Database) -> None:
    first, second = make_run("first"), make_run("second")
    first.id = uuid.UUID("aaaa1111-0000-4000-8000-000000000000")
    second.id = uuid.UUID("aaaa2222-0000-4000-8000-000000000000")
    for run in (first, second):
        with log.record(run):
            pass
    await log.drain()
    assert (await whole_run(database, "AAAA1"))["query"] == "first"
    assert (await whole_run(database, "aaaa2222-0000"))["query"] == "second"
    with pytest.raises(NotFound, match="more than one"):
        await whole_run(database, "aaaa")


@pytest.mark.parametrize("unknown", ["b", "zzz", "%", "_", "a%", "1111"])
async def test_what_begins_no_id_finds_no_run(log: RunLog, database: Database, unknown: str) -> None:
    run = make_run()
    run.id = uuid.UUID("aaaa1111-0000-4000-8000-000000000000")
    with log.record(run):
        pass
    await log.drain()
    with pytest.raises(NotFound, match="no run"):
        await whole_run(database, unknown)
