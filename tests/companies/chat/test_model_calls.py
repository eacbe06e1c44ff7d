"""How often a search asks the model, and when it need not ask again."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from quarry.companies import planning
from tests.companies.chat.chatting import QUESTION, asked_for, chat, found, playing, ranking, steps_asked
from tests.fakes.openai_server import FakeOpenAI

UNMET = "Something that helps restaurants, in Antofagasta"


def test_an_ordinary_search_asks_three_times(model_client: TestClient, model: FakeOpenAI) -> None:
    model.respond = playing()
    assert found(chat(model_client))
    assert steps_asked(model) == ["company_plan", "company_rerank", "company_summary"]


def test_where_nothing_is_found_it_asks_for_plans_and_the_text(model_client: TestClient, model: FakeOpenAI) -> None:
    model.respond = playing()
    assert found(chat(model_client, UNMET)) == []
    assert set(steps_asked(model)) == {"company_plan", "company_summary"}


class TestKeptPlans:
    @pytest.fixture(autouse=True)
    def _plans_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(planning, "PLANS_KEPT_MAX", 2)
        planning._kept.clear()

    def test_an_equal_question_gets_the_equal_plan(self, model_client: TestClient, model: FakeOpenAI) -> None:
        model.respond = playing()
        first = found(chat(model_client))
        assert found(chat(model_client)) == first
        assert len(asked_for(model.chat_requests, "company_plan")) == 1

    def test_another_conversation_is_another_question(self, model_client: TestClient, model: FakeOpenAI) -> None:
        model.respond = playing()
        chat(model_client)
        chat(model_client, ["solar please", QUESTION])
        assert len(asked_for(model.chat_requests, "company_plan")) == 2

    def test_the_plan_that_is_oldest_goes_first(self, model_client: TestClient, model: FakeOpenAI) -> None:
        model.respond = playing()
        for question in (QUESTION, f"{QUESTION} at night", f"{QUESTION} by day", QUESTION):
            chat(model_client, question)
        assert len(asked_for(model.chat_requests, "company_plan")) == 4

    def test_a_plan_that_had_to_be_made_by_rule_is_not_kept(self, model_client: TestClient, model: FakeOpenAI) -> None:
        model.respond = playing(plans={"intent": "nonsense"})
        chat(model_client)
        model.respond = playing(rankings=ranking("c-uber-kitchen"))
        assert found(chat(model_client)) == ["c-uber-kitchen"]
        assert len(asked_for(model.chat_requests, "company_plan")) >= 3
