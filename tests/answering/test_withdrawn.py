"""Text that was sent and is then mostly flagged is withdrawn before the answer without a model, behind every door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.client import Client
from quarry.platform.settings import Settings
from quarry.services.services import build_services
from tests.conftest import model_environment
from tests.fakes.openai_server import Body, FakeOpenAI, Reply
from tests.records.asking import step_of
from tests.running import serving
from tests.shared_sample import model_client, shared_model_client, shared_sample_url

__all__ = ["model_client", "shared_model_client", "shared_sample_url"]

FALSE = "It cost 99 dollars in 1650. There were 888 of them. Pandas planted 777 trees."
COUNTED = {
    "companies": ("How many companies were acquired?", {"field": "status", "value": "acquired"}, "38 were acquired."),
    "campaigns": ("How many email campaigns are there?", {"field": "channel", "value": "Email"}, "28 are on Email."),
    "projects": ("How many tasks are blocked?", {"field": "status", "value": "blocked"}, "4 are blocked."),
}
"""By domain a question, the condition of its query, and a true sentence."""
PATHS = {"companies": "companies/chat", "campaigns": "campaigns/chat", "projects": "ontology/ask"}


def writing(model: FakeOpenAI, domain: str) -> str:
    """A model that counts, writes a true sentence and false ones, and has no better ones; the question."""
    question, condition, true = COUNTED[domain]
    source = "task" if domain == "projects" else domain
    query = {"source": source, "where": [condition], "aggregate": ["count"]}

    def respond(body: Body) -> Reply:
        if step_of(body) == "answer_correction":
            return Reply.text(FALSE)
        if any(message["role"] == "tool" for message in body["messages"]):
            return Reply.text(f"Sources: r1\n\n{true} {FALSE}")
        return Reply.tool_calls([("query", query)])

    model.respond = respond
    return question


def asked(domain: str, question: str) -> dict[str, Any]:
    if domain == "companies":
        return {"messages": [{"role": "user", "content": question}]}
    return {"message" if domain == "campaigns" else "question": question}


@pytest.mark.parametrize("domain", COUNTED)
def test_the_text_before_the_event_is_not_that_of_the_answer(
    model_client: TestClient, model: FakeOpenAI, domain: str
) -> None:
    question, (*_, true) = writing(model, domain), COUNTED[domain]
    headers = {"Accept": "application/x-ndjson"}
    response = model_client.post(f"/{PATHS[domain]}", json=asked(domain, question), headers=headers)
    events = [json.loads(line) for line in response.text.splitlines() if line]
    place = [event["type"] for event in events].index("text_withdrawn")
    before, after = (
        "".join(event["data"]["text"] for event in part if event["type"] == "partial_text")
        for part in (events[:place], events[place:])
    )
    final = events[-1]["data"]
    assert before.startswith(true)
    assert "99" not in before
    assert "borne out" in events[place]["data"]["reason"]
    assert after == (final.get("content") or final["response"])
    assert FALSE[:20] not in after
    assert all(each["state"] != "flagged" for each in final["statements"])


@pytest.fixture
def base(shared_sample_url: str, model: FakeOpenAI) -> Iterator[str]:
    environment = {"DATABASE_URL": shared_sample_url, "RATE_LIMIT_PER_MINUTE": "0"} | model_environment(model.url)
    with serving(build_services(Settings.from_environment(environment))) as url:
        yield url


def test_a_program_reads_the_withdrawal_as_an_event_of_its_own(base: str, model: FakeOpenAI) -> None:
    question = writing(model, "campaigns")
    with Client(base) as client:
        events = [*client.ask_campaigns(question)]
    types = [event.type for event in events]
    place = types.index("text_withdrawn")
    assert "partial_text" in types[:place]
    assert "partial_text" in types[place:]
