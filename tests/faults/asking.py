"""Requests to every domain over HTTP while something fails: the outcomes, and what must hold for them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import httpx2

from quarry.api.routers import EVERYTHING
from quarry.web.description import openapi_document
from tests.people.factories import as_user, somebody
from tests.waiting import PATIENCE_SECONDS, wait_until

PEOPLE_QUERY = "backend engineer for payments in Python"
ENDINGS = ("done", "final_answer", "error")


@dataclass(frozen=True)
class Question:
    """One request. `template` is its path in the OpenAPI document; without a `verb`, one with a body is a POST."""

    template: str
    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    verb: str | None = None

    @property
    def method(self) -> str:
        return self.verb or ("GET" if self.body is None else "POST")


def _post(path: str, body: Mapping[str, Any], **headers: str) -> Question:
    return Question(path, path, body, headers)


QUESTIONS = {
    "records": _post("/records/ask", {"question": "Why did the council keep the old elm in Quill Square?"}),
    "records, as a list": Question("/records/search", "/records/search?q=bridge"),
    "companies": _post("/companies/chat", {"messages": [{"role": "user", "content": "help for small restaurants"}]}),
    "people": _post("/people/search", {"query": PEOPLE_QUERY}),
    "ontology": _post("/ontology/search", {"query": "launch plan"}),
    "campaigns": _post("/campaigns/chat", {"message": "How many email campaigns are there?"}),
    "campaigns, as a stream": Question(
        "/campaigns/chat",
        "/campaigns/chat",
        {"message": "Which campaigns offer a discount?"},
        {"Accept": "application/x-ndjson"},
    ),
    "projects": _post("/ontology/ask", {"question": "What is the launch plan?"}),
    "a completion about projects": _post(
        "/v1/chat/completions",
        {"model": "quarry-ontology", "messages": [{"role": "user", "content": "What is the launch plan?"}]},
    ),
    "a completion": _post(
        "/v1/chat/completions",
        {"model": "quarry-records", "messages": [{"role": "user", "content": "Is the elm safe?"}]},
    ),
}
MODEL_QUESTIONS = (
    "records",
    "companies",
    "people",
    "campaigns, as a stream",
    "projects",
    "a completion",
    "a completion about projects",
)


def reworded(question: Question) -> Question:
    """The same question in words that no process has read yet: what was made of the others may be remembered."""
    word = uuid.uuid4().hex.translate(str.maketrans("0123456789", "ghijklmnop"))

    def add(said: Any) -> Any:
        if isinstance(said, list):
            return [add(each) for each in said]
        if isinstance(said, Mapping):
            return {key: f"{each} {word}" if key in _TEXTS else add(each) for key, each in said.items()}
        return said

    return replace(question, body=add(question.body))


_TEXTS = ("question", "content", "query", "message")


@dataclass(frozen=True)
class Outcome:
    """The response; empty if the connection was cut, as by the server's death. `ending` is a stream's last event."""

    question: Question
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = [line.removeprefix("data: ") for line in self.text.splitlines() if line.startswith(("data: ", "{"))]
        return [json.loads(line) for line in lines]

    @property
    def ending(self) -> str | None:
        streams = "ndjson" in self.headers.get("content-type", "") or "event-stream" in self.headers.get(
            "content-type", ""
        )
        return str(self.events[-1]["type"]) if streams else None

    @property
    def answered(self) -> bool:
        return self.status == 200 and self.ending != "error"


def ask(url: str, question: Question, *, user: str | None = None, key: str | None = None) -> Outcome:
    """Sends the question to the server at `url`, as a new user if none is named."""
    headers = {**question.headers, **as_user(user or somebody()), **({"Idempotency-Key": key} if key else {})}
    try:
        response = httpx2.request(
            question.method,
            url + question.path,
            json=question.body,
            headers=headers,
            timeout=PATIENCE_SECONDS,
        )
    except httpx2.TransportError:
        return Outcome(question)
    return Outcome(question, response.status_code, response.headers, response.text)


def ask_all(url: str, names: Iterable[str] = QUESTIONS, *, anew: bool = False) -> dict[str, Outcome]:
    """Sends all at once, each as another user; with `anew`, in words that were not used before."""
    with ThreadPoolExecutor(len(QUESTIONS)) as threads:
        asked = {
            name: threads.submit(ask, url, reworded(QUESTIONS[name]) if anew else QUESTIONS[name]) for name in names
        }
        return {name: outcome.result() for name, outcome in asked.items()}


HEALTH = Question("/health", "/health")


def is_healthy(url: str) -> bool:
    return ask(url, HEALTH).status == 200


def assert_told(outcome: Outcome) -> None:
    """Asserts that the client learned the outcome of the request, by a documented status."""
    assert outcome.status is not None, outcome.question
    assert outcome.status < 500 or outcome.status == 503, (outcome.question, outcome.text)
    assert str(outcome.status) in documented_statuses(outcome.question), outcome.question
    if outcome.status == 503:
        assert int(outcome.headers["retry-after"]) > 0
        in_its_own_form = outcome.question.path.startswith("/v1/")
        kind = "application/json" if in_its_own_form else "application/problem+json"
        assert outcome.headers["content-type"] == kind
    if outcome.ending is not None:
        assert outcome.ending in ENDINGS, outcome.text
        assert [event["type"] in ENDINGS for event in outcome.events].count(True) == 1
    for secret in ("Traceback", "select ", "psycopg", "postgresql://"):
        assert secret not in outcome.text


def assert_answers_again(url: str, names: Iterable[str] = QUESTIONS, *, anew: bool = False) -> None:
    """Asserts that every question is answered once the server is well again, which may take a busy machine a while."""
    wait_until(lambda: is_healthy(url))
    waiting = list(names)

    def all_are_answered() -> bool:
        for name, outcome in ask_all(url, waiting, anew=anew).items():
            assert_told(outcome)
            if outcome.answered:
                waiting.remove(name)
        return not waiting

    wait_until(all_are_answered)


def documented_statuses(question: Question) -> set[str]:
    return set(_paths()[question.template][question.method.lower()]["responses"])


@cache
def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = openapi_document(EVERYTHING)["paths"]
    return paths
