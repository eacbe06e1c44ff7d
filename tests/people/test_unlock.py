"""`POST /people/{id}/unlock-contact`, the gated profile and `GET /credits`."""

from __future__ import annotations

import uuid
from typing import Any

import httpx2
import psycopg
import pytest
from starlette.testclient import TestClient

from quarry import catalog
from quarry.postgres.pool import Database
from quarry.runs.run_log import delete_expired
from tests.people.factories import as_user, counted_credits, ledger, rows, somebody, store_search
from tests.people.world import CLOSED, NAMELESS, contact_of


def unlock(client: TestClient, user: str, person: str, search_id: str) -> tuple[int, dict[str, Any]]:
    response = client.post(f"/people/{person}/unlock-contact", json={"search_id": search_id}, headers=as_user(user))
    return response.status_code, response.json()


def gated(client: TestClient, user: str, person: str, search_id: str) -> tuple[int, dict[str, Any]]:
    response = client.get(f"/people/{person}", params={"search_id": search_id}, headers=as_user(user))
    return response.status_code, response.json()


def balance(client: TestClient, user: str) -> int:
    response = client.get("/credits", headers=as_user(user))
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    [(name, credits)] = response.json().items()
    assert name == "balance"
    return int(credits)


def test_the_first_unlock_costs_a_credit_and_every_further_one_nothing(client: TestClient, world_url: str) -> None:
    user = somebody()
    search_id = store_search(world_url, user, ["p01"])
    counted_credits(client)
    assert unlock(client, user, "p01", search_id) == (
        200, {"unlocked": True, "charged": True, "balance": 9, "contact": contact_of("p01")},
    )  # fmt: skip
    assert unlock(client, user, "p01", search_id)[1] | {"charged": None} == {
        "unlocked": True, "charged": None, "balance": 9, "contact": contact_of("p01"),
    }  # fmt: skip
    assert ledger(world_url, user) == [10, -1]
    assert counted_credits(client) == 1
    assert balance(client, user) == 9


def test_an_unlock_under_its_key_is_answered_as_before_and_the_key_stands_for_one_person(
    client: TestClient, world_url: str
) -> None:
    user = somebody()
    search_id = store_search(world_url, user, ["p01", "p02"])

    def post(person: str, key: str) -> httpx2.Response:
        headers = as_user(user) | {"Idempotency-Key": key}
        return client.post(f"/people/{person}/unlock-contact", json={"search_id": search_id}, headers=headers)

    first = post("p01", "k").json()
    assert first == {"unlocked": True, "charged": True, "balance": 9, "contact": contact_of("p01")}
    assert unlock(client, user, "p02", search_id)[1]["balance"] == 8
    assert post("p01", "k").json() == first
    assert post("p01", "another").json()["charged"] is False
    assert post("p02", "k").status_code == 409
    assert ledger(world_url, user) == [10, -1, -1]
    kept = rows(world_url, "select response::text from idempotency_keys where caller = %s", user)
    assert kept
    assert not any(contact_of("p01")["email"] in text for (text,) in kept)


def test_contact_is_shown_once_it_was_unlocked_and_only_to_who_unlocked_it(client: TestClient, world_url: str) -> None:
    user, other = somebody(), somebody()
    search_id, others = store_search(world_url, user, ["p01"]), store_search(world_url, other, ["p01"])
    before = gated(client, user, "p01", search_id)[1]
    unlock(client, other, "p01", others)
    assert (before["contact_unlocked"], before["contact"]) == (False, None)
    assert gated(client, user, "p01", search_id)[1] == before
    unlock(client, user, "p01", search_id)
    after = gated(client, user, "p01", search_id)[1]
    assert after == before | {"contact_unlocked": True, "contact": contact_of("p01")}


def test_a_gated_profile_is_the_public_one_and_why_the_person_was_found(client: TestClient, world_url: str) -> None:
    user = somebody()
    search_id = store_search(world_url, user, ["p02", "p01"])
    public = client.get("/people/p01/profile", headers=as_user(user)).json()
    response = client.get("/people/p01", params={"search_id": search_id}, headers=as_user(user))
    assert response.headers["cache-control"] == "no-store"
    assert response.json() == public | {
        "search_id": search_id, "why_matched": ["Reason 2"], "contact_unlocked": False, "contact": None,
    }  # fmt: skip


@pytest.mark.parametrize("which", ["nobody's", "another user's", "one that did not find them", "not an id"])
def test_a_search_that_does_not_let_you_see_the_person_is_not_found(
    client: TestClient, world_url: str, which: str
) -> None:
    user = somebody()
    owner = user if which == "one that did not find them" else somebody()
    stored = store_search(world_url, owner, ["p02" if owner == user else "p01"])
    search_id = {"nobody's": str(uuid.uuid4()), "not an id": "not an id"}.get(which, stored)
    for status, problem in (gated(client, user, "p01", search_id), unlock(client, user, "p01", search_id)):
        assert (status, problem["type"]) == (404, "urn:quarry:problem:not-found")
    assert not rows(world_url, "select from contact_unlocks where user_id = %s", user)


def test_an_expired_search_opens_nothing_also_of_who_was_unlocked(client: TestClient, world_url: str) -> None:
    user = somebody()
    search_id = store_search(world_url, user, ["p01", "p02"])
    unlock(client, user, "p01", search_id)
    with psycopg.connect(world_url) as connection:
        connection.execute("update people_searches set expires_at = now() where id = %s", [search_id])
    for person in ("p01", "p02"):
        for status, problem in (gated(client, user, person, search_id), unlock(client, user, person, search_id)):
            assert (status, problem["type"]) == (410, "urn:quarry:problem:expired")
            assert "contact" not in problem
    assert ledger(world_url, user) == [10, -1]


async def test_the_cleanup_takes_an_expired_search_and_its_results_and_leaves_the_unlock_and_the_ledger(
    client: TestClient, world_url: str
) -> None:
    user = somebody()
    expired, live = (store_search(world_url, user, ["p01", "p02"], expires_in="1 hour") for _ in range(2))
    unlock(client, user, "p01", expired)
    with psycopg.connect(world_url) as connection:
        connection.execute("update people_searches set expires_at = now() where id = %s", [expired])
    database = Database(world_url, pool_size=1, timeout_seconds=10)
    deleted = await delete_expired(database, catalog.EXPIRING, run_log_days=90)
    await database.close()
    assert deleted["people_searches"] >= 1
    stored = rows(
        world_url,
        """select distinct s.id::text from people_searches s join people_search_results r on r.search_id = s.id
           where s.user_id = %s""",
        user,
    )
    assert stored == [(live,)]
    assert gated(client, user, "p01", expired)[0] == 404
    assert gated(client, user, "p01", live)[1]["contact"] == contact_of("p01")
    assert ledger(world_url, user) == [10, -1]


def test_who_is_open_to_neither_work_nor_contact_cannot_be_reached(client: TestClient, world_url: str) -> None:
    user = somebody()
    search_id = store_search(world_url, user, [CLOSED, NAMELESS])
    status, problem = unlock(client, user, CLOSED, search_id)
    assert (status, problem["type"]) == (403, "urn:quarry:problem:not-allowed")
    assert gated(client, user, CLOSED, search_id)[0] == 200
    assert unlock(client, user, NAMELESS, search_id)[1]["charged"] is True
    assert ledger(world_url, user) == [10, -1]


def test_who_closes_after_an_unlock_is_not_shown_any_more(client: TestClient, world_url: str) -> None:
    user = somebody()
    search_id = store_search(world_url, user, ["p03"])
    unlock(client, user, "p03", search_id)
    with psycopg.connect(world_url, autocommit=True) as connection:
        connection.execute("update people set open_to_work = false where id = 'p03'")
        try:
            assert gated(client, user, "p03", search_id)[1]["contact"] is None
            assert unlock(client, user, "p03", search_id)[0] == 403
        finally:
            connection.execute("update people set open_to_work = true where id = 'p03'")


def test_without_a_credit_nothing_is_unlocked_but_what_was_stays_free(client: TestClient, world_url: str) -> None:
    user = somebody()
    search_id = store_search(world_url, user, ["p01", "p02"], credits=1)
    unlock(client, user, "p01", search_id)
    assert unlock(client, user, "p01", search_id)[1]["balance"] == 0
    status, problem = unlock(client, user, "p02", search_id)
    assert (status, problem["type"]) == (402, "urn:quarry:problem:not-enough-credits")
    assert gated(client, user, "p02", search_id)[1]["contact_unlocked"] is False
    assert ledger(world_url, user) == [1, -1]


def test_a_new_user_has_the_initial_credits_and_the_local_one_a_hundred(client: TestClient, world_url: str) -> None:
    user = somebody()
    assert balance(client, user) == 10
    assert client.get("/credits").json() == {"balance": 100}
    assert not rows(world_url, "select from credit_accounts where user_id in (%s, 'demo')", user)
