"""A conversation is read in a number of statements linear in its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.postgres.call import call
from quarry.retrieval import vocabulary
from tests.conftest import client_of

RECORDS = ["How many motions were defeated in 2024?", "and in 2025?", "and carried?", "and in 2024?", "and in 2023?"]
CAMPAIGNS = ["campaigns about winter holidays", "and by email?", "and in 2025?", "only by radio", "and by direct mail?"]
COMPANIES = ["startups for payments", "and for farms?", "and for dogs?", "and with AI?", "and for banks?"]


@pytest.fixture
def client(sample_url: str) -> Iterator[TestClient]:
    with client_of(sample_url) as client:
        yield client


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions whose words are looked up in the data, in order."""
    texts: list[str] = []

    async def noting(database: Any, name: str, **arguments: Any) -> Any:
        texts.append(" ".join(arguments["p_words"]))
        return await call(database, name, **arguments)

    monkeypatch.setattr(vocabulary, "call", noting)
    return texts


def _ask_records(questions: Sequence[str]) -> tuple[str, dict[str, Any]]:
    *earlier, question = questions
    return "/records/ask", {"question": question, "history": [{"question": each, "answer": "x"} for each in earlier]}


def _chat_about_campaigns(questions: Sequence[str]) -> tuple[str, dict[str, Any]]:
    *earlier, question = questions
    return "/campaigns/chat", {"message": question, "history": _messages(earlier)}


def _chat_about_companies(questions: Sequence[str]) -> tuple[str, dict[str, Any]]:
    return "/companies/chat", {"messages": _messages(questions)}


def _messages(questions: Sequence[str]) -> list[dict[str, str]]:
    return [{"role": "user", "content": each} for each in questions]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        _ask_records([*RECORDS, "and in 2026?"]),
        _chat_about_campaigns([*CAMPAIGNS, "and by push?"]),
        _chat_about_companies([*COMPANIES, "and for schools?"]),
    ],
    ids=["records", "campaigns", "companies"],
)
def test_no_question_of_a_conversation_is_looked_up_more_than_twice(
    client: TestClient, looked_up: list[str], path: str, body: dict[str, Any]
) -> None:
    assert client.post(path, json=body).status_code == 200
    assert looked_up
    # the last question is read by itself, and as one that goes on from the one before
    assert max(Counter(looked_up).values()) <= 2, looked_up
