"""`GET /records/suggest`: titles while somebody types."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.records.sources import BUILT_IN
from tests.plans import reads


def suggested(client: TestClient, q: str, **parameters: Any) -> list[dict[str, Any]]:
    response = client.get("/records/suggest", params={"q": q} | parameters)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["suggestions"]
    return found


def titles(client: TestClient, q: str, **parameters: Any) -> list[str]:
    return [each["title"] for each in suggested(client, q, **parameters)]


@pytest.mark.parametrize("title", ["Sable River Bridge Replacement", "Climate Action Plan", "Annual Audits"])
def test_every_beginning_of_a_title_leads_to_it(client: TestClient, title: str) -> None:
    missing = [
        beginning
        for beginning in (title[:end].strip().lower() for end in range(len(title.split()[0]) + 1, len(title) + 1))
        if title not in titles(client, beginning, type="matter", limit=20)
    ]
    assert missing == []


@pytest.mark.parametrize("typed", ["climte", "climat acton", "clmate act", "climate plna", "CLIMÀTE ac"])
def test_a_slip_does_not_keep_from_a_title(client: TestClient, typed: str) -> None:
    assert "Climate Action Plan" in titles(client, typed, limit=20)


@pytest.mark.parametrize("q", ["bridge", "elm", "sable river", "budget", "climate action plan"])
def test_titles_stand_in_the_order_of_the_search(client: TestClient, q: str) -> None:
    suggestions = [(each["type"], each["id"]) for each in suggested(client, q, limit=20)]
    listed = client.get("/records/search", params={"q": q, "limit": 100, "ranking": "scores"}).json()["results"]
    keys = [(each["type"], each["id"]) for each in listed]
    places = [keys.index(each) for each in suggestions if each in keys]
    assert places
    assert places == sorted(places)
    assert [each in keys for each in suggestions] == sorted((each in keys for each in suggestions), reverse=True)


def test_a_title_that_holds_all_words_leaves_out_those_of_any_type_that_hold_some(client: TestClient) -> None:
    assert titles(client, "library br", limit=20) == ["Tamsin Avenue Library Branch"]


def test_each_title_comes_once_and_no_more_than_asked_for(client: TestClient) -> None:
    found = titles(client, "council", limit=5)
    assert len(found) == len({each.casefold() for each in found}) == 5


def test_filters_hold(client: TestClient) -> None:
    everything = suggested(client, "bridge", limit=20)
    assert len({each["type"] for each in everything}) > 1
    assert {each["type"] for each in suggested(client, "bridge", type="matter")} == {"matter"}
    dated = suggested(client, "bridge", **{"from": "2025-01-01", "to": "2025-06-30"})
    assert dated
    assert all("2025-01-01" <= each["date"] <= "2025-06-30" for each in dated)
    response = client.get("/records/suggest", params={"q": "bridge", "type": "bridges"})
    assert response.status_code == 422


@pytest.mark.parametrize("q", ["?", "-bridge", '"', "zzzzqqq", "%", "a", "'; zzzzqqq; --", "&|!:*", "橋"])
def test_what_no_title_holds_suggests_nothing_and_fails_nowhere(client: TestClient, q: str) -> None:
    assert suggested(client, q) == []


def test_titles_are_read_from_their_indexes(shared_sample_url: str) -> None:
    with psycopg.connect(shared_sample_url, autocommit=True) as connection:
        for each in BUILT_IN.values():
            query = b"select * from suggested_titles(%s, %s, 'bridge ri', '{}', 24)"
            found = reads(connection, each.rows, query.decode(), [each.rows, each.titles])
            assert f"{each.rows}_titles" in found.indexes
            assert not found.whole
