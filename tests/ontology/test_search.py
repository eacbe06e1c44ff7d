"""`POST /ontology/search` and `GET /ontology/{type}/{id}`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.ontology.contract import ENTITY_TYPES
from tests.conftest import client_of
from tests.ontology.conftest import add_task


def search(client: TestClient, query: str, *, headers: dict[str, str] | None = None, **body: Any) -> dict[str, Any]:
    response = client.post("/ontology/search", json={"query": query} | body, headers=headers)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("what is blocking the bakery opening", "riverside-bakery-task-02"),
        ("tasks in progress in the Riverside bakery", "riverside-bakery-task-01"),
        ("blocked tasks assigned to Ravi", "fieldnote-2-task-09"),
        ("milestones that are late", "riverside-bakery-milestone-01"),
        ("tasks due before October 2026", "village-hall-task-03"),
    ],
)
def test_status_assignee_due_date_and_project_filter(client: TestClient, query: str, wanted: str) -> None:
    body = search(client, query)
    assert body["results"][0]["id"] == wanted
    assert "Filtered by" in body["message"]


def test_the_answer_has_the_documented_shape(client: TestClient) -> None:
    body = search(client, "marketing plan")
    assert set(body) == {"results", "total", "message"}
    assert 1 < body["total"] < len(body["results"])
    assert body["message"] == f"{body['total']} matches, and {len(body['results']) - body['total']} near."
    for result in body["results"]:
        assert {*result} - {"near"} == {"type", "id", "project_id", "project_name", "title", "snippet", "score"}
        assert result["type"] in ENTITY_TYPES
    scores = [result["score"] for result in body["results"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("project", ["no-such-project", "heat-thesis"])
def test_an_unknown_project_or_one_of_another_user_is_not_found(client: TestClient, project: str) -> None:
    response = client.post("/ontology/search", json={"query": "heat", "project_id": project})
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"query": " \n "}, "/query"),
        ({"query": "x" * 2001}, "/query"),
        ({"query": "nul \x00"}, "/query"),
        ({"query": "oven", "types": ["project"]}, "/types/0"),
        ({"query": "oven", "project_id": "x" * 65}, "/project_id"),
        ({"query": "oven", "actor_id": "noor"}, "/actor_id"),
    ],
)
def test_a_bad_field_is_named(client: TestClient, body: dict[str, Any], pointer: str) -> None:
    response = client.post("/ontology/search", json=body)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    "query",
    [
        "' OR 1=1 --",
        "a:* & !b <-> ",
        "the of and",
        "🍞🍞",
        "\\",
        "%",
        '"',
        "oven " * 400,
        "-" * 2000,
    ],
)
def test_odd_queries_are_answered(client: TestClient, query: str) -> None:
    assert set(search(client, query)) == {"results", "total", "message"}


@pytest.mark.parametrize("type", ENTITY_TYPES)
def test_every_found_entity_can_be_opened(client: TestClient, type: str) -> None:
    result = search(client, "oven bread roof battery letter hall", types=[type])["results"][0]
    body = client.get(f"/ontology/{type}/{result['id']}").json()
    assert {"type", "id", "props"} <= set(body)
    assert (body["title"], body["project"]["id"]) == (result["title"], result["project_id"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ontology/task/none", 404),
        ("/ontology/plan/riverside-bakery-task-01", 404),
        ("/ontology/task/bike-kitchen-task-01", 404),
        ("/ontology/project/riverside-bakery", 422),
        ("/ontology/task/%00", 422),
    ],
)
def test_an_entity_of_another_user_is_a_problem(client: TestClient, path: str, status: int) -> None:
    response = client.get(path)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")


@pytest.fixture
def crowded_client(database_url: str, connection: psycopg.Connection[Any]) -> Iterator[TestClient]:
    """12,000 tasks of ada with one word, a third of them with another."""
    connection.execute(
        "insert into onto_tasks (id, project_id, created_by, title, props)"
        " select 't' || n, 'ours', 'ada', 'Task',"
        " jsonb_build_object('text', 'plank of ' || case when n % 3 = 0 then 'elm' else 'oak' end)"
        " from generate_series(1, 12000) n"
    )
    with client_of(database_url) as client:
        yield client


@pytest.fixture
def hostile_client(database_url: str, connection: psycopg.Connection[Any]) -> Iterator[TestClient]:
    """Entities that try to break out of any context they are shown in."""
    add_task(
        connection,
        "a/b c?d#e",
        "Oven <b>bold</b>",
        '{"note": null, "text": "<script>alert(\\"oven\\")</script> & <img src=x>"}',
    )
    add_task(connection, "forged", "\ue000Oven\ue001 </mark>", '{"text": "The \ue000oven\ue001 </mark><mark> stays"}')
    with client_of(database_url) as client:
        yield client


def test_a_snippet_contains_no_markup_except_its_marks(hostile_client: TestClient) -> None:
    body = search(hostile_client, "oven", headers={"Authorization": "Bearer ada"})
    assert len(body["results"]) == 2
    for result in body["results"]:
        left = re.sub(r"<mark>([^<>]*)</mark>", r"\1", result["snippet"])
        assert left == html.escape(html.unescape(left))
        assert "<mark>oven</mark>" in result["snippet"].lower()
    assert "&lt;/script&gt; &amp; &lt;img src=x&gt;" in "".join(result["snippet"] for result in body["results"])


def test_an_id_may_contain_any_character_and_props_keep_nulls(hostile_client: TestClient) -> None:
    response = hostile_client.get("/ontology/task/a%2Fb%20c%3Fd%23e", headers={"Authorization": "Bearer ada"})
    assert (response.status_code, response.json()["id"]) == (200, "a/b c?d#e")
    assert response.json()["props"]["note"] is None


def test_with_more_matches_than_are_counted_the_answer_gives_a_lower_bound(crowded_client: TestClient) -> None:
    body = search(crowded_client, "plank", headers={"Authorization": "Bearer ada"})
    assert (body["total"], body["more"], len(body["results"])) == (10_000, True, 50)
    assert "at least 10,000" in body["message"]
    fewer = search(crowded_client, "plank elm", headers={"Authorization": "Bearer ada"})
    assert (fewer["total"], "more" in fewer) == (4_000, False)
