from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from quarry.models.interface import Usage
from quarry.platform.budget import Budget
from quarry.postgres.pool import Database
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


async def test_an_exception_closes_the_run_as_failed_and_goes_on(log: RunLog, database: Database) -> None:
    run = make_run()
    with pytest.raises(ZeroDivisionError), log.record(run), run.step("divide"):
        raise ZeroDivisionError
    row = await written(log, database, run)
    assert (row["status"], row["end_reason"]) == ("failed", "error")
    assert run.steps[0].status == "failed"


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
