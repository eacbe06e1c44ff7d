"""How good the chat about campaigns is without a chat model, on the judged questions over the sample data.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

from quarry.campaigns.contract import ChatRequest, FinalAnswerEvent
from quarry.campaigns.search import chat_about_campaigns
from quarry.local.sample import sample_directory
from quarry.services.services import Caller, Services
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.outcomes import summarise

FLOORS = {"count": 0.95, "offers": 0.58, "field": 0.8, "filter": 0.75, "words": 0.78, "theme": 0.67}

MISSING_MAX = 0.5
QUERIES = read_judged(sample_directory() / "campaigns" / "judged.jsonl")


async def test_search_stays_above_its_floors(sample_services: Services) -> None:
    summaries = {summary.kind: summary.ndcg for summary in summarise(await run_queries(QUERIES, sample_services))}
    for kind, floor in FLOORS.items():
        assert summaries[kind] >= floor, kind


async def test_most_answers_give_the_facts_that_were_asked_for(sample_services: Services) -> None:
    judged = [query for query in QUERIES if query.answer_mentions]
    missing = [
        query.id
        for query in judged
        for answer in [await _answer(query, sample_services)]
        if any(fact not in answer for fact in query.answer_mentions)
    ]
    assert len(missing) / len(judged) <= MISSING_MAX, missing


async def _answer(query: JudgedQuery, services: Services) -> str:
    events = chat_about_campaigns(ChatRequest(message=query.query), Caller("quality"), services)
    [answer] = [event.data async for event in events if isinstance(event, FinalAnswerEvent)]
    return answer.response
