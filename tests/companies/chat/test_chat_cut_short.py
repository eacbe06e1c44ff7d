"""Searches that end before they are finished: what was ranked until then is the answer, which says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.companies import retrieval, rounds, search
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable
from quarry.platform.settings import Settings
from tests.companies.chat.chatting import (
    LED,
    SUMMARY,
    UNSURE,
    Events,
    asked_for,
    chat,
    critique,
    degraded,
    end_reason,
    final,
    found,
    offered,
    playing,
    ranking,
    text_of,
)
from tests.conftest import client_of, model_environment
from tests.fakes.openai_server import Body, FakeOpenAI, Reply, schema_name
from tests.waiting import PATIENCE_SECONDS, FakeClock

UNHURRIED = {"MODEL_TIMEOUT_SECONDS": "60"}
FOR_WORK = 45.0
"""Of the 60 seconds of a search, those before the answer must be begun."""
GO_ON = critique(decision="continue")


def is_cut_short(events: Events) -> bool:
    content = final(events)["content"]
    assert text_of(events) == content
    assert "No company here fits" not in content
    return end_reason(events) == "guardrail_hit" and "cut short" in content


@pytest.fixture
def patient_client(shared_sample_url: str, model: FakeOpenAI) -> Iterator[TestClient]:
    with client_of(shared_sample_url, **model_environment(model.url) | UNHURRIED) as client:
        yield client


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The time of the searches, which passes when the test says so."""
    clock, make = FakeClock(), rounds.budget_of
    monkeypatch.setattr(search, "budget_of", lambda settings: replace(make(settings), clock=clock))
    return clock


def timing_out(clock: FakeClock, seconds: float = FOR_WORK) -> Reply:
    """A reply that fails after `seconds` of the search have passed."""
    clock.now += seconds
    return Reply.http_error(500)


@pytest.fixture
def first_two(model: FakeOpenAI) -> list[str]:
    """The ids that the model ranks first, filled by its first ranking, which goes against the order of the search."""
    return []


def ranks_backwards(ids: list[str]) -> Any:
    def part(body: Body) -> Body:
        ids[:] = offered(body)[1::-1]
        return ranking(*ids, confidence=UNSURE)

    return part


def test_a_model_that_hangs_later_leaves_its_own_first_ranking(
    patient_client: TestClient, model: FakeOpenAI, clock: FakeClock, first_two: list[str]
) -> None:
    usual = playing(rankings=ranks_backwards(first_two), critiques=GO_ON)

    def respond(body: Body) -> Reply:
        return timing_out(clock) if schema_name(body) == "company_plan" else usual(body)

    model.respond = respond
    events = chat(patient_client)
    assert is_cut_short(events)
    assert found(events) == first_two
    assert final(events)["content"].startswith(SUMMARY)
    assert "company_plan" in degraded(events)


def test_tokens_that_run_out_leave_the_ranking(shared_sample_url: str, model: FakeOpenAI, first_two: list[str]) -> None:
    ranks = ranks_backwards(first_two)

    def dear(body: Body) -> Reply:
        made = Reply.json(ranks(body))
        return Reply(message=made.message, pieces=made.pieces, usage=(900, 500))

    model.respond = playing(rankings=dear)
    with client_of(shared_sample_url, **model_environment(model.url) | UNHURRIED, COMPANY_MAX_TOKENS="1000") as client:
        events = chat(client)
    assert is_cut_short(events)
    assert found(events) == first_two
    assert asked_for(model.chat_requests, "company_critique") == []


def test_a_statement_that_goes_on_when_time_is_up_ends_the_stream_in_an_error(
    shared_sample_url: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = rounds.budget_of

    def begun_long_ago(settings: Settings) -> Budget:
        budget = replace(make(settings), clock=clock)
        clock.now += 59.9
        return budget

    async def never(*arguments: Any, **options: Any) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.Event().wait()

    monkeypatch.setattr(search, "budget_of", begun_long_ago)
    monkeypatch.setattr(retrieval, "find_names", never)
    with client_of(shared_sample_url, DATABASE_TIMEOUT_SECONDS="1") as client:
        events = chat(client, "Tidewage")
    assert events[-1]["type"] == "error"
    assert "out of time" in events[-1]["data"]["message"]


class TestDatabaseFails:
    @pytest.fixture
    def fails(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        """Let a search of the module `of` fail from its call number `first` on."""

        def fail(name: str, *, first: int = 1, of: ModuleType = retrieval) -> None:
            look, calls = getattr(of, name), iter(range(1, 100))

            async def failing(*arguments: Any, **options: Any) -> Any:
                if next(calls) >= first:
                    raise DatabaseUnavailable("The database took too long; try again, or ask for less.")
                return await look(*arguments, **options)

            monkeypatch.setattr(of, name, failing)

        return fail

    def test_after_a_ranking_this_is_the_answer(
        self, patient_client: TestClient, model: FakeOpenAI, first_two: list[str], fails: Any
    ) -> None:
        fails("look_up", first=2, of=rounds)
        model.respond = playing(
            rankings=ranks_backwards(first_two), critiques=critique("quite another phrasing", decision="continue")
        )
        events = chat(patient_client)
        assert is_cut_short(events)
        assert found(events) == first_two
        assert degraded(events) == ["company_search"]

    def test_where_nothing_is_known_the_stream_ends_in_an_error(
        self, patient_client: TestClient, model: FakeOpenAI, fails: Any
    ) -> None:
        for name in ("retrieve_variants", "find_by_taxonomy", "match_names"):
            fails(name)
        model.respond = playing()
        events = chat(patient_client)
        assert events[-1]["type"] == "error"
        assert "too long" in events[-1]["data"]["message"]


def test_a_summary_without_end_is_cut_and_the_stream_ends_with_the_answer(
    shared_sample_url: str, model: FakeOpenAI, first_two: list[str]
) -> None:
    model.respond = playing(rankings=ranks_backwards(first_two), summary=Reply.flood("Two companies "))
    settings = {"MODEL_TIMEOUT_SECONDS": "5", "MODEL_ANSWER_TOKENS": "100", "MODEL_MAX_RETRIES": "2"}
    with client_of(shared_sample_url, **model_environment(model.url) | settings) as client:
        events = chat(client)
    assert found(events) == first_two
    assert degraded(events) == [LED]
    assert text_of(events) == final(events)["content"]
    assert len(text_of(events)) < 10_000
