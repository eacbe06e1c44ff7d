"""Asking about projects: by a model that calls the general tools, and without one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.openai_server import FakeOpenAI, Reply, prompt_text

BLOCKED = {"source": "task", "where": [{"field": "status", "value": "blocked"}], "select": ["title", "assignee"]}


def ask(client: TestClient, question: str, *, user: str | None = None, **body: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {user}"} if user else {}
    response = client.post("/ontology/ask", json={"question": question} | body, headers=headers)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_model_queries_and_the_entities_are_those_that_it_speaks_of(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    model.enqueue(Reply.tool_calls([("query", BLOCKED)]), Reply.text("Sources: r1\n\nFour tasks are blocked."))
    answer = ask(model_client, "What is blocked, and who has it?")
    assert answer["response"] == "Four tasks are blocked."
    assert (answer["total"], len(answer["results"])) == (4, 4)
    assert [each["state"] for each in answer["statements"]] == ["verified"]
    assert {each["type"] for each in answer["results"]} == {"task"}
    assert "Ravi" in prompt_text(model.chat_requests[1])
    assert answer["telemetry"] | {"run_id": ""} == {"run_id": "", "turns": 2, "tool_calls": 1, "degraded": []}


def test_of_several_results_the_entities_are_those_that_the_text_names(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    bakery = {"field": "project", "value": "Riverside bakery"}
    tasks = {"source": "task", "where": [bakery], "select": ["title", "assignee"]}
    milestones = {"source": "milestone", "where": [bakery], "select": ["title", "due"]}
    said = "Ines has to book the electrician for the three-phase supply. The lease signed is a milestone."
    model.enqueue(Reply.tool_calls([("query", tasks), ("query", milestones)]), Reply.text(f"Sources: r1, r2\n\n{said}"))
    answer = ask(model_client, "What is next at the bakery?")
    assert [each["title"] for each in answer["results"]] == [
        "Book the electrician for the three-phase supply",
        "Lease signed",
    ]
    assert answer["total"] == 2


def test_a_row_that_was_found_and_then_read_whole_bears_out_what_it_says(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    find = ("search", {"text": "risk", "source": ["document"]})
    read = ("get", {"source": "document", "id": ["fieldnote-2-document-02"]})
    said = "The threat model names three: a lost phone, a curious member of another group and a tampered upload"
    model.enqueue(Reply.tool_calls([find]), Reply.tool_calls([read]), Reply.text(f"{said}."))
    answer = ask(model_client, "Which risks does Fieldnote 2.0 name?")
    assert [each["state"] for each in answer["statements"]] == ["verified"]
    assert answer["confidence"]["level"] == "high"


def test_what_a_description_of_the_data_says_bears_an_answer_out(model_client: TestClient, model: FakeOpenAI) -> None:
    said = "There are 12 milestones, the first of 14 November 2026."
    model.enqueue(Reply.tool_calls([("describe_collections", {"source": ["milestone"]})]), Reply.text(said))
    answer = ask(model_client, "Which milestones are there?")
    assert answer["response"] == said
    assert [each["state"] for each in answer["statements"]] == ["verified"]


def test_what_an_answer_cites_is_shown_and_a_citation_of_nothing_is_dropped(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    model.enqueue(Reply.text("Sources: 1\n\nThere is a plan [1] for it [99]."))
    headers = {"Accept": "application/x-ndjson"}
    response = model_client.post("/ontology/ask", json={"question": "Is there a marketing plan?"}, headers=headers)
    events = [json.loads(line) for line in response.text.splitlines() if line]
    final = events[-1]["data"]
    text = "".join(event["data"]["text"] for event in events if event["type"] == "partial_text")
    assert text == final["response"] == "There is a plan [1] for it."
    assert len(final["results"]) == final["total"] == 1


@pytest.mark.parametrize("said", ["Sources: none\n\nHello! Ask me about your projects.", "Which project do you mean?"])
def test_small_talk_and_a_question_back_are_answers(model_client: TestClient, model: FakeOpenAI, said: str) -> None:
    model.enqueue(Reply.text(said))
    answer = ask(model_client, "hi")
    assert (answer["response"], answer["results"], answer["total"]) == (said.removeprefix("Sources: none\n\n"), [], 0)
    assert len(model.chat_requests) == 1


@pytest.mark.parametrize(
    "failing", [Reply.http_error(500), Reply.text("You answer questions about the projects of a user's workspace")]
)
def test_without_a_model_or_where_it_writes_no_answer_a_likely_query_is_answered(
    client: TestClient, model_client: TestClient, model: FakeOpenAI, failing: Reply
) -> None:
    expected = ask(client, "How many tasks are blocked?")
    assert expected["response"].startswith("4 tasks")
    assert expected["understood"]["query"]["source"] == "task"
    assert expected["total"] == len(expected["results"]) == 4
    [blocked] = expected["understood"]["chips"]
    assert (blocked["label"], blocked["pointer"]) == ("status: blocked", "/where/0")
    query = {name: value for name, value in expected["understood"]["query"].items() if name not in ("where", "spans")}
    assert ask(client, "How many tasks are blocked?", understood={"query": query})["total"] > 4
    assert expected["confidence"]["level"] == "high"
    model.enqueue(failing)
    answer = ask(model_client, "How many tasks are blocked?")
    assert (answer["response"], answer["total"]) == (expected["response"], 4)
    assert answer["telemetry"]["degraded"] == ["ontology_answer"]


def test_only_the_callers_own_entities_of_the_project_are_asked(model_client: TestClient, model: FakeOpenAI) -> None:
    count = ("query", {"source": "task", "aggregate": "count"})
    for user, project, tasks in (("demo", "riverside-bakery", 10), ("nobody", None, 0)):
        model.enqueue(Reply.tool_calls([count]), Reply.text("That many."))
        answer = ask(model_client, "How many tasks?", user=user, project_id=project)
        assert answer["total"] == tasks
        assert all(each["project_id"] == project for each in answer["results"])
    response = model_client.post("/ontology/ask", json={"question": "x", "project_id": "nobody's"})
    assert response.status_code == 404


def test_what_is_only_near_is_marked(client: TestClient) -> None:
    body = client.post("/ontology/search", json={"query": "marketing zeppelin"}).json()
    assert body["results"]
    assert all(each["near"] for each in body["results"])
    whole = client.post("/ontology/search", json={"query": "marketing plan"}).json()["results"]
    assert "near" not in whole[0]
