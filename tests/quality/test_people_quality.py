"""How good people search is without a chat model, on the judged queries over the sample data.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from quarry.local.sample import sample_directory
from quarry.people.contract import PeopleSearchRequest
from quarry.people.search import search_people
from quarry.platform.settings import Settings
from quarry.services.services import Caller, build_services
from quarry_tools.evaluable import EVALUATING_USER
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.outcomes import Outcome, Summary, summarise
from tests.conftest import clone_database

FLOORS = {
    "skill": 0.95,
    "role_place": 0.95,
    "company_team": 0.9,
    "dates": 0.95,
    "salary_availability": 0.9,
    "exclusion": 0.62,
    "vague": 0.39,
    # Those who are there stand before those who do what was asked for elsewhere, whom the judgements prefer.
    "no_answer": 0.02,
}

QUERIES = read_judged(sample_directory() / "people" / "judged.jsonl")


def _said(query: JudgedQuery, name: str) -> object:
    return (query.model_extra or {}).get(name)


WITH_FORBIDDEN = [pytest.param(query, id=query.id) for query in QUERIES if _said(query, "never")]


@dataclass(frozen=True)
class Measured:
    """What the queries found, and the tiers of those that say which to expect, by id."""

    outcomes: list[Outcome]
    tiers: dict[str, int]

    def of_kind(self, kind: str) -> Summary:
        [summary] = [summary for summary in summarise(self.outcomes) if summary.kind == kind]
        return summary

    def found(self, query: JudgedQuery) -> list[str]:
        [outcome] = [outcome for outcome in self.outcomes if outcome.query.id == query.id]
        return list(outcome.found.keys)


@pytest.fixture(scope="module")
def measured(server_url: str, sample_template: str) -> Measured:
    async def run(url: str) -> Measured:
        services = build_services(Settings.from_environment({"DATABASE_URL": url}))
        try:
            outcomes = await run_queries(QUERIES, services)
            tiers = {
                query.id: (
                    await search_people(PeopleSearchRequest(query=query.query), Caller(EVALUATING_USER), services)
                ).fallback_tier
                for query in QUERIES
                if _said(query, "expect_tier_above") is not None
            }
            return Measured(outcomes, tiers)
        finally:
            await services.close()

    with clone_database(server_url, sample_template) as url:
        return asyncio.run(run(url))


@pytest.mark.parametrize(("kind", "floor"), FLOORS.items())
def test_search_stays_above_its_floor(measured: Measured, kind: str, floor: float) -> None:
    assert measured.of_kind(kind).ndcg >= floor


def test_every_kind_has_a_floor() -> None:
    assert {query.kind for query in QUERIES} == FLOORS.keys()


@pytest.mark.parametrize("query", WITH_FORBIDDEN)
def test_nobody_is_found_whom_the_query_rules_out(measured: Measured, query: JudgedQuery) -> None:
    ruled_out = _said(query, "never")
    assert isinstance(ruled_out, list)
    assert [person for person in measured.found(query) if person in ruled_out] == []


def test_what_nobody_meets_is_relaxed(measured: Measured) -> None:
    expected = {query.id: tier for query in QUERIES if isinstance(tier := _said(query, "expect_tier_above"), int)}
    assert expected
    assert [id for id, tier in expected.items() if measured.tiers[id] <= tier] == []


def test_no_part_of_the_search_fails_on_the_way(measured: Measured) -> None:
    assert [outcome.query.id for outcome in measured.outcomes if outcome.found.degraded] == []
