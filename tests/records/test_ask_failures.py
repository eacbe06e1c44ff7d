"""Asking while something fails: an answer each time, the degraded steps named, and nothing stored or told that must not be."""

from __future__ import annotations

import logging
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.platform.errors import DatabaseUnavailable
from quarry.records import model_answer
from quarry.records.passages import NOTHING_NEAR
from tests.conftest import KEY, client_of, model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.records.asking import (
    ANSWER,
    QUESTION,
    answer_of,
    ask,
    cited,
    logged_run,
    of_type,
    playing,
    read_events,
    search,
    stored_answers,
    the,
)

FAILURES = {
    "rate limited": Reply.http_error(429, retry_after=30),
    "broken": Reply.http_error(500),
    "malformed": Reply.malformed(),
    "refused": Reply.refusal(),
    "slow": Reply.hang(8),
    "empty": Reply.text(""),
}
CUT_ANSWERS = {
    "silent midway": Reply.hang(8, after_pieces=["The elm ", "is sound [1]", " and ["]),
    "too long": Reply.text("The elm is sound [1] and [", finish_reason="length"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_without_the_models_answer_the_sources_speak(model_client: TestClient, model: FakeOpenAI, failure: str) -> None:
    model.respond = playing(answer=FAILURES[failure])
    events = ask(model_client)
    done = events[-1]
    assert (done["type"], done["degraded"]) == ("done", ["records_answer"])
    numbers = {source["n"] for source in the(events, "sources")["sources"]}
    assert set() < cited(answer_of(events)) <= numbers


@pytest.mark.parametrize("failure", ["broken", "malformed"])
def test_without_the_models_followups_there_are_none(model_client: TestClient, model: FakeOpenAI, failure: str) -> None:
    model.respond = playing(followups=FAILURES[failure])
    events = ask(model_client)
    assert the(events, "followups")["questions"] == []
    assert (answer_of(events), events[-1]["degraded"]) == (ANSWER, ["records_followups"])


@pytest.mark.parametrize("cut", CUT_ANSWERS)
def test_an_answer_that_breaks_off_goes_on_with_the_sources(
    model_client: TestClient, model: FakeOpenAI, cut: str
) -> None:
    model.respond = playing(answer=CUT_ANSWERS[cut])
    events = ask(model_client)
    written, _, rest = answer_of(events).partition("broke off")
    assert written.startswith("The elm is sound [1]")
    assert cited(rest) <= {source["n"] for source in the(events, "sources")["sources"]} > set()
    assert events[-1]["degraded"] == ["records_answer", *(["records_followups"] if cut == "silent midway" else [])]


def test_an_answer_that_a_failing_model_degraded_can_be_opened_and_is_not_given_again(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    model.respond = playing(answer=Reply.refusal())
    question = "What keeps the old elm upright?"
    degraded = ask(model_client, question, fresh=False)
    opened = model_client.get(f"/answers/{degraded[-1]['answer_id']}").json()
    assert (opened["answer"], len(opened["sources"])) == (answer_of(degraded), len(the(degraded, "sources")["sources"]))
    model.respond = playing()
    again = ask(model_client, question, fresh=False)
    assert (answer_of(again), again[-1]["cached"], again[-1]["degraded"]) == (ANSWER, False, [])


def test_invalid_followups_are_repaired_once(model_client: TestClient, model: FakeOpenAI) -> None:
    replies = iter([Reply.text('{"questions": "none"}'), Reply.json({"questions": ["What did the elm cables cost?"]})])
    model.respond = lambda body: next(replies) if "response_format" in body else playing()(body)
    events = ask(model_client)
    assert "What did the elm cables cost?" in the(events, "followups")["questions"]
    assert events[-1]["degraded"] == []
    assert "not valid" in model.chat_requests[-1]["messages"][-1]["content"]


def test_with_no_time_left_there_is_an_answer(shared_sample_url: str, model: FakeOpenAI) -> None:
    model.respond = lambda body: Reply.hang(8)
    environment = model_environment(model.url) | {"RECORDS_ASK_SECONDS": "0.4"}
    with client_of(shared_sample_url, **environment) as client:
        events = ask(client)
    assert cited(answer_of(events))
    assert "records_answer" in events[-1]["degraded"]


def test_a_database_that_fails_later_leaves_the_sources_found(
    model_client: TestClient, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*arguments: Any, **options: Any) -> Any:
        raise DatabaseUnavailable

    monkeypatch.setattr(model_answer, "rank_records", failing)
    model.respond = playing(research=[Reply.tool_calls([search("cables")])])
    events = ask(model_client)
    assert the(events, "sources")["sources"]
    assert (answer_of(events), events[-1]["degraded"]) == (ANSWER, ["records_answer"])


def test_with_no_tokens_left_research_ends(shared_sample_url: str, model: FakeOpenAI) -> None:
    greedy = Reply(message=Reply.tool_calls([search("elm")]).message, finish_reason="tool_calls", usage=(990, 20))
    model.respond = playing(research=[greedy, greedy])
    environment = model_environment(model.url) | {"RECORDS_ASK_TOKENS": "1000"}
    with client_of(shared_sample_url, **environment) as client:
        events = ask(client)
    assert len(of_type(events, "tool_call")) == 2
    assert answer_of(events) == ANSWER


def test_without_the_embedding_model_that_filled_the_database_an_answer_says_so(
    shared_sample_url: str, model: FakeOpenAI
) -> None:
    model.respond = playing()
    with client_of(shared_sample_url, **model_environment(model.url) | {"EMBEDDINGS": "openai"}) as client:
        events = ask(client)
    assert (answer_of(events), events[-1]["degraded"]) == (ANSWER, ["query_embedding"])


def test_nothing_secret_is_told_or_logged(
    model_client: TestClient, model: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    told = ""
    for failure in (reply for name, reply in FAILURES.items() if name != "slow"):
        for respond in (playing(answer=failure), playing(followups=failure)):
            model.respond = respond
            told += model_client.post("/records/ask", json={"question": QUESTION}).text
    told += model_client.get("/records/search", params={"q": "\0"}).text + caplog.text
    for secret in (
        KEY,
        "for residents, in plain English",
        "quoted material",
        "select ",
        "websearch_to_tsquery",
        "Traceback",
    ):
        assert secret not in told


def test_a_failure_of_ours_ends_the_stream_in_good_order(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("drop function read_query cascade")
        connection.execute("insert into motions (id, text_content) values ('m', 'elm')")
    with client_of(database_url) as client:
        response = client.post("/records/ask", json={"question": "Was the elm kept by the council?"})
        events = read_events(response.text)
        run = logged_run(database_url, response.headers["x-request-id"])
    assert [event["type"] for event in events] == ["intent", "tool_call", "error"]
    assert events[-1]["message"] == "Something went wrong on our side; try again."
    assert (run["status"], run["end_reason"]) == ("failed", "error")
    assert stored_answers(database_url) == 0


def test_an_empty_city_has_no_answer_and_no_error(database_url: str) -> None:
    with client_of(database_url) as client:
        events = ask(client)
        assert client.get("/records/search", params={"q": "elm"}).json()["results"] == []
    assert (the(events, "sources")["sources"], answer_of(events)) == ([], NOTHING_NEAR)
    assert events[-1]["type"] == "done"
