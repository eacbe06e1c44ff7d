"""How good the chat about campaigns is without a chat model, on the judged questions over the sample data.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

import pytest

from quarry.campaigns.contract import ChatRequest, FinalAnswerEvent
from quarry.campaigns.search import chat_about_campaigns
from quarry.local.sample import sample_directory
from quarry.services.services import Caller, Services
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.outcomes import summarise

FLOORS = {"count": 1.0, "offers": 1.0, "field": 1.0, "filter": 0.98, "words": 1.0, "theme": 0.75, "none": 1.0}

QUERIES = read_judged(sample_directory() / "campaigns" / "judged.jsonl")


async def test_search_stays_above_its_floors(sample_services: Services) -> None:
    summaries = {summary.kind: summary.ndcg for summary in summarise(await run_queries(QUERIES, sample_services))}
    for kind, floor in FLOORS.items():
        assert summaries[kind] >= floor, kind


@pytest.mark.parametrize("kind", ["count", "offers", "field"])
async def test_answers_tell_the_facts_that_were_asked_for(sample_services: Services, kind: str) -> None:
    for query in (query for query in QUERIES if query.kind == kind):
        answer = await _answer(query, sample_services)
        assert [fact for fact in query.answer_mentions if fact not in answer] == [], query.id


async def _answer(query: JudgedQuery, services: Services) -> str:
    events = chat_about_campaigns(ChatRequest(message=query.query), Caller("quality"), services)
    [answer] = [event.data async for event in events if isinstance(event, FinalAnswerEvent)]
    return answer.response
