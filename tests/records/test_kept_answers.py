"""Kept answers: given again while nothing changed, taken back, compared with the records they cite; reading on, and feedback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.conftest import client_of, clone_database, model_environment
from tests.fakes.openai_server import FakeOpenAI
from tests.records.asking import QUESTION, Events, answer_of, ask, playing, read_events, the, types_of

ANN = {"Authorization": "Bearer ann"}
BOB = {"Authorization": "Bearer bob"}


@pytest.fixture(scope="module")
def url(server_url: str, sample_template: str) -> Iterator[str]:
    with clone_database(server_url, sample_template) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with client_of(url) as client:
        yield client


def again(client: TestClient, **body: Any) -> Events:
    return ask(client, fresh=False, **body)


def change(url: str, statement: str, *values: object) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute(statement.encode(), values).rowcount == 1


def test_the_same_question_is_answered_from_the_store_without_a_model(
    url: str, shared_model: FakeOpenAI, model: FakeOpenAI
) -> None:
    with client_of(url, **model_environment(shared_model.url)) as client:
        model.respond = playing()
        first = ask(client)
        asked = len(model.chat_requests)
        second = again(client)
        assert (the(first, "done")["cached"], the(second, "done")["cached"]) == (False, True)
        assert len(model.chat_requests) == asked > 0
        assert types_of(second) == types_of(first)
        for type in ("sources", "citations", "confidence", "followups"):
            assert the(second, type) == the(first, type)
        assert answer_of(second) == answer_of(first)
        assert the(second, "done")["answer_id"] == the(first, "done")["answer_id"]
        fresh = ask(client)
        assert (the(fresh, "done")["cached"], len(model.chat_requests) > asked) == (False, True)


def test_another_question_caller_scope_or_history_is_answered_anew(client: TestClient) -> None:
    again(client)
    turn = {"question": "Is the elm sound?", "answer": "The arborist says so."}
    for body in (
        {"question": QUESTION + " "},
        {"types": ["motion"]},
        {"filters": {"from": "2000-01-01"}},
        {"history": [turn]},
    ):
        assert the(again(client, **body), "done")["cached"] is (body == {"question": QUESTION + " "})
    response = client.post("/records/ask", json={"question": QUESTION}, headers=BOB)
    assert the(read_events(response.text), "done")["cached"] is False


def test_a_record_that_changed_is_answered_anew_and_told_of_the_kept_answer(client: TestClient, url: str) -> None:
    first = again(client)
    answer_id = the(first, "done")["answer_id"]
    n = the(first, "citations")["citations"][0]["n"]
    source = next(source for source in the(first, "sources")["sources"] if source["n"] == n)
    table = {"motion": "motions", "key_statement": "key_statements", "matter": "matters"}.get(
        source["type"], f"{source['type']}s"
    )
    assert client.get(f"/answers/{answer_id}").json()["changed_since"] == []
    change(url, f"update {table} set date = date + 1 where id = %s", source["id"])
    [told] = client.get(f"/answers/{answer_id}").json()["changed_since"]
    assert told == {"n": n, "type": source["type"], "id": source["id"], "title": source["title"], "change": "changed"}
    assert the(again(client), "done")["cached"] is False
    change(url, f"delete from {table} where id = %s", source["id"])
    assert [each["change"] for each in client.get(f"/answers/{answer_id}").json()["changed_since"]] == ["gone"]


def test_only_its_owner_takes_an_answer_back_and_is_told_that_it_can(client: TestClient, url: str) -> None:
    def asked() -> dict[str, Any]:
        response = client.post("/records/ask", json={"question": QUESTION}, headers=ANN)
        return the(read_events(response.text), "done")

    id = asked()["answer_id"]
    path, told = f"/answers/{id}", {"id": id, "revocable": True, "shared": True}
    assert client.get(f"/me{path}", headers=ANN).json() == told
    assert client.get(f"/me{path}", headers=BOB).json() == told | {"revocable": False, "shared": False}
    assert client.get("/me/answers/unknown", headers=ANN).json() == {
        "id": "unknown",
        "revocable": False,
        "shared": False,
    }
    assert client.delete(path, headers=BOB).status_code == 404
    assert client.get(path, headers=ANN).json() == client.get(path, headers=BOB).json()
    assert client.delete(path, headers=ANN).status_code == 204
    assert client.get(path).status_code == client.delete(path, headers=ANN).status_code == 404
    again = asked()
    assert again["cached"] is False
    change(url, "update answer_cache set expires_at = now() where id = %s", again["answer_id"])
    assert client.get(f"/me/answers/{again['answer_id']}", headers=ANN).json()["revocable"] is False


def blocks(text: str) -> list[str]:
    return [block for block in text.split("\n\n") if block.startswith("id: ")]


def test_who_reconnects_reads_on_behind_what_came_last(client: TestClient) -> None:
    whole, other = (
        blocks(client.get("/records/ask", params={"q": question}, headers=ANN).text)
        for question in (QUESTION, "What was decided on the bridge?")
    )
    first, fourth, elsewhere = (block.split("\n")[0].removeprefix("id: ") for block in (whole[0], whole[3], other[1]))

    def rest(last_event_id: str) -> tuple[int, list[str]]:
        """What an EventSource gets that was opened behind the first event."""
        headers = ANN | {"Last-Event-ID": last_event_id}
        response = client.get("/records/ask", params={"q": QUESTION, "after_seq": first}, headers=headers)
        return response.status_code, blocks(response.text)

    assert rest(fourth) == (200, whole[4:])
    assert rest(elsewhere) == (200, other[2:])
    assert rest(f"{uuid4()}/1") == (404, [])
    asked = {"q": QUESTION, "after_seq": first}
    assert client.get("/records/ask", params=asked, headers=BOB).status_code == 404
    posted = client.post("/records/ask", params=asked, json={"question": QUESTION}, headers=ANN)
    assert blocks(posted.text) == whole[1:]
    for no_place in ("", "12", fourth.partition("/")[0]):
        assert rest(no_place) == (200, whole[1:])
    response = client.get("/records/ask", params={"q": QUESTION, "after_seq": "12"})
    assert (response.status_code, [each["pointer"] for each in response.json()["errors"]]) == (422, ["/after_seq"])


@pytest.mark.parametrize("path", ["/companies/chat", "/campaigns/chat"])
def test_other_streams_carry_places_too(client: TestClient, path: str) -> None:
    messages = {"messages": [{"role": "user", "content": "bakeries"}]}
    body = messages if path == "/companies/chat" else {"message": "Which campaigns ran by email?"}
    headers = {"Accept": "application/x-ndjson"}
    whole = [line for line in client.post(path, json=body, headers=headers).text.splitlines() if line]
    places = [json.loads(line)["seq"] for line in whole]
    assert [int(place.split("/")[1]) for place in places] == list(range(1, len(whole) + 1))
    rest = client.post(path, params={"after_seq": places[0]}, json=body, headers=headers)
    assert [line for line in rest.text.splitlines() if line] == whole[1:]


def test_a_run_takes_feedback_and_a_cancellation_from_its_caller_alone_and_the_last_word_counts(
    client: TestClient, url: str
) -> None:
    response = client.get("/records/ask", params={"q": QUESTION}, headers=ANN)
    run_id = blocks(response.text)[0].removeprefix("id: ").split("/")[0]
    path = f"/runs/{run_id}/feedback"
    assert client.post(path, json={"helpful": True}, headers=BOB).status_code == 404
    assert client.post(path, json={"helpful": True}, headers=ANN).status_code == 204
    said = {"helpful": False, "reason": "It is about another tree."}
    assert client.post(path, json=said, headers=ANN).status_code == 204
    with psycopg.connect(url) as connection:
        row = connection.execute("select helpful, feedback_reason from search_runs where id = %s", [run_id]).fetchone()
    assert row == (False, "It is about another tree.")
    assert client.post(path, json={"helpful": "perhaps"}, headers=ANN).status_code == 422
    assert client.post("/runs/none/feedback", json={"helpful": True}).status_code == 422
    assert [client.delete(f"/runs/{run_id}", headers=headers).status_code for headers in (BOB, ANN)] == [404, 202]


def test_where_sharing_is_explicit_a_link_opens_after_its_owner_shared_it(url: str) -> None:
    with client_of(url, SHARED_ANSWERS="explicit") as client:
        response = client.post("/records/ask", json={"question": QUESTION, "fresh": True}, headers=ANN)
        done = the(read_events(response.text), "done")
        assert done["shared"] is False
        path = f"/answers/{done['answer_id']}"
        assert client.get(path, headers=ANN).status_code == 404
        assert client.post(f"/me{path}/share", json={}, headers=BOB).status_code == 404
        assert client.post(f"/me{path}/share", json={}, headers=ANN).status_code == 204
        assert client.get(path, headers=BOB).json()["id"] == done["answer_id"]
        assert client.get(f"/me{path}", headers=ANN).json()["shared"] is True
