"""What is counted of requests and runs, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest

from quarry.models.interface import Prices, Usage
from quarry.platform.budget import Budget
from quarry.platform.errors import NotFound
from quarry.platform.metrics import (
    Metrics,
)
from quarry.postgres.pool import Database
from quarry.runs.run_log import Run, RunLog

NOWHERE = "postgresql://127.0.0.1:1/none"


@pytest.mark.parametrize(
    ("prices", "cost"), [(Prices(0.15, 0.6), {"ModelCost": [pytest.approx(0.00045)]}), (Prices(0.15, None), {})]
)
async def test_a_run_is_counted_for_its_domain_also_where_it_fails_and_cannot_be_written(
    prices: Prices, cost: dict[str, Any]
) -> None:
    metrics = Metrics()
    log = RunLog(Database(NOWHERE, pool_size=1, timeout_seconds=1), metrics, prices)
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
