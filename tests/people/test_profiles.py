"""`GET /people` and `GET /people/{id}/profile`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg.rows import dict_row
from starlette.testclient import TestClient

from quarry.people.profiles import _AFTER, _DISCOVER, _LATEST_FIRST
from tests.people.world import CLOSED, HALF_HIDDEN, HIDDEN, HIDDEN_WORDS, NAMELESS, PERSON_IDS, cards, children, people

CONTACT_FIELDS = {"email", "phone", "links", "contact"}


def page(client: TestClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/people", params=parameters)
    assert response.status_code == 200
    body: dict[str, Any] = response.json()
    return body


def pages(client: TestClient, limit: int) -> Iterator[list[str]]:
    cursor = None
    while True:
        body = page(client, limit=limit, **({"cursor": cursor} if cursor else {}))
        yield [person["id"] for person in body["people"]]
        cursor = body["next_cursor"]
        if cursor is None:
            return


def profile(client: TestClient, person_id: str) -> dict[str, Any]:
    response = client.get(f"/people/{person_id}/profile")
    assert response.status_code == 200
    body: dict[str, Any] = response.json()
    return body


def keys_of(value: Any) -> set[str]:
    """Every key anywhere in a JSON value."""
    if isinstance(value, dict):
        return set(value) | {key for each in value.values() for key in keys_of(each)}
    return {key for each in value for key in keys_of(each)} if isinstance(value, list) else set()


def test_people_are_listed_by_name_and_who_has_none_comes_last(client: TestClient) -> None:
    body = page(client, limit=100)
    assert [person["id"] for person in body["people"]] == [CLOSED, *PERSON_IDS, HALF_HIDDEN, NAMELESS]
    assert body["next_cursor"] is None
    assert body["people"][1] == {
        "id": "p00", "name": "Engineer 00", "city": "Pune", "summaries": ["Builds payments in Python, with 2 others."],
    }  # fmt: skip
    assert body["people"][-1]["name"] is None


@pytest.mark.parametrize("limit", [4, 27])
def test_pages_follow_one_another_without_gap_or_repeat(client: TestClient, limit: int) -> None:
    whole = [person["id"] for person in page(client, limit=100)["people"]]
    listed = list(pages(client, limit))
    assert [id for each in listed for id in each] == whole
    assert all(len(each) == limit for each in listed[:-1])
    assert listed[-1]


def test_no_list_and_no_public_profile_holds_contact_details(client: TestClient) -> None:
    for body in (page(client, limit=100), *(profile(client, person["id"]) for person in people())):
        assert not keys_of(body) & CONTACT_FIELDS
        assert "@example" not in json.dumps(body)
        assert "99999" not in json.dumps(body)


def test_a_public_profile_holds_every_visible_card_with_all_its_children(client: TestClient) -> None:
    body = profile(client, "p04")
    assert {key: value for key, value in body.items() if key != "cards"} == {
        "id": "p04", "name": "Engineer 04", "headline": "Builds things", "bio": None, "city": "Pune", "country": "India",
        "open_to_work": True, "open_to_contact": False, "work_preferred_locations": [], "work_preferred_salary_min": 1_400_000,
    }  # fmt: skip
    [card] = body["cards"]
    [expected] = [card for card in cards() if card["person_id"] == "p04"]
    assert card | expected == card | {"person_id": "p04"}
    assert [child["id"] for child in card["children"]] == [
        child["id"] for child in children() if child["card_id"] == card["id"]
    ]
    assert "visible" not in card


def test_hidden_cards_and_their_children_are_in_no_profile_and_no_list(client: TestClient) -> None:
    listed = page(client, limit=100)
    shown = [profile(client, person_id) for person_id in (HALF_HIDDEN, HIDDEN)]
    assert [[card["id"] for card in each["cards"]] for each in shown] == [[f"{HALF_HIDDEN}-c1"], []]
    assert HIDDEN not in [person["id"] for person in listed["people"]]
    assert HIDDEN_WORDS not in json.dumps([listed, *shown])


def test_an_unknown_person_is_not_found(client: TestClient) -> None:
    response = client.get("/people/nobody/profile")
    assert (response.status_code, response.json()["type"]) == (404, "urn:quarry:problem:not-found")


def test_an_id_may_hold_what_addresses_are_made_of(client: TestClient, world_url: str) -> None:
    id = "team/7 ä?&"
    with psycopg.connect(world_url, autocommit=True) as connection:
        connection.execute("insert into people (id, name) values (%s, 'Odd')", [id])
        try:
            assert profile(client, quote(id, safe=""))["id"] == profile(client, quote(id))["id"] == id
        finally:
            connection.execute("delete from people where id = %s", [id])


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "", "nonsense", "ümlaut", "a" * 401, _encoded([1]), _encoded({"name": "a\x00", "id": "p"}),
    ],
)  # fmt: skip
def test_a_cursor_that_no_page_gave_is_refused(client: TestClient, cursor: str) -> None:
    response = client.get("/people", params={"cursor": cursor})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/cursor"


def test_a_page_is_read_from_the_index_and_probes_only_the_people_on_it(world_url: str) -> None:
    statement = _DISCOVER.format(latest_first=_LATEST_FIRST, after=_AFTER)
    parameters = {"name": "Engineer 03", "id": "p03", "summaries": 3, "limit": 21}
    with psycopg.connect(world_url, row_factory=dict_row) as connection:
        # as many people as make a difference, who are gone again with this transaction
        connection.execute(
            """insert into people (id, name) select 'x' || n, 'Engineer ' || n from generate_series(1, 3000) n;
               insert into experience_cards (id, person_id, intent_primary, title)
               select 'x' || n, 'x' || n, 'work', 'Engineer' from generate_series(1, 3000) n;
               analyze people, experience_cards"""
        )
        lines = connection.execute(b"explain " + statement.as_bytes(connection), parameters).fetchall()
        connection.rollback()
    plan = [line["QUERY PLAN"].strip() for line in lines]
    assert any("using people_discover on people" in line for line in plan), plan
    assert any(line.startswith("Index Cond: (ROW((name IS NULL)") for line in plan), plan
    # only one person's cards are sorted at a time
    [sort] = [line for line in plan if line.startswith("Sort Key")]
    assert "end_date" in sort
    assert not any("Seq Scan" in line for line in plan), plan
