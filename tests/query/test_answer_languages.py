"""Answers in German and French: by the language of the question, else by that which the client accepts."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.records.asking import answer_of, ask

BY_STATUS = {
    "source": "tickets",
    "aggregate": ["count", "avg(price)"],
    "group": "status",
    "order": [{"by": "count", "direction": "desc"}],
}


@pytest.mark.parametrize(
    ("accepted", "sentence"),
    [
        ("de", "Anzahl tickets, Durchschnitt von price über 9 tickets nach status"),
        ("fr-CA, en;q=0.5", "nombre de tickets, moyenne de price sur 9 tickets par status\u00a0:"),
        ("en", "Number of tickets, average price of 9 tickets by status"),
        ("es", "Number of tickets, average price of 9 tickets by status"),
    ],
)
def test_the_sentence_of_a_query_is_in_the_language_that_the_client_accepts(
    client: TestClient, accepted: str, sentence: str
) -> None:
    found = client.post("/query", json=BY_STATUS, headers={"Accept-Language": accepted})
    said: str = found.json()["sentence"]
    assert said.lower().startswith(sentence.lower())


@pytest.mark.parametrize(
    ("question", "accepted", "begins"),
    [
        ("Wie viele tickets gibt es?", "", "9 tickets.\n\nGelesen als: "),
        ("Wie viele tickets gibt es?", "fr", "9 tickets.\n\nGelesen als: "),
        ("How many tickets are there?", "de", "9 tickets.\n\nRead as: "),
        ("Combien de tickets avons-nous ?", "en", "9 tickets.\n\nCompris comme\u00a0: "),
        ("tickets: 2026?", "", None),
    ],
)
def test_an_answer_is_in_the_language_of_its_question(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, question: str, accepted: str, begins: str | None
) -> None:
    monkeypatch.setitem(client.headers, "Accept-Language", accepted)
    text = answer_of(ask(client, question))
    if begins is None:
        assert "Gelesen" not in text
        assert "Compris" not in text
    else:
        assert text.startswith(begins)


@pytest.mark.parametrize(("accepted", "title"), [("de", "Nicht gefunden"), ("fr", "Introuvable"), ("it", "Not found")])
def test_an_error_is_in_the_language_that_the_client_accepts_and_its_type_is_not(
    client: TestClient, accepted: str, title: str
) -> None:
    problem: dict[str, Any] = client.get("/records/tickets/none", headers={"Accept-Language": accepted}).json()
    assert (problem["title"], problem["type"]) == (title, "urn:quarry:problem:not-found")
