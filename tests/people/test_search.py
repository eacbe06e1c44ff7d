"""`POST /people/search` without a chat model, over a world in which everyone is known."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.runs import idempotency
from tests.conftest import client_of
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.people.factories import as_user, counted_credits, ledger, rows, somebody, store_search, value
from tests.people.world import CLOSED, HALF_HIDDEN, HIDDEN, HIDDEN_WORDS, NAMELESS, PERSON_IDS, cards

KESTREL = {card["person_id"] for card in cards() if card["company_name"] == "Kestrel Labs"}
PUNE = {card["person_id"] for card in cards() if card["city"] == "Pune" and card.get("visible", True)}
VISIBLE = {card["person_id"] for card in cards() if card.get("visible", True)}

QUERY = "backend engineer for payments in Python"

# The name and size of the local model: what the embedded world was filled with.
SAME_VECTORS = {"EMBEDDINGS": "openai", "OPENAI_EMBEDDING_MODEL": "all-MiniLM-L6-v2", "EMBEDDING_DIMENSIONS": "384"}


def post(client: TestClient, user: str, query: str, *, key: str | None = None, **fields: Any) -> Any:
    headers = as_user(user) | ({"Idempotency-Key": key} if key is not None else {})
    return client.post("/people/search", json={"query": query} | fields, headers=headers)


def found(client: TestClient, query: str = QUERY, *, user: str | None = None, **fields: Any) -> dict[str, Any]:
    response = post(client, user or somebody(), query, **fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def ids(body: dict[str, Any]) -> list[str]:
    return [person["id"] for person in body["people"]]


def relaxations(body: dict[str, Any]) -> dict[str, int]:
    return {relaxation["constraint"]: relaxation["additional_people"] for relaxation in body["relaxations"]}


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture(scope="module")
def embedding_client(world_url: str, model: FakeOpenAI) -> Iterator[TestClient]:
    """The application with an embedding model that may fail."""
    with client_of(world_url, OPENAI_BASE_URL=model.url, MODEL_MAX_RETRIES="0", **SAME_VECTORS) as client:
        yield client


@pytest.mark.parametrize("query", ["hello", "Hi there!", "thanks"])
def test_who_asks_nothing_is_shown_nobody(client: TestClient, query: str) -> None:
    user = somebody()
    assert found(client, query, user=user)["people"] == []
    assert client.get("/credits", headers=as_user(user)).json() == {"balance": 9}
    assert ids(found(client, query, open_to_work_only=True))


def test_what_is_named_and_nobody_shown_has_is_missed_by_all(client: TestClient) -> None:
    unknown = found(client, "backend engineer at Zyxwell")["people"]
    assert unknown
    assert all([each for each in person["misses"] if "zyxwell" in each.lower()] == ["at Zyxwell"] for person in unknown)
    assert not any(
        "kestrel" in each.lower()
        for person in found(client, "people from Kestrel Labs")["people"]
        for each in person["misses"]
    )


class TestTheAnswer:
    def test_it_has_the_promised_shape(self, client: TestClient) -> None:
        body = found(client)
        assert set(body) == {
            "search_id", "people", "constraints", "fallback_tier", "relaxations", "degraded",
        }  # fmt: skip
        assert (body["fallback_tier"], body["relaxations"], body["degraded"]) == (0, [], [])
        assert len(body["people"]) == 5
        for person in body["people"]:
            assert set(person) == {
                "id", "name", "headline", "bio", "similarity_percent", "why_matched", "open_to_work", "open_to_contact",
                "work_preferred_locations", "work_preferred_salary_min", "matched_cards", "meets", "misses",
            }  # fmt: skip
            assert 1 <= len(person["why_matched"]) <= 3
            assert all(0 < len(reason) <= 120 for reason in person["why_matched"])
            assert 1 <= len(person["matched_cards"]) <= 3
            assert 0 <= person["similarity_percent"] <= 100
        percents = [person["similarity_percent"] for person in body["people"]]
        assert percents == sorted(percents, reverse=True)

    def test_those_who_fit_come_first(self, client: TestClient) -> None:
        summaries = [person["matched_cards"][0]["summary"] for person in found(client)["people"]]
        assert all("payments in Python" in summary for summary in summaries)

    def test_no_answer_holds_contact_details_or_a_hidden_card(self, client: TestClient) -> None:
        for query in (QUERY, f"{HIDDEN_WORDS} engineer", f"{HIDDEN_WORDS} project"):
            body = found(client, query)
            assert HIDDEN not in ids(body)
            # the reading of the query may repeat its words
            text = json.dumps(body["people"])
            assert HIDDEN_WORDS not in text
            assert "@example" not in text
            assert "99999" not in text

    def test_how_the_query_was_read_is_told(self, client: TestClient) -> None:
        body = found(client, "engineers at Kestrel Labs in Pune, not from Lumen Grid")
        constraints = body["constraints"]
        assert constraints["query_original"] == "engineers at Kestrel Labs in Pune, not from Lumen Grid"
        assert constraints["must"]["company_norm"] == ["kestrel labs"]
        assert constraints["must"]["city"] == "pune"
        assert constraints["exclude"]["company_norm"] == ["lumen grid"]

    def test_a_result_opens_the_profile_with_the_same_reasons(self, client: TestClient) -> None:
        user = somebody()
        body = found(client, user=user)
        for person in body["people"]:
            opened = client.get(
                f"/people/{person['id']}", params={"search_id": body["search_id"]}, headers=as_user(user)
            ).json()
            assert opened["why_matched"] == person["why_matched"]
            assert opened["name"] == person["name"]


class TestFilters:
    def test_what_is_excluded_is_in_no_tier(self, client: TestClient) -> None:
        for query in ("engineers not from Lumen Grid", "engineers at Kestrel Labs in Pune, not from Lumen Grid"):
            body = found(client, query)
            assert body["people"]
            cards = [card for person in body["people"] for card in person["matched_cards"]]
            assert not [card for card in cards if card["company_name"] == "Lumen Grid"]

    def test_too_few_who_fit_exactly_are_filled_up_from_a_wider_tier(self, client: TestClient) -> None:
        body = found(client, "engineers at Kestrel Labs")
        assert body["fallback_tier"] == 3
        assert len(body["people"]) == 5

    def test_only_constraints_that_the_query_holds_are_relaxed(self, client: TestClient) -> None:
        assert found(client, "engineers in Pune")["fallback_tier"] == 2
        # nothing could be dropped: the few are all there are
        assert found(client, "engineers", salary_max=1_200_000)["fallback_tier"] == 0

    def test_relaxations_say_how_many_more_there_would_be(self, client: TestClient) -> None:
        body = found(client, "engineers at Kestrel Labs in Pune")
        both = KESTREL & PUNE
        assert relaxations(body) == {"company_norm": len(PUNE - both), "location": len(KESTREL - both)}
        assert all(relaxation["label"] for relaxation in body["relaxations"])

    def test_the_request_itself_wins_over_the_query(self, client: TestClient) -> None:
        query = "engineers who are open to work"
        assert "open_to_work_only" in relaxations(found(client, query))
        body = found(client, query, open_to_work_only=False)
        assert relaxations(body) == {}
        strict = found(client, QUERY, open_to_work_only=True)
        assert {person["open_to_work"] for person in strict["people"]} == {True}
        assert relaxations(strict) == {"open_to_work_only": len({CLOSED, NAMELESS})}

    def test_nobody_who_asks_for_more_than_is_offered_is_shown(self, client: TestClient) -> None:
        body = found(client, QUERY, salary_max=1_400_000)
        asked = [person["work_preferred_salary_min"] for person in body["people"]]
        assert all(salary is None or salary <= 1_400_000 for salary in asked)
        # who says nothing is shown too, and the recruiter's own note filters nobody
        assert relaxations(body) == {"offer_salary_inr_per_year": len(PERSON_IDS) - 5}
        assert relaxations(found(client, QUERY, salary_max=1_400_000, salary_min=1_300_000)) == relaxations(body)

    def test_a_filter_that_matches_nobody_gives_nobody(self, client: TestClient) -> None:
        body = found(client, QUERY, preferred_locations=["Atlantis"])
        assert body["people"] == []
        assert relaxations(body) == {"preferred_locations": len(VISIBLE)}


class TestConditions:
    """Who meets what of the question, and who misses what."""

    def test_the_reading_says_where_the_query_says_it(self, client: TestClient) -> None:
        query = "backend engineers at Kestrel Labs in Pune, not from Lumen Grid"
        evidence = found(client, query)["constraints"]["evidence"]
        said = {(each["field"], query[each["start"] : each["end"]], each["assertion"]) for each in evidence}
        assert said == {
            ("must.role", "backend engineers", "affirmed"),
            ("must.company_norm", "Kestrel Labs", "affirmed"),
            ("must.location_text", "Pune", "affirmed"),
            ("exclude.company_norm", "Lumen Grid", "negated"),
        }

    def test_it_says_so_of_the_query_as_it_was_typed(self, client: TestClient) -> None:
        query = "backend  engineers\n in   Pune for 12.5 LPA"
        evidence = found(client, query)["constraints"]["evidence"]
        said = {each["field"]: (query[each["start"] : each["end"]], each["value"]) for each in evidence}
        assert said["must.location_text"] == ("Pune", "pune")
        assert said["must.offer_salary_inr_per_year"] == ("12.5 LPA", "1250000")

    def test_who_misses_something_says_so_and_stands_behind_who_meets_all(self, client: TestClient) -> None:
        people = found(client, "engineers at Kestrel Labs in Pune")["people"]
        both = KESTREL & PUNE
        assert {person["id"] for person in people if not person["misses"]} == both
        assert [bool(person["misses"]) for person in people] == sorted(bool(person["misses"]) for person in people)
        for person in people:
            assert ("at Kestrel Labs" in person["meets"]) == (person["id"] in KESTREL)
            assert ("in Pune" in person["misses"]) == (person["id"] not in PUNE)

    def test_where_enough_meet_all_nobody_else_is_shown(self, client: TestClient) -> None:
        for person in found(client, "backend engineers in Pune")["people"]:
            assert person["id"] in PUNE
            assert (person["meets"], person["misses"]) == (["in Pune", "backend engineers"], [])

    def test_constraints_of_the_request_replace_the_reading(self, client: TestClient) -> None:
        query = "engineers at Kestrel Labs in Pune"
        constraints = found(client, query)["constraints"]
        constraints["must"]["company_norm"] = []
        constraints["exclude"]["company_norm"] = ["Kestrel Labs"]
        body = found(client, query, constraints=constraints)
        assert body["constraints"]["must"]["company_norm"] == []
        assert body["constraints"]["exclude"]["company_norm"] == ["kestrel labs"]
        assert {"company_norm"} & set(relaxations(body)) == set()
        assert set(ids(body)) <= PUNE - KESTREL

    def test_constraints_of_the_request_may_be_few_and_must_be_text(self, client: TestClient) -> None:
        body = found(client, "whoever", constraints={"must": {"city": "Pune"}})
        assert set(ids(body)) <= PUNE
        assert post(client, somebody(), "whoever", constraints={"must": {"city": "a\x00b"}}).status_code == 422

    @pytest.mark.parametrize("constraints", [{"town": "Pune"}, {"must": {"town": "Pune"}}, {"exclude": {"name": []}}])
    def test_constraints_that_there_are_not_are_refused_and_cost_nothing(
        self, client: TestClient, constraints: dict[str, Any]
    ) -> None:
        user = somebody()
        assert post(client, user, "whoever", constraints=constraints).status_code == 422
        assert client.get("/credits", headers=as_user(user)).json() == {"balance": 10}

    def test_constraints_may_be_only_preferred_and_an_idempotency_key_stands_for_them(self, client: TestClient) -> None:
        query, user = "engineers at Kestrel Labs in Pune", somebody()
        constraints = found(client, query)["constraints"]
        constraints["must"] |= {"company_norm": [], "city": None, "country": None, "location_text": None}
        constraints["should"] |= {"company_norm": ["kestrel lab"], "location": ["pune"]}
        response = post(client, user, query, key="edited", constraints=constraints)
        body = response.json()
        assert body["constraints"]["should"]["company_norm"] == ["kestrel labs"]
        assert body["constraints"]["evidence"] == constraints["evidence"]
        for person in body["people"]:
            assert ("at Kestrel Labs" in person["meets"]) == (person["id"] in KESTREL)
            assert ("in Pune" in person["meets"]) == (person["id"] in PUNE)
            assert not {"at Kestrel Labs", "in Pune"} & set(person["misses"])
        assert post(client, user, query, key="edited", constraints=constraints).json() == body
        constraints["should"]["location"] = []
        assert post(client, user, query, key="edited", constraints=constraints).status_code == 409

    def test_constraints_that_nobody_meets_are_refused_with_the_nearest_and_cost_nothing(
        self, client: TestClient, world_url: str
    ) -> None:
        user = somebody()
        wrong: list[tuple[dict[str, dict[str, Any]], str]] = [
            ({"must": {"company_norm": ["Kestral Labs"]}}, "did you mean 'Kestrel Labs'"),
            ({"exclude": {"location": ["Bengalurx"]}}, "did you mean 'Bengaluru"),
            ({"must": {"location_text": "Pune or Bengalurx"}}, "did you mean 'Bengaluru"),
            ({"must": {"seniority_level": ["senor"]}}, "did you mean 'senior'"),
            ({"must": {"time_start": "2021-13"}}, "YYYY-MM-DD"),
        ]
        for part, message in wrong:
            response = post(client, user, "whoever", constraints=part)
            assert response.status_code == 422, response.text
            [error] = response.json()["errors"]
            [[name, fields]] = part.items()
            assert error["pointer"] == f"/constraints/{name}/{next(iter(fields))}"
            assert message in error["message"]
        assert ledger(world_url, user) == [10]
        # as the reading would leave it
        assert post(
            client, user, "worked at Kestral Labs", constraints={"must": {"company_norm": ["kestral labs"]}}
        ).is_success

    @pytest.mark.parametrize("query", ["Engineer 07", "engineer 07", "who is Engineer 07?"])
    def test_somebody_named_outright_is_found_first(self, client: TestClient, query: str) -> None:
        body = found(client, query)
        assert ids(body) == [PERSON_IDS[7]]
        assert body["constraints"]["must"]["name"] == ["engineer 07"]


class TestTheCharge:
    def test_a_search_costs_one_credit_and_is_stored(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        body = found(client, user=user)
        assert ledger(world_url, user) == [10, -1]
        assert rows(
            world_url,
            """select query_text, parsed_constraints, fallback_tier,
                 round(extract(epoch from expires_at - created_at) / 3600)::int
               from people_searches where id = %s and user_id = %s""",
            body["search_id"], user,
        ) == [(QUERY, body["constraints"], 0, 24)]  # fmt: skip
        stored = rows(
            world_url,
            """select person_id, rank, extra -> 'why_matched', extra -> 'matched_parent_ids' ->> 0
               from people_search_results where search_id = %s order by rank""",
            body["search_id"],
        )
        assert stored == [
            (person["id"], rank, person["why_matched"], person["matched_cards"][0]["id"])
            for rank, person in enumerate(body["people"], start=1)
        ]
        assert value(
            world_url,
            "select reference from credit_ledger where user_id = %s and reason = 'search'", user,
        ) == body["search_id"]  # fmt: skip

    def test_without_a_credit_nothing_is_stored(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        store_search(world_url, user, [], credits=0)
        response = post(client, user, QUERY, key="k")
        assert (response.status_code, response.json()["type"]) == (402, "urn:quarry:problem:not-enough-credits")
        assert value(world_url, "select count(*) from people_searches where user_id = %s", user) == 1
        assert value(world_url, "select count(*) from idempotency_keys where caller = %s", user) == 0
        assert ledger(world_url, user) == []

    def test_a_credit_spent_meanwhile_is_noticed_and_nothing_stored(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        store_search(world_url, user, [], credits=1)
        with psycopg.connect(world_url, autocommit=True) as connection:
            # what another search does between this one's look at the balance and its charge
            connection.execute(
                f"""create function spend_all() returns trigger language plpgsql as $$ begin
                      update credit_accounts set balance = 0 where user_id = '{user}'; return new; end $$;
                    create trigger spend_all before insert on people_searches for each row
                    when (new.user_id = '{user}') execute function spend_all()""".encode()
            )
            try:
                assert post(client, user, QUERY).status_code == 402
            finally:
                connection.execute("drop function spend_all cascade")
        assert value(world_url, "select count(*) from people_searches where user_id = %s", user) == 1
        assert ledger(world_url, user) == [1]

    def test_a_search_that_finds_nobody_costs_a_credit_too(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        body = found(client, user=user, preferred_locations=["Atlantis"])
        assert body["people"] == []
        assert ledger(world_url, user) == [10, -1]

    def test_in_an_empty_domain_nobody_is_found_for_a_credit(self, database_url: str) -> None:
        with client_of(database_url, INITIAL_CREDITS="1", SEARCH_RESULT_EXPIRY_HOURS="0.5") as client:
            body = found(client, "engineers at Kestrel Labs in Pune", user="ada")
            assert (body["people"], body["relaxations"], body["fallback_tier"]) == ([], [], 0)
            assert body["constraints"]["must"]["city"] == "pune"
            assert post(client, "ada", QUERY).status_code == 402
        assert ledger(database_url, "ada") == [1, -1]
        assert value(
            database_url, "select extract(epoch from expires_at - created_at)::int from people_searches"
        ) == 1800  # fmt: skip


class TestFailures:
    def test_a_query_that_cannot_be_embedded_is_unavailable_and_costs_nothing(
        self, embedding_client: TestClient, model: FakeOpenAI, world_url: str
    ) -> None:
        user = somebody()
        model.enqueue_embeddings(Reply.http_error(500), Reply.http_error(500))
        for key in ("k1", None):
            response = post(embedding_client, user, QUERY, key=key)
            assert (response.status_code, response.json()["status"]) == (503, 503)
            assert response.headers["retry-after"]
        assert ledger(world_url, user) == [10]
        assert value(world_url, "select count(*) from people_searches where user_id = %s", user) == 0
        # and the key may be used again at once
        assert post(embedding_client, user, QUERY, key="k1").status_code == 200
        assert ledger(world_url, user) == [10, -1]

    def test_a_query_in_which_the_model_finds_nothing_finds_nobody_for_a_credit(
        self, model: FakeOpenAI, world_url: str
    ) -> None:
        user = somebody()
        model.enqueue_embeddings(Reply.raw({"data": [{"index": 0, "embedding": []}]}))
        # of its own, since a query's vector is kept
        with client_of(world_url, OPENAI_BASE_URL=model.url, MODEL_MAX_RETRIES="0", **SAME_VECTORS) as client:
            body = found(client, QUERY, user=user, key="k", salary_max=1_200_000)
            assert (body["people"], body["relaxations"], body["fallback_tier"]) == ([], [], 0)
            assert ledger(world_url, user) == [10, -1]
            stored = value(world_url, "select id::text from people_searches where user_id = %s", user)
            assert stored == body["search_id"]
            # and it is that call's answer from now on
            assert post(client, user, QUERY, key="k", salary_max=1_200_000).json() == body
            assert ledger(world_url, user) == [10, -1]
            assert found(client, QUERY, user=user)["people"]

    def test_another_embedding_model_than_the_data_s_is_unavailable(self, world_url: str, model: FakeOpenAI) -> None:
        with client_of(world_url, OPENAI_BASE_URL=model.url, EMBEDDINGS="openai") as client:
            user = somebody()
            assert post(client, user, QUERY).status_code == 503
        assert ledger(world_url, user) == [10]

    def test_a_connection_lost_amid_the_transaction_leaves_nothing(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        with psycopg.connect(world_url, autocommit=True) as connection:
            connection.execute(
                f"""create function cut_off() returns trigger language plpgsql as $$ begin
                      perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
                    create trigger cut_off after insert on credit_ledger for each row
                    when (new.user_id = '{user}' and new.reason = 'search') execute function cut_off()""".encode()
            )
            counted_credits(client)
            try:
                assert post(client, user, QUERY, key="k").status_code == 503
            finally:
                connection.execute("drop function cut_off cascade")
        assert ledger(world_url, user) == [10]
        assert counted_credits(client) == 0
        assert value(world_url, "select count(*) from people_searches where user_id = %s", user) == 0
        assert post(client, user, QUERY, key="k").status_code == 200
        assert ledger(world_url, user) == [10, -1]
        assert counted_credits(client) == 1

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({}, "/query"),
            ({"query": "   "}, "/query"),
            ({"query": "x" * 2001}, "/query"),
            ({"query": "a\x00b"}, "/query"),
            ({"query": QUERY, "preferred_locations": ["a\x00"]}, "/preferred_locations/0"),
            ({"query": QUERY, "preferred_locations": "Pune"}, "/preferred_locations"),
            ({"query": QUERY, "salary_max": -1}, "/salary_max"),
            ({"query": QUERY, "salary_min": 2, "salary_max": 1}, "/salary_max"),
            ({"query": QUERY, "open_to_work_only": "perhaps"}, "/open_to_work_only"),
            ({"query": QUERY, "colour": "red"}, "/colour"),
        ],
    )
    def test_a_wrong_body_is_refused_and_costs_nothing(
        self, client: TestClient, world_url: str, body: dict[str, Any], pointer: str
    ) -> None:
        user = somebody()
        response = client.post("/people/search", json=body, headers=as_user(user) | {"Idempotency-Key": "k"})
        assert response.status_code == 422
        assert response.json()["errors"][0]["pointer"] == pointer
        assert not rows(world_url, "select from credit_ledger where user_id = %s", user)

    def test_a_lone_surrogate_is_refused(self, client: TestClient) -> None:
        response = client.post(
            "/people/search", content=b'{"query": "\\ud800"}', headers={"Content-Type": "application/json"}
        )
        assert response.status_code == 422


class TestReplay:
    def test_the_same_key_and_body_give_the_same_answer_for_nothing(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        first, *others = (post(client, user, QUERY, key="k1") for _ in range(3))
        assert [other.json() for other in others] == [first.json()] * 2
        assert ledger(world_url, user) == [10, -1]
        assert value(world_url, "select count(*) from people_searches where user_id = %s", user) == 1

    def test_only_what_was_kept_is_given_where_nothing_else_is_asked_for(
        self, client: TestClient, world_url: str
    ) -> None:
        def kept(user: str, headers: dict[str, str]) -> Any:
            return client.post("/people/search?only_kept=true", json={"query": QUERY}, headers=as_user(user) | headers)

        user, keyed = somebody(), {"Idempotency-Key": "k1"}
        assert [kept(user, headers).status_code for headers in (keyed, {})] == [404, 404]
        first = post(client, user, QUERY, key="k1")
        assert kept(user, keyed).json() == first.json()
        assert kept(somebody(), keyed).status_code == 404
        assert ledger(world_url, user) == [10, -1]

    def test_a_replay_needs_no_credit(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        store_search(world_url, user, [], credits=1)
        first = post(client, user, QUERY, key="k1")
        assert post(client, user, QUERY).status_code == 402
        assert post(client, user, QUERY, key="k1").json() == first.json()

    def test_a_key_with_another_body_is_a_conflict(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        post(client, user, QUERY, key="k1")
        for fields in ({"open_to_work_only": True}, {"salary_max": 1}):
            response = post(client, user, QUERY, key="k1", **fields)
            assert (response.status_code, response.json()["type"]) == (409, "urn:quarry:problem:conflict")
        assert ledger(world_url, user) == [10, -1]
        # the same body, written in another way
        assert post(client, user, f"  {QUERY} ", key="k1", preferred_locations=[]).status_code == 200

    def test_another_users_key_is_another_key(self, client: TestClient) -> None:
        one, other = (post(client, somebody(), QUERY, key="k1").json() for _ in range(2))
        assert one["search_id"] != other["search_id"]

    def test_an_expired_key_may_be_used_anew(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        first = post(client, user, QUERY, key="k1").json()
        with psycopg.connect(world_url) as connection:
            connection.execute("update idempotency_keys set expires_at = now() where caller = %s", [user])
        assert post(client, user, "billing", key="k1").json()["search_id"] != first["search_id"]
        assert ledger(world_url, user) == [10, -1, -1]

    def test_while_the_first_call_runs_a_second_one_is_told_to_come_back(
        self, client: TestClient, world_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        user = somebody()
        post(client, user, QUERY, key="k1")
        monkeypatch.setattr(idempotency, "WAIT_SECONDS", 0.1)
        with psycopg.connect(world_url) as connection:
            connection.execute(
                "update idempotency_keys set response = null, claimed_until = now() + interval '1 hour' where caller = %s",
                [user],
            )
        response = post(client, user, QUERY, key="k1")
        assert (response.status_code, response.json()["type"]) == (409, "urn:quarry:problem:conflict")
        assert int(response.headers["retry-after"]) > 0
        assert ledger(world_url, user) == [10, -1]

    @pytest.mark.parametrize("key", ["", "x" * 256, "two words", "tab\there", "k\x7f", "schlüssel"])
    def test_a_key_that_is_none_is_refused(self, client: TestClient, key: str) -> None:
        headers = [(b"Idempotency-Key", key.encode("latin-1"))]
        response = client.post("/people/search", json={"query": QUERY}, headers=headers)
        assert response.status_code == 422
        assert response.json()["errors"][0]["pointer"] == "/Idempotency-Key"

    def test_the_longest_and_the_oddest_keys_are_taken(self, client: TestClient) -> None:
        user = somebody()
        for key in ("x" * 255, "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~", str(uuid.uuid4())):
            assert post(client, user, QUERY, key=key).status_code == 200


class TestTheRunLog:
    def test_a_search_is_a_run_with_its_steps_and_results(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        body = found(client, "engineers at Kestrel Labs in Pune", user=user)
        [(run_id, status, end_reason)] = _logged(world_url, user, runs=1)
        assert (status, end_reason) == ("completed", "answered")
        steps = rows(
            world_url, "select name, counts from search_run_steps where run_id = %s order by step_number", run_id
        )
        assert [name for name, _ in itertools.groupby(name for name, _ in steps)] == [
            "credit_check", "vocabulary", "people_query", "query_embedding", "retrieve", "describe",
            "count_relaxations", "people_reasons", "store",
        ]  # fmt: skip
        tiers = [counts for name, counts in steps if name == "retrieve"]
        assert [counts["tier"] for counts in tiers] == [0, 0, 2, 3, 2, 3]
        assert tiers[0]["people"] == len(KESTREL & PUNE)
        assert tiers[2]["people"] == len(KESTREL)
        results = rows(
            world_url, "select result_type, result_id from search_run_results where run_id = %s order by rank", run_id
        )
        assert results == [("person", id) for id in ids(body)]

    def test_a_replay_is_no_search(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        for _ in range(3):
            post(client, user, QUERY, key="k1")
        _logged(world_url, user, runs=1)

    def test_who_has_no_credit_is_logged_as_such(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        store_search(world_url, user, [], credits=0)
        post(client, user, QUERY)
        [(_, status, end_reason)] = _logged(world_url, user, runs=1)
        assert (status, end_reason) == ("failed", "no_credit")


def _logged(url: str, user: str, *, runs: int) -> list[tuple[Any, ...]]:
    """The user's runs, once that many are written: they are after the answer."""
    for _ in range(100):
        found = rows(url, "select id, status, end_reason from search_runs where caller = %s", user)
        if len(found) >= runs:
            break
    assert len(found) == runs
    return found


def test_a_half_hidden_person_is_found_by_the_visible_card_alone(client: TestClient) -> None:
    body = found(client, "Builds billing in Java for shops")
    [person] = [person for person in body["people"] if person["id"] == HALF_HIDDEN]
    assert [card["id"] for card in person["matched_cards"]] == [f"{HALF_HIDDEN}-c1"]
