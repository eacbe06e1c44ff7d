"""How good records search is without a chat model, on the judged questions over the sample data.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pytest

from quarry.language.word_forms import sentences
from quarry.local.data import sample_directory
from quarry.platform.settings import Settings
from quarry.records.answer import answer_question
from quarry.records.contract import AnswerChunkEvent, AskRequest, SearchRequest
from quarry.records.passages import NOTHING_NEAR, NOTHING_THEN
from quarry.records.search import search_records
from quarry.services.services import Caller, Services, build_services
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.measures import mentioned, ndcg
from tests.conftest import clone_database

ASKED = Path(__file__).with_name("asked_of_records.jsonl")
"""Questions with the facts of a right answer, or `answerable: false`, written before any answer was looked at."""


@dataclass(frozen=True)
class Answered:
    """A judged question, the keys of its ranked list and the text of its answer."""

    query: JudgedQuery
    keys: list[str]
    answer: str


@pytest.fixture(scope="module")
def judged(server_url: str, sample_template: str) -> list[Answered]:
    queries = read_judged(sample_directory() / "records" / "judged.jsonl")
    # as many as half of all are of that kind; `quarry eval` measures them
    queries = [each for number, each in enumerate(queries) if each.kind != "question" or number % 2 == 0]
    with clone_database(server_url, sample_template) as url:
        return asyncio.run(_ask_all(url, queries))


async def _ask_all(url: str, queries: list[JudgedQuery]) -> list[Answered]:
    services = build_services(Settings.from_environment({"DATABASE_URL": url}))
    answered = []
    for query in queries:
        response = await search_records(SearchRequest(q=query.query), Caller("quality"), services)
        keys = [f"{result.type}:{result.id}" for result in response.results]
        answered.append(Answered(query, keys, await _answer(query.query, services)))
    await services.close()
    return answered


async def _answer(question: str, services: Services) -> str:
    events = answer_question(AskRequest(question=question), Caller("quality"), services)
    return "".join([event.chunk async for event in events if isinstance(event, AnswerChunkEvent)])


def _declines(answer: str) -> bool:
    """Whether an answer says that no record is about the question."""
    return answer.startswith((NOTHING_NEAR, NOTHING_THEN))


@pytest.mark.parametrize(
    ("kind", "ndcg_floor", "mentions_floor"),
    [
        ("keyword", 0.70, 0.80),
        ("question", 0.34, 0.36),
        ("person", 0.45, 0.48),
        ("vague", 0.41, 0.65),
        ("typo", 0.44, 0.58),
    ],
)
def test_search_and_answers_stay_above_their_floor(
    judged: list[Answered], kind: str, ndcg_floor: float, mentions_floor: float
) -> None:
    asked = [each for each in judged if each.query.relevant and each.query.kind == kind]
    assert mean(ndcg(each.keys, each.query.relevant) for each in asked) >= ndcg_floor
    assert mean(mentioned(each.answer, each.query.answer_mentions) for each in asked) >= mentions_floor


async def test_answers_begin_with_the_fact_that_is_asked_for_and_what_is_not_there_is_declined(
    sample_services: Services,
) -> None:
    asked = [json.loads(line) for line in ASKED.read_text(encoding="utf-8").splitlines()[::2]]
    first, whole = list[float](), list[float]()
    wrongly, declined = list[bool](), list[bool]()
    for each in asked:
        answer = await _answer(each["query"], sample_services)
        if facts := each.get("answer_mentions"):
            said = answer.split("\n")
            opening = " ".join([part for line in said for part in sentences(line)][:2])
            first.append(mentioned(opening, facts))
            whole.append(mentioned(answer, facts))
            wrongly.append(_declines(answer))
        else:
            declined.append(_declines(answer))
    assert mean(first) >= 0.64
    assert mean(whole) >= 0.85
    assert mean(wrongly) <= 0.05
    assert mean(declined) >= 0.55


async def test_answers_begin_with_what_is_missing_where_it_is(
    judged: list[Answered], sample_services: Services
) -> None:
    told: dict[tuple[str, bool], list[bool]] = defaultdict(list)

    def note(name: str, query: JudgedQuery, answer: str) -> None:
        told[name, bool(query.answerable)].append(_declines(answer) or "Not read:" in answer)

    for each in judged:
        note("judged", each.query, each.answer)
    # every fourth one: all of them take longer than the rest of this file, and `quarry eval` measures them
    for query in read_judged(sample_directory() / "records" / "near_misses.jsonl")[::4]:
        note("near_misses", query, await _answer(query.query, sample_services))
    assert mean(told["near_misses", False]) >= 0.8
    assert mean(told["judged", False]) >= 0.28
    assert mean([*told["judged", True], *told["near_misses", True]]) <= 0.2
