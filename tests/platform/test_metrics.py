"""What is counted of requests and runs, and how it is told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.responses import StreamingResponse

from quarry.models.interface import Prices, Usage
from quarry.platform.budget import Budget
from quarry.platform.errors import NotFound, Overloaded, PaymentRequired, QuarryError, RateLimited
from quarry.platform.metrics import (
    METRICS,
    Metrics,
)
from quarry.platform.settings import Settings
from quarry.postgres.pool import Database
from quarry.runs.run_log import Run, RunLog
from quarry.web.telemetry import Telemetry

NOWHERE = "postgresql://127.0.0.1:1/none"
REFUSALS: dict[str, QuarryError] = {
    "402": PaymentRequired("none left"),
    "429": RateLimited("too many"),
    "503": Overloaded("too much"),
    "404": NotFound("nothing"),
}

router = APIRouter()


@router.get("/refused/{status}")
async def refused(status: str) -> str:
    raise REFUSALS[status]


@router.get("/stream")
async def stream() -> StreamingResponse:
    async def events() -> AsyncIterator[bytes]:
        yield b"one\n"
        yield b"two\n"

    return StreamingResponse(events(), media_type="application/x-ndjson; charset=utf-8")


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


def test_cloudwatch_reads_them_from_the_log_with_bounded_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = Metrics()
    for metric in METRICS:
        for domain in ("records", "people") if metric.by_domain else (None,):
            metrics.count(metric, 2, domain=domain)
    Telemetry(Settings.from_environment({"AWS_LAMBDA_FUNCTION_NAME": "quarry-search"})).write(metrics.take())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_domain = {line.get("domain"): line for line in lines}
    assert by_domain.keys() == {None, "records", "people"}
    for domain, line in by_domain.items():
        [told] = line["_aws"]["CloudWatchMetrics"]
        assert told["Namespace"] == "Quarry"
        assert {*told["Dimensions"][0]} == {"function_name", "service"} | ({"domain"} if domain else set())
        assert (line["function_name"], line["service"]) == ("quarry-search", "quarry")
        assert {each["Name"]: each["Unit"] for each in told["Metrics"]} == {
            metric.name: metric.unit for metric in METRICS if metric.by_domain is bool(domain)
        }
        assert all(line[each["Name"]] == [2.0] for each in told["Metrics"])
