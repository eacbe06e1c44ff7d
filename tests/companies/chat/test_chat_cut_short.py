"""Searches that end before they are finished: what was ranked until then is the answer, which says so."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.companies import gathering
from quarry.core.errors import DatabaseUnavailable
from tests.companies.chat.chatting import (
    SUMMARY,
    Events,
    asked_for,
    chat,
    critique,
    degraded,
    end_reason,
    final,
    found,
    offered,
    plan,
    playing,
    ranking,
    text_of,
)
from tests.conftest import client_of, model_environment
from tests.fakes.openai_server import Body, FakeOpenAI, Reply, schema_name

HANG = Reply.hang(30)
IN_A_HURRY = {"MODEL_TIMEOUT_SECONDS": "20", "COMPANY_MAX_SECONDS": "4"}
GO_ON = critique(decision="continue")


def is_cut_short(events: Events) -> bool:
    answer = final(events)
    assert text_of(events) == answer["content"]
    assert "No company here fits" not in answer["content"]
    return end_reason(events) == "guardrail_hit" and "cut short" in answer["content"]


def hurried(url: str, model: FakeOpenAI, **settings: str) -> Events:
    with client_of(url, **model_environment(model.url) | IN_A_HURRY | settings) as client:
        return chat(client)


@pytest.fixture
def first_two(model: FakeOpenAI) -> list[str]:
    """The ids that the model ranks first, filled by its first ranking, which goes against the order of the search."""
    return []


def ranks_backwards(ids: list[str]) -> Any:
    def part(body: Body) -> Body:
        ids[:] = offered(body)[1::-1]
        return ranking(*ids)

    return part


def test_a_model_that_hangs_at_everything_leaves_a_ranking_by_rule(chat_url: str, model: FakeOpenAI) -> None:
    model.respond = lambda body: HANG
    events = hurried(chat_url, model)
    assert is_cut_short(events)
    assert found(events)[0] == "c-uber-kitchen"
    assert degraded(events)[:2] == ["company_plan", "company_rerank"]
    assert len(model.chat_requests) <= 2  # the plan, and the summary in the time that was kept for it


@pytest.mark.parametrize("hanging", ["company_plan", "company_rerank"])
def test_a_model_that_hangs_later_leaves_its_own_first_ranking(
    chat_url: str, model: FakeOpenAI, first_two: list[str], hanging: str
) -> None:
    usual = playing(rankings=ranks_backwards(first_two), critiques=GO_ON)

    def respond(body: Body) -> Reply:
        again = len(asked_for(model.chat_requests, hanging)) > 1
        return HANG if again and schema_name(body) == hanging else usual(body)

    model.respond = respond
    events = hurried(chat_url, model)
    assert is_cut_short(events)
    assert found(events) == first_two
    assert final(events)["content"].startswith(SUMMARY)
    assert hanging in degraded(events)


def test_a_critique_that_hangs_leaves_the_ranking(chat_url: str, model: FakeOpenAI, first_two: list[str]) -> None:
    model.respond = playing(rankings=ranks_backwards(first_two), critiques=HANG)
    events = hurried(chat_url, model)
    assert is_cut_short(events)
    assert found(events) == first_two


def test_tokens_that_run_out_leave_the_ranking(chat_url: str, model: FakeOpenAI, first_two: list[str]) -> None:
    ranks = ranks_backwards(first_two)

    def dear(body: Body) -> Reply:
        made = Reply.json(ranks(body))
        return Reply(message=made.message, pieces=made.pieces, usage=(900, 500))

    model.respond = playing(rankings=dear)
    events = hurried(chat_url, model, COMPANY_MAX_TOKENS="1000")
    assert is_cut_short(events)
    assert found(events) == first_two
    assert asked_for(model.chat_requests, "company_critique") == []


def test_a_later_plan_that_nothing_meets_leaves_the_ranking(
    model_client: TestClient, model: FakeOpenAI, first_two: list[str]
) -> None:
    nothing = plan("another phrasing", filters={"niches": ["unicorn farming"], "nicheMode": "must_match"})
    model.respond = playing(plans=[plan(), nothing], rankings=ranks_backwards(first_two), critiques=[GO_ON, critique()])
    events = chat(model_client)
    assert found(events) == first_two
    assert final(events)["content"] == SUMMARY


class TestDatabaseFails:
    @pytest.fixture
    def fails(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        """Let a search of `gathering` fail from its call number `first` on."""

        def fail(name: str, *, first: int = 1) -> None:
            search, calls = getattr(gathering, name), iter(range(1, 100))

            async def failing(*arguments: Any, **options: Any) -> Any:
                if next(calls) >= first:
                    raise DatabaseUnavailable("The database took too long; try again, or ask for less.")
                return await search(*arguments, **options)

            monkeypatch.setattr(gathering, name, failing)

        return fail

    def test_after_a_ranking_this_is_the_answer(
        self, model_client: TestClient, model: FakeOpenAI, first_two: list[str], fails: Any
    ) -> None:
        fails("look_up", first=2)
        model.respond = playing(
            plans=[plan(), plan("quite another phrasing")], rankings=ranks_backwards(first_two), critiques=GO_ON
        )
        events = chat(model_client)
        assert is_cut_short(events)
        assert found(events) == first_two
        assert degraded(events) == ["company_search"]

    def test_where_one_search_fails_the_others_find(
        self, model_client: TestClient, model: FakeOpenAI, fails: Any
    ) -> None:
        fails("retrieve_variants")
        model.respond = playing(plans=plan(filters={"sectors": ["Food & Agriculture"]}))
        events = chat(model_client, "Food & Agriculture startups")
        assert is_cut_short(events)
        assert found(events)
        assert "company_search" in degraded(events)

    def test_where_nothing_is_known_the_stream_ends_in_an_error(
        self, model_client: TestClient, model: FakeOpenAI, fails: Any
    ) -> None:
        for name in ("retrieve_variants", "find_by_taxonomy", "match_names"):
            fails(name)
        model.respond = playing()
        events = chat(model_client)
        assert events[-1]["type"] == "error"
        assert "too long" in events[-1]["data"]["message"]


@pytest.mark.parametrize(
    "summary",
    [
        Reply.flood("Two companies "),
        Reply.text("", pieces=["Two "] * 1000, delay=0.1),
        Reply.hang(30, after_pieces=["Two companies "]),
        Reply.raw("{", "}"),
        Reply.http_error(429, retry_after=3600),
    ],
    ids=["flood", "drip", "hang", "garbage", "429"],
)
def test_whatever_the_summary_s_model_does_the_stream_ends_with_the_answer(
    chat_url: str, model: FakeOpenAI, first_two: list[str], summary: Reply
) -> None:
    model.respond = playing(rankings=ranks_backwards(first_two), summary=summary)
    events = hurried(chat_url, model, MODEL_ANSWER_TOKENS="100", MODEL_MAX_RETRIES="2")
    assert found(events) == first_two
    assert degraded(events) == ["company_summary"]
    assert text_of(events) == final(events)["content"]
    assert len(text_of(events)) < 10_000
