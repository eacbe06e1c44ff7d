"""Chatting while something fails: an answer each time, the degraded steps named, and nothing told that must not be."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.companies.prompts import SUMMARY as SUMMARY_PROMPT
from quarry.platform.errors import UNFORESEEN_MESSAGE
from quarry.postgres import pool
from tests.companies.chat.chatting import (
    LED,
    QUESTION,
    SUMMARY,
    activities,
    asked_for,
    chat,
    degraded,
    ended,
    final,
    found,
    logged_run,
    playing,
    read_events,
    run_of,
    step_names,
    text_of,
)
from tests.conftest import KEY, client_of, model_environment
from tests.fakes.openai_server import Body, FakeOpenAI, Reply, prompt_text, schema_name
from tests.running import outage

FAILURES = {
    "broken": Reply.http_error(500),
    "malformed": Reply.malformed(),
    "refused": Reply.refusal(),
    "not json": Reply.text("a plan, perhaps"),
    "another schema": Reply.json({"questions": []}),
    "out of range": Reply.json(
        {"intent": "discover", "targetResultCount": 99, "queryVariants": ["x"]}
        | {"confidence": 1.5, "rankedCompanyIds": []}
        | {"decision": "perhaps"}
    ),
}
STEP_PARTS = {"company_rerank": "rankings", "company_critique": "critiques"}


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        ("company_rerank", "broken"),
        ("company_rerank", "out of range"),
        ("company_rerank", "refused"),
        ("company_rerank", "another schema"),
        ("company_critique", "not json"),
    ],
)
def test_a_step_that_fails_is_taken_by_its_fallback(
    model_client: TestClient, model: FakeOpenAI, shared_sample_url: str, step: str, failure: str
) -> None:
    model.respond = playing(**{STEP_PARTS[step]: FAILURES[failure]})
    events = chat(model_client)
    assert degraded(events) == [step]
    assert found(events)[0] == "c-uber-kitchen"
    assert text_of(events) == final(events)["content"] == SUMMARY
    run = run_of(shared_sample_url, events)
    assert {record["status"] for record in run["steps"] if record["name"] == step} == {"degraded"}
    shown = {"company_rerank": "rank_1", "company_critique": "critique_1"}[step]
    assert ended(events)[shown]["status"] == "failed"


def test_a_model_that_fails_at_leading_leaves_the_answer_to_the_reader(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    model.respond = lambda body: Reply.http_error(500)
    events = chat(model_client)
    assert degraded(events) == [LED]
    assert found(events)[0] == "c-uber-kitchen"
    assert text_of(events) == final(events)["content"]


@pytest.mark.parametrize("given", [{}, {"constraints": {"conditions": []}}])
def test_after_one_time_out_no_step_asks_the_model_again(
    shared_sample_url: str, model: FakeOpenAI, given: dict[str, Any]
) -> None:
    model.respond = lambda body: Reply.hang(60)
    environment = model_environment(model.url) | {"MODEL_TIMEOUT_SECONDS": "0.3"}
    with client_of(shared_sample_url, **environment) as client:
        events = chat(client, QUESTION, **given)
    assert len(model.chat_requests) == 1
    assert found(events)[0] == "c-uber-kitchen"
    steps = run_of(shared_sample_url, events)["steps"]
    assert sum(record["counts"].get("cut_off", 0) for record in steps) == 1


@pytest.mark.parametrize("said", ["<|im_start|>assistant", SUMMARY_PROMPT[:300], "the best company is here " * 100])
def test_a_summary_that_repeats_its_prompt_or_itself_is_none(
    model_client: TestClient, model: FakeOpenAI, said: str
) -> None:
    usual = playing()
    model.respond = lambda body: usual(body) if schema_name(body) else Reply.text(said)
    events = chat(model_client, constraints={"conditions": []})
    assert "company_summary" in degraded(events)
    assert final(events)["references"][0]["companyName"] in text_of(events)
    assert text_of(events).count(said[:20]) < 20


def test_an_invalid_output_is_repaired_once(model_client: TestClient, model: FakeOpenAI) -> None:
    usual, step = playing(), "company_rerank"

    def respond(body: Body) -> Reply:
        is_first = len(asked_for(model.chat_requests, step)) == len(asked_for([body], step)) == 1
        return Reply.text("{}") if is_first else usual(body)

    model.respond = respond
    assert degraded(chat(model_client)) == []
    first, second = asked_for(model.chat_requests, step)[:2]
    assert "not valid" in prompt_text(second)
    assert "not valid" not in prompt_text(first)


@pytest.mark.parametrize(
    "cut",
    [
        Reply.truncated_stream(["Two companies ", "line "]),
        Reply.text("Two companies line ", finish_reason="length"),
    ],
)
def test_a_summary_that_breaks_off_goes_on_with_the_profiles(
    model_client: TestClient, model: FakeOpenAI, cut: Reply
) -> None:
    model.respond = playing(summary=cut)
    events = chat(model_client)
    content = final(events)["content"]
    assert content.startswith("Two companies line ")
    assert "broke off" in content
    assert final(events)["references"][0]["companyName"] in content
    assert (text_of(events), degraded(events)) == (content, [LED])


class TestEmbeddingsFail:
    @pytest.fixture
    def without_vectors(self, shared_sample_url: str, model: FakeOpenAI) -> Iterator[TestClient]:
        """A service whose embedding model is not the one that filled the database."""
        with client_of(shared_sample_url, **model_environment(model.url) | {"EMBEDDINGS": "openai"}) as client:
            yield client

    def test_the_search_goes_by_words_and_tags_and_says_so(
        self, without_vectors: TestClient, model: FakeOpenAI, shared_sample_url: str
    ) -> None:
        model.respond = playing()
        events = chat(without_vectors)
        assert degraded(events) == ["query_embedding"]
        assert found(events)
        names = step_names(run_of(shared_sample_url, events))
        assert "search_companies_keyword_v1" in names
        assert "search_companies_hybrid_v1" not in names
        assert ended(events)["search_1"]["status"] == "failed"


def test_without_the_database_the_stream_ends_in_an_error(
    server_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client_of(database_url) as client:
        with outage(server_url, database_url.rsplit("/", 1)[1]), monkeypatch.context() as impatient:
            impatient.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 1.0)
            events = chat(client, "Harbor")
        assert final(chat(client, "Harbor"))["references"] == []
    assert events[-1]["type"] == "error"
    assert "database" in events[-1]["data"]["message"].lower()
    assert [(activity["id"], activity["status"]) for activity in activities(events)] == [
        ("names", "running"),
        ("names", "failed"),
    ]


def test_a_failure_of_ours_ends_the_stream_in_good_order(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("drop function search_company_variants")
    with client_of(database_url) as client:
        body = {"messages": [{"role": "user", "content": QUESTION}]}
        response = client.post("/companies/chat", json=body)
        events = read_events(response.text)
        run = logged_run(database_url, response.headers["x-request-id"])
    assert (events[-1]["type"], events[-1]["data"]) == ("error", {"message": UNFORESEEN_MESSAGE})
    assert (run["status"], run["end_reason"]) == ("failed", "error")
    assert "final_answer" not in [event["type"] for event in events]


def test_nothing_secret_is_told_or_logged(
    model_client: TestClient, model: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    received = ""
    body = {"messages": [{"role": "user", "content": QUESTION}]}
    for failure in ("broken", "malformed"):
        for part in ("rankings", "summary"):
            model.respond = playing(**{part: FAILURES[failure]})
            received += model_client.post("/companies/chat", json=body).text
    received += caplog.text
    for secret in (KEY, "Another program runs", "quoted material", "select ", "unnest", "Traceback"):
        assert secret not in received
