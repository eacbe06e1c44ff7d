"""Questions about declared collections, read by the reader with its fitted weights: what is told, and how surely."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.conftest import client_of
from tests.records.asking import ask, of_type, the


@pytest.fixture(scope="module")
def reading(desk: str) -> Iterator[TestClient]:
    with client_of(desk) as client:
        yield client


def told(events: list[dict[str, Any]]) -> str:
    return "".join(each["chunk"] for each in of_type(events, "final_answer_chunk"))


def test_a_count_is_told_with_its_query(reading: TestClient) -> None:
    events = ask(reading, "How many tickets are there?")
    event = the(events, "aggregation")
    assert (event["total"], event["query"]["source"], event["query"]["aggregate"]) == (9, "tickets", [{"fn": "count"}])
    assert "9 tickets" in told(events)
    assert "Read as: " in told(events)


def test_rows_are_told_as_a_list_without_a_count_event(reading: TestClient) -> None:
    events = ask(reading, "List the names of all agents")
    lines = [line for line in told(events).splitlines() if line.startswith("- ")]
    assert lines == ["- Ada Palmer", "- Boris Krug", "- Cleo Ruiz", "- Dan Idle"] or len(lines) == 4
    assert not of_type(events, "aggregation")


def test_what_is_not_read_is_named_and_not_sure(reading: TestClient) -> None:
    events = ask(reading, "How many tickets did the purple gorilla juggle?")
    assert all(each["level"] == "low" for each in of_type(events, "confidence"))
    for each in of_type(events, "understood"):
        assert f"Not read: {', '.join(each['unread'])}." in told(events)


def test_no_hidden_column_is_told(reading: TestClient) -> None:
    for question in ("show the internal note of all tickets", "list the password hash of each agent"):
        events = ask(reading, question)
        assert "x1" not in json.dumps(events).split('"id"')[0]
        assert not any("hash" in json.dumps(each.get("query", "")) for each in events)


def test_a_request_with_filters_is_left_to_the_rules(reading: TestClient) -> None:
    events = ask(reading, "How many tickets are there?", filters={"from": "2026-10-01"})
    assert the(events, "aggregation")["total"] == 6


@pytest.mark.parametrize(
    "question",
    [
        "List all tickets that are not overdue",
        "How many tickets are not overdue?",
        "share of tickets that are not overdue",
    ],
)
def test_what_is_not_so_is_denied_once(reading: TestClient, question: str) -> None:
    [understood] = of_type(ask(reading, question), "understood")
    assert "not" in understood["sentence"]
    assert "not (not" not in understood["sentence"]
