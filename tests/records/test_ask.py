"""Asking without a chat model: the stream, the conversation, what is refused, and the stored answer."""

from __future__ import annotations

import datetime
import json
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.records.passages import NOTHING_NEAR
from quarry.records.sources import BUILT_IN
from tests.records.asking import (
    ORDER,
    QUESTION,
    Events,
    answer_of,
    ask,
    cited,
    logged_run,
    read_events,
    the,
    types_of,
)

FIELDS = {
    "intent": {"type", "intent"},
    "tool_call": {"type", "id", "tool", "arguments"},
    "tool_observation": {"type", "id", "tool", "count", "summary"},
    "sources": {"type", "sources"},
    "final_answer_chunk": {"type", "chunk"},
    "citations": {"type", "citations", "unsupported", "statements"},
    "confidence": {"type", "level", "source_count", "label"},
    "followups": {"type", "questions"},
    "done": {"type", "answer_id", "cached", "topic_changed", "degraded", "applied", "shared"},
}
UNRELATED = {"question": "What does ferry parking cost?", "answer": "Twelve dollars a day."}
RELATED = {"question": "Is the elm sound?", "answer": "The arborist says so."}


@pytest.fixture(scope="module")
def events(client: TestClient) -> Events:
    return ask(client)


def test_the_events_come_in_order_and_in_shape(events: Events) -> None:
    assert types_of(events) == ORDER
    for event in events:
        assert set(event) == FIELDS[event["type"]]
    assert the(events, "intent")["intent"] == "question"
    assert the(events, "done") | {"answer_id": ""} == {
        "type": "done",
        "answer_id": "",
        "cached": False,
        "topic_changed": False,
        "degraded": [],
        "applied": None,
        "shared": True,
    }


def test_the_answer_cites_typed_sources_numbered_from_one(events: Events) -> None:
    sources = the(events, "sources")["sources"]
    assert [source["n"] for source in sources] == list(range(1, len(sources) + 1))
    for source in sources:
        assert {"n", "type", "id", "title", "snippet"} <= set(source)
        assert set(source) <= {"n", "type", "id", "title", "snippet", "date", "meeting_id", "similarity"}
        assert source["type"] in BUILT_IN
    numbers = cited(answer_of(events))
    assert set() < numbers <= {source["n"] for source in sources}


def test_passages_are_as_the_sources_have_them_and_have_no_level(events: Events) -> None:
    checked = the(events, "citations")
    assert all(each["verified"] for each in checked["citations"])
    assert checked["unsupported"] == []
    assert "confidence" not in types_of(events)


def test_a_quote_is_where_its_offsets_say_in_the_text_that_the_record_has(client: TestClient, events: Events) -> None:
    sources = {source["n"]: source for source in the(events, "sources")["sources"]}
    citations = the(events, "citations")["citations"]
    assert citations
    for each in citations:
        source = sources[each["n"]]
        whole = client.get(f"/records/{source['type']}/{source['id']}").json()
        assert whole["text"][each["start"] : each["end"]] == each["quote"]


@pytest.mark.parametrize("question", ["zyzzyva quux?", "🌳?", "!"])
def test_a_question_without_an_answer_is_told_so(client: TestClient, question: str) -> None:
    events = ask(client, question, types=["matter"])
    assert types_of(events) == ORDER
    assert len(the(events, "sources")["sources"]) <= 3
    assert answer_of(events).startswith(NOTHING_NEAR)
    assert the(events, "citations")["citations"] == the(events, "followups")["questions"] == []


class TestNumbers:
    @pytest.mark.parametrize(("about", "is_denied"), [("about trees", False), ("that are not about trees", True)])
    def test_the_last_words_of_a_heading_find_the_rows_that_have_it(
        self, client: TestClient, shared_sample_url: str, about: str, is_denied: bool
    ) -> None:
        with psycopg.connect(shared_sample_url) as connection:
            [numbers] = connection.execute(
                """select count(*) filter (where t.title like '%Trees%'),
                     count(*) filter (where t.title like '%Trees%' is not true)
                   from motions m left join matters t on t.id = m.matter_id"""
            )
        assert numbers[0]
        total = the(ask(client, f"How many motions {about} were there?"), "aggregation")["total"]
        assert total == numbers[is_denied]

    def test_what_was_understood_can_be_sent_back_without_a_condition(self, client: TestClient) -> None:
        question = "How many motions did Leland Frost move?"
        read = the(ask(client, question), "understood")
        query = {name: value for name, value in read["query"].items() if name not in ("where", "spans")}
        events = ask(client, question, understood={"query": query})
        assert the(events, "understood")["query"].get("where", []) == []
        assert the(events, "aggregation")["total"] > the(ask(client, question), "aggregation")["total"]
        assert events[-1]["type"] == "done"

    def test_a_number_that_was_asked_for_is_sent_and_stated_first(self, client: TestClient) -> None:
        events = ask(client, "How many motions did Leland Frost move?")
        assert types_of(events) == [
            *ORDER[:3],
            "understood",
            "sources",
            "aggregation",
            *ORDER[4:6],
            "confidence",
            *ORDER[6:],
        ]
        sent, read = the(events, "aggregation"), the(events, "understood")
        assert read["query"] == sent["query"]
        assert (sent["by"], sent["groups"]) == (None, [])
        assert sent["filters"] == {"types": ["motion"], "facets": {"mover": ["Leland Frost"]}}
        assert sent["query"]["where"] == [{"field": "mover", "value": "Leland Frost"}]
        assert (read["sentence"], read["unread"]) == ("motions, mover: Leland Frost, counted", [])
        assert [each["label"] for each in read["chips"]] == ["mover: Leland Frost"]
        assert answer_of(events) == f"{sent['sentence']}\n\nRead as: {read['sentence']}."
        sure = the(events, "confidence")
        assert (sure["level"], sure["label"]) == ("high", "High: everything in the question was read")
        kept = client.get(f"/answers/{the(events, 'done')['answer_id']}").json()
        assert (kept["confidence"], kept["confidence_label"]) == ("high", sure["label"])

    def test_a_number_is_counted_on_with_the_conditions_before(self, client: TestClient) -> None:
        first = {"question": "How many motions were defeated in 2024?", "answer": "Some."}
        events = ask(client, "and in 2025?", history=[first])
        assert not the(events, "done")["topic_changed"]
        sent = the(events, "aggregation")
        assert sent["filters"] == {
            "types": ["motion"],
            "facets": {"result": ["Defeated"]},
            "from": "2025-01-01",
            "to": "2025-12-31",
        }

    def test_nothing_is_cited_where_nothing_is_counted(self, client: TestClient) -> None:
        events = ask(client, "how many motions were carried in 2031?")
        assert (the(events, "sources")["sources"], cited(answer_of(events))) == ([], set())
        assert the(events, "aggregation")["total"] == 0


@pytest.mark.parametrize("question", ["how do I bake bread?", "What did Leland Frost say about the planetarium?"])
def test_what_nothing_is_near_is_told(client: TestClient, question: str) -> None:
    events = ask(client, question)
    assert the(events, "citations")["citations"] == [] or "planetarium" in question
    assert "confidence" not in types_of(events)


def test_what_somebody_said_is_quoted_of_nobody_else(client: TestClient) -> None:
    events = ask(client, "What did Miriam Castellano say about the library?")
    sources = {source["n"]: source for source in the(events, "sources")["sources"]}
    quoted = [
        sources[n] for n in cited(answer_of(events)) if sources[n]["type"] in ("key_statement", "transcript_segment")
    ]
    assert quoted
    assert all(source["title"].startswith("Miriam Castellano") for source in quoted)


class TestConversation:
    def test_a_follow_up_is_searched_with_what_was_asked_before(self, client: TestClient) -> None:
        events = ask(client, "Who spoke about the elm?", history=[RELATED])
        assert the(events, "tool_call")["arguments"] == {"text": "Who spoke about the elm? Is the elm sound?"}
        assert not the(events, "done")["topic_changed"]

    @pytest.mark.parametrize(
        ("context", "topic_changed"),
        [
            (json.dumps([RELATED]), False),
            (json.dumps([UNRELATED]), True),
            ("The arborist looked at the elm.", False),
            ("[" * 20_000, True),
        ],
    )
    def test_context_is_json_or_text(self, client: TestClient, context: str, topic_changed: bool) -> None:
        response = client.get("/records/ask", params={"q": "Who spoke about the elm?", "context": context})
        assert the(read_events(response.text), "done")["topic_changed"] == topic_changed


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({"question": ""}, "/question"),
            ({"question": "x" * 2001}, "/question"),
            ({"question": "nul \0"}, "/question"),
            ({"question": "half \ud800"}, "/question"),
            ({"question": "elm", "types": ["meeting"]}, "/types/0"),
            ({"question": "elm", "history": [{"question": "x"}]}, "/history/0/answer"),
            ({"question": "elm", "history": [RELATED] * 51}, "/history"),
            ({"question": "elm", "fresh": "yes"}, "/fresh"),
        ],
    )
    def test_a_bad_field_is_named(self, client: TestClient, body: dict[str, Any], pointer: str) -> None:
        # json.dumps escapes lone surrogates, which could not be sent otherwise
        response = client.post("/records/ask", content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json")
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]

    @pytest.mark.parametrize("parameters", [{}, {"q": "elm", "context": "\0"}])
    def test_an_event_source_gets_a_problem_too(self, client: TestClient, parameters: dict[str, str]) -> None:
        response = client.get("/records/ask", params=parameters)
        assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json")


class TestStoredAnswers:
    def test_an_answer_is_opened_as_it_was_given(self, client: TestClient, events: Events) -> None:
        body = client.get(f"/answers/{the(events, 'done')['answer_id']}").json()
        assert body == {
            "id": the(events, "done")["answer_id"],
            "query": QUESTION,
            "answer": answer_of(events),
            "sources": the(events, "sources")["sources"],
            "suggested_followups": the(events, "followups")["questions"],
            "source_count": len(cited(answer_of(events))),
            "created_at": body["created_at"],
            "expires_at": body["expires_at"],
            "citations": the(events, "citations")["citations"],
            "unsupported": the(events, "citations")["unsupported"],
            "statements": the(events, "citations")["statements"],
            "changed_since": [],
        }

    def test_an_answer_lives_30_days_and_is_then_gone(self, client: TestClient, shared_sample_url: str) -> None:
        path = f"/answers/{the(ask(client), 'done')['answer_id']}"
        body = client.get(path).json()
        created, expires = (datetime.datetime.fromisoformat(body[name]) for name in ("created_at", "expires_at"))
        assert expires - created == datetime.timedelta(days=30)
        assert created.utcoffset() == datetime.timedelta(0)
        assert abs(datetime.datetime.now(datetime.UTC) - created) < datetime.timedelta(minutes=5)
        with psycopg.connect(shared_sample_url, autocommit=True) as connection:
            connection.execute("update answer_cache set expires_at = now() where id = %s", [body["id"]])
        response = client.get(path)
        assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")

    @pytest.mark.parametrize("id", ["unknown", "' or 1=1 --"])
    def test_an_unknown_answer_is_not_found(self, client: TestClient, id: str) -> None:
        assert client.get(f"/answers/{id}").status_code == 404


def test_the_run_is_logged_with_its_steps_and_results(client: TestClient, shared_sample_url: str) -> None:
    response = client.post("/records/ask", json={"question": QUESTION, "fresh": True})
    run = logged_run(shared_sample_url, response.headers["x-request-id"])
    assert (run["status"], run["end_reason"], run["caller"], run["degraded_steps"]) == (
        "completed",
        "answered",
        "demo",
        [],
    )
    assert run["steps"] == [
        "query_embedding",
        "retrieve",
        "records_answerability",
    ]
    assert run["results"] == [source["id"] for source in the(read_events(response.text), "sources")["sources"]]
