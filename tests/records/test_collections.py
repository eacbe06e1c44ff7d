"""`GET /collections` and `GET /records/facets`: what records there are, and how many."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from starlette.testclient import TestClient

from quarry.query.groups import FILL_MAX
from quarry.records.sources import BUILT_IN
from quarry.schema.source import FacetKind

KINDS = FacetKind.__args__  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def connection(shared_sample_url: str) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    with psycopg.connect(shared_sample_url, autocommit=True, row_factory=dict_row) as connection:
        yield connection


def counts(client: TestClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/records/facets", params=parameters)
    assert response.status_code == 200
    body: dict[str, Any] = response.json()
    assert set(body) == {"total", "exact", "groups", "truncated", "other", "overlapping", "gaps"}
    assert body["exact"]
    if body["groups"]:
        parts = sum(group["count"] for group in body["groups"]) + body["other"]
        assert parts > body["total"] if body["overlapping"] else parts == body["total"]
    return body


def groups(body: dict[str, Any]) -> dict[Any, int]:
    return {group["value"]: group["count"] for group in body["groups"]}


def test_every_type_is_told_with_its_facets(client: TestClient) -> None:
    told = client.get("/collections").json()["collections"]
    assert [each["name"] for each in told] == list(BUILT_IN)
    for each in told:
        assert {"name", "label", "description", "facets", "date", "language", "fields", "related"} == set(each)
        assert [facet["name"] for facet in each["facets"]] == [*BUILT_IN[each["name"]].table.facets]
        assert all(facet["kind"] in KINDS and facet["label"] for facet in each["facets"])


def test_records_are_counted_by_a_facet_over_all_types_that_have_it(
    client: TestClient, connection: psycopg.Connection[dict[str, Any]]
) -> None:
    of_all = " union all ".join(f"select meeting_id, date from {each.rows}" for each in BUILT_IN.values())
    rows = connection.execute(f"select m.body from ({of_all}) r left join meetings m on m.id = r.meeting_id".encode())
    expected = Counter(row["body"] for row in rows)
    body = counts(client, by="body")
    assert groups(body) == expected
    assert [group["count"] for group in body["groups"]] == sorted(expected.values(), reverse=True)
    assert body["total"] == counts(client)["total"]


@pytest.mark.parametrize(("period", "length"), [("year", 4), ("month", 7), ("day", 10)])
def test_periods_are_told_in_the_order_of_time_by_their_first_day(
    client: TestClient, connection: psycopg.Connection[dict[str, Any]], period: str, length: int
) -> None:
    rows = connection.execute("select date from motions where date is not null").fetchall()
    expected = Counter(f"{row['date'].isoformat()[:length]}-01-01"[:10] for row in rows)
    body = counts(client, type="motion", by=period)
    told = groups(body)
    told.pop(None, None)
    assert {first: count for first, count in told.items() if count} == expected
    assert list(told) == sorted(told)
    firsts = [datetime.date.fromisoformat(first) for first in told]
    places = {
        "year": lambda day: day.year,
        "month": lambda day: 12 * day.year + day.month,
        "day": datetime.date.toordinal,
    }[period]
    steps = {places(later) - places(earlier) for earlier, later in pairwise(firsts)}
    assert steps == {1} or body["gaps"]
    assert body["gaps"] == ((places(firsts[-1]) - places(firsts[0])) >= FILL_MAX)


def test_words_dates_and_facets_narrow_what_is_counted(
    client: TestClient, connection: psycopg.Connection[dict[str, Any]]
) -> None:
    rows = connection.execute(
        "select mover from motions where text_search @@ websearch_to_tsquery('english', 'the bridge') and date >= '2024-01-01'"
        " and not 'Leland Frost' = any(votes_against)"
    ).fetchall()
    narrowed = {"type": "motion", "q": "the bridge", "from": "2024-01-01", "-votes_against": "Leland Frost"}
    body = counts(client, by="mover", **narrowed)
    assert body["total"] == len(rows) > 0
    assert groups(body) == Counter(row["mover"] for row in rows)
    assert counts(client, **narrowed) == body | {"groups": []}


def test_more_groups_than_are_told_are_hinted_at(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = counts(client, by="speaker")
    monkeypatch.setattr("quarry.records.search.GROUPS_MAX", 3)
    body = counts(client, by="speaker")
    assert (body["groups"], body["truncated"]) == (whole["groups"][:3], True)
    assert body["other"] == sum(group["count"] for group in whole["groups"][3:])
    assert not whole["truncated"]


@pytest.mark.parametrize(
    ("parameters", "pointer", "said"),
    [
        ({"by": "movr"}, "/by", "mover"),
        ({"by": "status", "type": "motion"}, "/by", "nearest"),
        ({"q": " "}, "/q", "1 character"),
        ({"from": "2024-02-02", "to": "2024-02-01"}, "/to", "earlier"),
    ],
)
def test_what_cannot_be_counted_is_named(
    client: TestClient, parameters: dict[str, Any], pointer: str, said: str
) -> None:
    response = client.get("/records/facets", params=parameters)
    assert response.status_code == 422
    [error] = response.json()["errors"]
    assert error["pointer"] == pointer
    assert said in error["message"]
