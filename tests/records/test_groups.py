"""Groups of records add up to their total, and what a group shows, as a filter, finds the records that were counted in it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.conftest import client_of, clone_database
from tests.records.asking import ask, the

SPELLINGS = st.sampled_from(["Carried", "carried", " CARRIED ", "Cárried", "Ca\u0301rried", "Lost", "-", "- ", "", " "])
DAYS = st.dates(datetime.date(2023, 1, 1), datetime.date(2026, 1, 1))
motions = st.lists(
    st.fixed_dictionaries(
        {
            "result": st.none() | SPELLINGS | st.just("x" * 300),
            "mover": st.none() | SPELLINGS,
            "votes_against": st.lists(SPELLINGS, max_size=3),
            "date": st.none() | DAYS,
        }
    ),
    max_size=15,
)


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        yield url


@pytest.fixture(scope="module")
def own(url: str) -> Iterator[TestClient]:
    with client_of(url) as client:
        yield client


def fill(url: str, rows: list[dict[str, Any]]) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("delete from motions")
        connection.cursor().executemany(
            "insert into motions (id, text_content, result, mover, votes_against, date) values"
            " (%(id)s, 'To plant a tree', %(result)s, %(mover)s, %(votes_against)s, %(date)s)",
            [{**row, "id": f"m{place}"} for place, row in enumerate(rows)],
        )


def counted(client: TestClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/records/facets", params={"type": "motion"} | parameters)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


@settings(
    max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(rows=motions)
def test_parts_are_the_whole_and_each_is_what_its_filter_finds(
    url: str, own: TestClient, rows: list[dict[str, Any]]
) -> None:
    fill(url, rows)
    for facet in ("result", "mover", "votes_against"):
        told = counted(own, by=facet)
        parts = sum(group["count"] for group in told["groups"]) + told["other"]
        assert told["total"] == len(rows)
        assert parts == len(rows) if not told["overlapping"] else facet == "votes_against" and parts > len(rows)
        for group in told["groups"]:
            value = "" if group["value"] is None else group["value"]
            assert counted(own, **{facet: value})["total"] == group["count"], (facet, value)
            assert counted(own, **{f"-{facet}": value})["total"] == len(rows) - group["count"], (facet, value)
    months = counted(own, by="month")
    assert sum(group["count"] for group in months["groups"]) == len(rows)


def test_none_is_null_on_the_wire_none_in_words_and_filtered_by_together_with_values(url: str, own: TestClient) -> None:
    results = ("Lost", "Tied", None, " ")
    fill(url, [{"result": each, "mover": None, "votes_against": [], "date": None} for each in results])
    events = ask(own, "How many motions are there by result?")
    event = the(events, "aggregation")
    assert {group["value"]: group["count"] for group in event["groups"]} == {None: 2, "Lost": 1, "Tied": 1}
    assert (event["total"], event["other"]) == (4, 0)
    assert "none" in json.dumps(events)
    assert counted(own, result=["Lost", ""])["total"] == 3
    assert counted(own, **{"-result": ["Lost", ""]})["total"] == 1
    answered = ask(own, "How many motions are there?", filters={"facets": {"result": ["lost", ""]}})
    event = the(answered, "aggregation")
    assert (event["total"], event["filters"]["facets"]) == (3, {"result": ["Lost", ""]})
