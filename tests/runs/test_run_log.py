from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from quarry.models.interface import Prices, Usage
from quarry.platform.budget import Budget
from quarry.platform.errors import NotFound
from quarry.platform.telemetry import Metrics
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


async def test_a_run_that_lasts_is_there_before_it_ends(
    log: RunLog, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_log, "BEGUN_SECONDS", 0.0)
    monkeypatch.setattr(run_log, "RENEWED_SECONDS", 0.02)
    run = make_run()
    run.session_id = "chat-1"
    with log.record(run):
        await asyncio.sleep(0.01)
        await log.drain()
        began = await whole_run(database, str(run.id))
        with run.step("reading"):
            pass
        with run.step("counting"):
            await asyncio.sleep(0.1)
            await log.drain()
            going = await whole_run(database, str(run.id))
        with run.step("search") as step:
            run.budget.spend_call()
            run.degrade("search", step, TimeoutError("what was asked"))
        run.iterations, run.end_reason = 2, "converged"
    await log.drain()
    ended = await whole_run(database, str(run.id))
    assert (began["status"], began["end_reason"], began["session_id"]) == ("running", "in_progress", "chat-1")
    assert (ended["status"], ended["end_reason"]) == ("completed", "converged")
    assert (ended["iteration_count"], ended["tool_call_count"]) == (2, 1)
    assert ([each["name"] for each in began["steps"]], [each["name"] for each in going["steps"]]) == ([], ["reading"])
    steps = [(each["name"], each["status"], each["reason"]) for each in ended["steps"]]
    assert steps == [
        ("reading", "completed", None), ("counting", "completed", None), ("search", "degraded", "TimeoutError"),
    ]  # fmt: skip


async def test_what_the_database_refuses_is_counted_and_never_fails_a_search(
    log: RunLog, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await database.execute("alter table search_run_steps add constraint broken check (false)")
    for number in range(3):
        run = make_run(f"query {number}")
        with log.record(run), run.step("search"):
            run.results = [ResultRecord("motion", "m1", 1.0)]
    await log.drain()
    await database.execute("alter table search_run_steps drop constraint broken")
    assert log.dropped == 3
    # one line for all of them, and half a run does not stay behind
    assert [line.getMessage() for line in caplog.records] == [
        "runs are not recorded, 1 since the start: CheckViolation"
    ]
    assert await recent_runs(database, 1000) == []


@pytest.mark.parametrize(
    ("prices", "cost"), [(Prices(0.15, 0.6), {"ModelCost": [pytest.approx(0.00045)]}), (Prices(0.15, None), {})]
)
async def test_a_run_is_counted_for_its_domain_also_where_it_fails_and_cannot_be_written(
    prices: Prices, cost: dict[str, Any]
) -> None:
    metrics = Metrics()
    log = RunLog(Database("postgresql://127.0.0.1:1/none", pool_size=1, timeout_seconds=1), metrics, prices)
    run = Run("people", "demo", "a secret question", Budget(5, 5, 30.0, 1000), chat=None)

    def search() -> None:
        for usage in (Usage(900, 300), Usage(100, 200)):
            with run.step("reading") as step:
                step.usage = usage
        run.degrade("reading")
        raise NotFound("nothing")

    with pytest.raises(NotFound), log.record(run):
        search()
    counts = {domain: {metric.name: each for metric, each in by.items()} for domain, by in metrics.take().items()}
    assert counts == {
        "people": {"Searches": [1], "DegradedSteps": [1], "PromptTokens": [1000], "CompletionTokens": [500]} | cost,
        None: {"Searches": [1]} | cost,
    }
