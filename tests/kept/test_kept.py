"""Conversations and saved searches of users: kept, listed, changed and deleted by whose they are, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from quarry.kept import storage
from quarry.kept.contract import NESTED_MAX, TURNS_MAX, TURNS_MAX_BYTES
from tests.conftest import client_of

CONVERSATIONS, SEARCHES = "/me/conversations", "/me/searches"
TURN = {"question": "Why was the elm kept?", "answer": {"text": "It is sound [1].", "sources": [{"id": "m-1"}]}}


@pytest.fixture(scope="module")
def client(shared_url: str) -> Iterator[TestClient]:
    with client_of(shared_url) as client:
        yield client


def somebody() -> dict[str, str]:
    """A user whom nobody else is."""
    return {"Authorization": f"Bearer {uuid4()}"}


@pytest.fixture
def me() -> dict[str, str]:
    return somebody()


@pytest.fixture
def other() -> dict[str, str]:
    return somebody()


def keys(*ids: str) -> list[dict[str, str]]:
    return [{"type": "motion", "id": id} for id in ids]


def keep(client: TestClient, me: dict[str, str], **fields: Any) -> dict[str, Any]:
    response = client.post(CONVERSATIONS, json={"domain": "records", "turns": [TURN]} | fields, headers=me)
    assert response.status_code == 201, response.text
    kept: dict[str, Any] = response.json()
    return kept


def save(client: TestClient, me: dict[str, str], **fields: Any) -> dict[str, Any]:
    response = client.post(SEARCHES, json={"domain": "records", "query": "elm"} | fields, headers=me)
    assert response.status_code == 201, response.text
    saved: dict[str, Any] = response.json()
    return saved


def opened(client: TestClient, me: dict[str, str], id: str, *ids: str) -> list[str]:
    """The ids that are new of those that a search shows now."""
    response = client.post(f"{SEARCHES}/{id}/opened", json={"results": keys(*ids)}, headers=me)
    assert response.status_code == 200, response.text
    return [each["id"] for each in response.json()["new"]]


def test_a_conversation_is_kept_listed_renamed_continued_and_deleted(client: TestClient, me: dict[str, str]) -> None:
    first, second = keep(client, me), keep(client, me, title="Elms", domain="companies")
    assert (first["title"], first["turn_count"], first["turns"]) == (TURN["question"], 1, [TURN])
    listed = client.get(CONVERSATIONS, headers=me).json()["conversations"]
    assert [each["id"] for each in listed] == [second["id"], first["id"]]
    assert "turns" not in listed[0]
    path = f"{CONVERSATIONS}/{first['id']}"
    renamed = client.patch(path, json={"title": " Trees "}, headers=me).json()
    assert renamed == {name: first[name] for name in renamed} | {"title": "Trees"}
    assert client.patch(path, json={"turns": [TURN, TURN]}, headers=me).json()["turn_count"] == 2
    listed = client.get(CONVERSATIONS, headers=me).json()["conversations"]
    assert [each["id"] for each in listed] == [first["id"], second["id"]]
    assert client.get(path, headers=me).json()["turns"] == [TURN, TURN]
    assert client.delete(path, headers=me).status_code == 204
    assert client.get(path, headers=me).status_code == client.delete(path, headers=me).status_code == 404


def test_nobody_reads_or_changes_what_another_keeps(
    client: TestClient, me: dict[str, str], other: dict[str, str]
) -> None:
    conversation, search = f"{CONVERSATIONS}/{keep(client, me)['id']}", f"{SEARCHES}/{save(client, me)['id']}"
    statuses = {
        client.get(conversation, headers=other).status_code,
        client.patch(conversation, json={"title": "mine"}, headers=other).status_code,
        client.delete(conversation, headers=other).status_code,
        client.patch(search, json={"name": "mine"}, headers=other).status_code,
        client.post(f"{search}/opened", json={"results": []}, headers=other).status_code,
        client.delete(search, headers=other).status_code,
    }
    assert statuses == {404}
    assert client.get(CONVERSATIONS, headers=other).json() == {"conversations": []}
    assert client.get(SEARCHES, headers=other).json() == {"searches": []}
    assert client.get(CONVERSATIONS, headers=me).json()["conversations"][0]["title"] == TURN["question"]


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [TURN] * (TURNS_MAX + 1),
        [{"question": "why", "answer": {"text": "é" * (TURNS_MAX_BYTES // 2)}}],
        [{"question": " "}],
        [{"question": "why", "answer": {"text": "a\x00b"}}],
        [{"question": "why", "answer": {"a\x00b": 1}}],
    ],
)  # fmt: skip
def test_turns_that_are_too_many_too_long_or_not_storable_are_refused(
    client: TestClient, me: dict[str, str], turns: list[Any]
) -> None:
    response = client.post(CONVERSATIONS, json={"domain": "records", "turns": turns}, headers=me)
    assert response.status_code == 422


@pytest.mark.parametrize("answer", ["[" * (NESTED_MAX + 2) + "]" * (NESTED_MAX + 2), "NaN", "1e999", '"\\ud800"'])
def test_json_that_postgres_cannot_hold_is_refused(client: TestClient, me: dict[str, str], answer: str) -> None:
    body = f'{{"domain": "records", "turns": [{{"question": "why", "answer": {{"a": {answer}}}}}]}}'
    response = client.post(CONVERSATIONS, content=body, headers=me | {"Content-Type": "application/json"})
    assert response.status_code == 422


def test_of_many_that_are_kept_at_once_no_more_are_than_may_be(client: TestClient, me: dict[str, str]) -> None:
    body = {"domain": "records", "turns": [TURN], "query": "elm"}
    with (
        patch.object(storage, "CONVERSATIONS_MAX", 3),
        patch.object(storage, "SEARCHES_MAX", 3),
        ThreadPoolExecutor(6) as threads,
    ):
        for path, fields in ((CONVERSATIONS, ("domain", "turns")), (SEARCHES, ("domain", "query"))):
            given = {field: body[field] for field in fields}
            done = threads.map(lambda _, p=path, g=given: client.post(p, json=g, headers=me).status_code, range(6))
            assert sorted(done) == [201] * 3 + [403] * 3


def test_an_opened_search_shows_what_is_new_since(client: TestClient, me: dict[str, str]) -> None:
    saved = save(client, me, results=keys("a", "b"), parameters={"type": ["motion"]})
    assert (saved["name"], saved["parameters"]) == ("elm", {"type": ["motion"]})
    id = saved["id"]
    assert opened(client, me, id, "c", "a", "d", "c") == ["c", "d"]
    assert opened(client, me, id, "d", "b", "c") == []
    [listed] = client.get(SEARCHES, headers=me).json()["searches"]
    assert listed["opened_at"] > saved["opened_at"]
    assert client.patch(f"{SEARCHES}/{id}", json={"name": "Elms"}, headers=me).json()["name"] == "Elms"
    assert client.delete(f"{SEARCHES}/{id}", headers=me).status_code == 204
    assert client.get(SEARCHES, headers=me).json() == {"searches": []}
