"""How good companies search is without a chat model, on the judged queries over the sample data.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

import asyncio

import pytest

from quarry.local.sample import sample_directory
from quarry.platform.settings import Settings
from quarry.services.services import build_services
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import read_judged
from quarry_tools.outcomes import Outcome, Summary, summarise
from tests.conftest import clone_database

FLOORS = {
    "name": 1.0,
    "similar_to": 0.95,
    "sector": 0.9,
    "niche": 0.97,
    "multi_constraint": 0.85,
    "vague": 0.69,
    "typo": 0.98,
    "no_answer": 0.95,
}


@pytest.fixture(scope="module")
def outcomes(server_url: str, sample_template: str) -> list[Outcome]:
    queries = read_judged(sample_directory() / "companies" / "judged.jsonl")

    async def run(url: str) -> list[Outcome]:
        services = build_services(Settings.from_environment({"DATABASE_URL": url}))
        try:
            return await run_queries(queries, services)
        finally:
            await services.close()

    with clone_database(server_url, sample_template) as url:
        return asyncio.run(run(url))


@pytest.mark.parametrize(("kind", "floor"), FLOORS.items())
def test_search_stays_above_its_floor(outcomes: list[Outcome], kind: str, floor: float) -> None:
    assert _of_kind(outcomes, kind).ndcg >= floor


def test_no_part_of_the_search_fails_on_the_way(outcomes: list[Outcome]) -> None:
    assert [outcome.query.id for outcome in outcomes if outcome.found.degraded] == []


def _of_kind(outcomes: list[Outcome], kind: str) -> Summary:
    [summary] = [summary for summary in summarise(outcomes) if summary.kind == kind]
    return summary
