"""How good search is without a chat model, on the judged queries over the sample data.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from quarry.campaigns.contract import ChatRequest, FinalAnswerEvent
from quarry.campaigns.search import chat_about_campaigns
from quarry.local.data import sample_directory
from quarry.people.contract import PeopleSearchRequest
from quarry.people.search import search_people
from quarry.platform.settings import Settings
from quarry.services.services import Caller, Services, build_services
from quarry_tools.evaluable import EVALUATING_USER
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.outcomes import summarise
from tests.conftest import clone_database

FLOORS = {
    "campaigns": {"count": 0.95, "offers": 0.58, "field": 0.8, "filter": 0.75, "words": 0.78, "theme": 0.67},
    "companies": {
        "name": 1.0,
        "similar_to": 0.9,
        "sector": 0.89,
        "niche": 0.97,
        "multi_constraint": 0.85,
        "vague": 0.69,
        "typo": 0.98,
        "no_answer": 0.95,
    },
    "ontology": {"keyword": 0.97, "typo": 0.91, "question": 0.80},
    "people": {
        "skill": 0.95,
        "role_place": 0.95,
        "company_team": 0.9,
        "dates": 0.95,
        "salary_availability": 0.9,
        "exclusion": 0.62,
        "vague": 0.39,
        # Those who are there stand before those who do what was asked for elsewhere, whom the judgements prefer.
        "no_answer": 0.02,
    },
}
MISSING_MAX = 0.5


@pytest.fixture(scope="module")
def url(server_url: str, sample_template: str) -> Iterator[str]:
    with clone_database(server_url, sample_template) as url:
        yield url


@pytest.fixture
async def services(url: str) -> AsyncIterator[Services]:
    """Over sample data of their own: a people search is charged."""
    services = build_services(Settings.from_environment({"DATABASE_URL": url}))
    yield services
    await services.close()


def judged(domain: str) -> list[JudgedQuery]:
    return read_judged(sample_directory() / domain / "judged.jsonl")


def said(query: JudgedQuery, name: str) -> object:
    return (query.model_extra or {}).get(name)


@pytest.mark.parametrize("domain", FLOORS)
async def test_search_stays_above_its_floors_finds_nobody_ruled_out_and_no_part_of_it_fails(
    services: Services, domain: str
) -> None:
    # of the longest every other query: `quarry eval` measures them all
    outcomes = await run_queries(judged(domain)[:: 2 if domain in ("campaigns", "companies") else 1], services)
    assert [outcome.query.id for outcome in outcomes if outcome.results.degraded] == []
    for outcome in outcomes:
        never = said(outcome.query, "never") or []
        assert isinstance(never, list)
        assert not {*outcome.results.keys} & {*never}, outcome.query.id
    scores = {summary.kind: summary.measures["ndcg"] for summary in summarise(outcomes)}
    assert {kind: scores[kind] for kind, floor in FLOORS[domain].items() if scores[kind] < floor} == {}


async def test_what_no_person_meets_is_relaxed(services: Services) -> None:
    expected = [
        (query, tier) for query in judged("people") if isinstance(tier := said(query, "expect_tier_above"), int)
    ]
    assert expected
    for query, tier in expected:
        found = await search_people(PeopleSearchRequest(query=query.query), Caller(EVALUATING_USER), services)
        assert found.fallback_tier > tier, query.id


async def test_most_answers_about_campaigns_give_the_facts_that_were_asked_for(services: Services) -> None:
    asked = [query for query in judged("campaigns") if query.answer_mentions]
    missing = []
    for query in asked:
        events = chat_about_campaigns(ChatRequest(message=query.query), Caller("quality"), services)
        [answer] = [event.data.response async for event in events if isinstance(event, FinalAnswerEvent)]
        if any(fact not in answer for fact in query.answer_mentions):
            missing.append(query.id)
    assert len(missing) / len(asked) <= MISSING_MAX, missing
