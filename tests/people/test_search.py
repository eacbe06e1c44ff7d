"""`POST /people/search` without a chat model, over a world in which everyone is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.conftest import client_of
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.people.factories import as_user, ledger, rows, somebody, store_search, value
from tests.people.world import CLOSED, HIDDEN, HIDDEN_WORDS, NAMELESS, PERSON_IDS, cards

KESTREL = {card["person_id"] for card in cards() if card["company_name"] == "Kestrel Labs"}
PUNE = {card["person_id"] for card in cards() if card["city"] == "Pune" and card.get("visible", True)}
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


def test_an_answer_has_the_promised_shape(client: TestClient) -> None:
    body = found(client)
    assert set(body) == {
        "search_id", "people", "understood", "constraints", "fallback_tier", "relaxations", "degraded", "charged", "notice",
    }  # fmt: skip
    assert (body["fallback_tier"], body["relaxations"], body["degraded"]) == (0, [], [])
    assert len(body["people"]) == 5
    for person in body["people"]:
        assert set(person) == {
            "id", "name", "headline", "bio", "similarity_percent", "why_matched", "open_to_work", "open_to_contact",
            "work_preferred_locations", "work_preferred_salary_min", "matched_cards", "meets", "misses",
        }  # fmt: skip
        assert 1 <= len(person["why_matched"]) <= 3
        assert 1 <= len(person["matched_cards"]) <= 3
        assert "payments in Python" in person["matched_cards"][0]["summary"]
    percents = [person["similarity_percent"] for person in body["people"]]
    assert percents == sorted(percents, reverse=True)


def test_no_answer_holds_contact_details_or_a_hidden_card(client: TestClient) -> None:
    for query in (QUERY, f"{HIDDEN_WORDS} engineer", f"{HIDDEN_WORDS} project"):
        body = found(client, query)
        assert HIDDEN not in ids(body)
        # the reading of the query may repeat its words
        text = json.dumps(body["people"])
        assert not any(said in text for said in (HIDDEN_WORDS, "@example", "99999"))


class TestFilters:
    def test_too_few_who_fit_exactly_are_filled_up_from_a_wider_tier(self, client: TestClient) -> None:
        body = found(client, "engineers at Kestrel Labs")
        assert (body["fallback_tier"], len(body["people"])) == (3, 5)
        # a tier that would drop what the query does not hold is none
        assert found(client, "engineers", salary_max=1_200_000)["fallback_tier"] == 0

    def test_relaxations_say_how_many_more_there_would_be(self, client: TestClient) -> None:
        body = found(client, "engineers at Kestrel Labs in Pune")
        both = KESTREL & PUNE
        assert relaxations(body) == {"company_norm": len(PUNE - both), "location": len(KESTREL - both)}
        assert [each["label"] for each in body["relaxations"]] == ["Not only at Kestrel Labs", "Not only in Pune"]

    def test_the_request_itself_wins_over_the_query(self, client: TestClient) -> None:
        assert relaxations(found(client, "engineers who are open to work", open_to_work_only=False)) == {}
        strict = found(client, QUERY, open_to_work_only=True)
        assert {person["open_to_work"] for person in strict["people"]} == {True}
        assert relaxations(strict) == {"open_to_work_only": len({CLOSED, NAMELESS})}
        assert found(client, QUERY, preferred_locations=["Atlantis"])["people"] == []

    def test_nobody_who_asks_for_more_than_is_offered_is_shown(self, client: TestClient) -> None:
        body = found(client, QUERY, salary_max=1_400_000)
        asked = [person["work_preferred_salary_min"] for person in body["people"]]
        assert all(salary is None or salary <= 1_400_000 for salary in asked)
        # who says nothing is shown too, and the recruiter's own note filters nobody
        assert relaxations(body) == {"offer_salary_inr_per_year": len(PERSON_IDS) - 5}
        assert relaxations(found(client, QUERY, salary_max=1_400_000, salary_min=1_300_000)) == relaxations(body)

    def test_an_expectation_that_is_not_stated_is_not_ticked(self, client: TestClient) -> None:
        query = "backend engineers for at most 5 lakh"
        people = found(client, query)["people"]
        assert {person["id"] for person in people} <= {CLOSED, NAMELESS, "p-half-hidden"}
        assert people
        assert not any("expecting" in label for person in people for label in person["meets"])

    def test_a_greeting_is_searched_for_by_its_words(self, client: TestClient) -> None:
        body = found(client, "hello there")
        assert body["people"]
        assert not any(person["meets"] for person in body["people"])

    @pytest.mark.parametrize("query", ["people like Engineer 07", "somebody similar to engineer 07"])
    def test_a_person_whom_others_should_resemble_is_the_seed(self, client: TestClient, query: str) -> None:
        body = found(client, query)
        assert body["constraints"]["like"] == "engineer 07"
        assert len(body["people"]) == 5
        assert PERSON_IDS[7] not in ids(body)

    @pytest.mark.parametrize("query", ["Engineer 07", "who is Engineer 07?"])
    def test_somebody_named_outright_is_found_first(self, client: TestClient, query: str) -> None:
        body = found(client, query)
        assert ids(body) == [PERSON_IDS[7]]
        assert body["constraints"]["must"]["name"] == ["engineer 07"]


class TestExclusions:
    def test_what_is_excluded_is_in_no_tier(self, client: TestClient) -> None:
        body = found(client, "engineers at Kestrel Labs in Pune, not from Lumen Grid")
        companies = {card["company_name"] for person in body["people"] for card in person["matched_cards"]}
        assert companies
        assert "Lumen Grid" not in companies
        assert all("not at Lumen Grid" in person["meets"] for person in body["people"])

    def test_what_no_profile_says_is_not_claimed_to_be_met(self, client: TestClient) -> None:
        for person in found(client, "engineers in Pune who are not smokers")["people"]:
            assert "not smokers: no profile says who is" in person["misses"]
            assert not any("smokers" in label for label in person["meets"])

    def test_nobody_stands_in_for_those_who_are_all_ruled_out_and_nothing_is_charged(
        self, client: TestClient, world_url: str
    ) -> None:
        user = somebody()
        body = found(client, "backend engineers without full time work", user=user)
        assert (body["people"], body["charged"]) == ([], False)
        assert body["notice"].startswith("Your exclusions rule out everybody who fits: ")
        assert "not full time" in body["notice"]
        assert ledger(world_url, user) == [10]
        assert found(client, "backend engineers without Rust")["people"]


class TestConditions:
    """Who meets what of the question, and who misses what."""

    def test_the_reading_says_where_the_query_as_it_was_typed_says_it(self, client: TestClient) -> None:
        query = "backend  engineers at Kestrel Labs\n in  Pune, not from Lumen Grid"
        evidence = found(client, query)["constraints"]["evidence"]
        said = {(each["field"], query[each["start"] : each["end"]], each["assertion"]) for each in evidence}
        assert said == {
            ("must.role", "backend  engineers", "affirmed"),
            ("must.company_norm", "Kestrel Labs", "affirmed"),
            ("must.location_text", "Pune", "affirmed"),
            ("exclude.company_norm", "Lumen Grid", "negated"),
        }

    def test_who_misses_something_says_so_and_stands_behind_who_meets_all(self, client: TestClient) -> None:
        people = found(client, "engineers at Kestrel Labs in Pune")["people"]
        both = KESTREL & PUNE
        assert {person["id"] for person in people if not person["misses"]} == both
        assert [bool(person["misses"]) for person in people] == sorted(bool(person["misses"]) for person in people)
        for person in people:
            assert ("at Kestrel Labs" in person["meets"]) == (person["id"] in KESTREL)
            assert ("in Pune" in person["misses"]) == (person["id"] not in PUNE)

    def test_constraints_of_the_request_replace_the_reading(self, client: TestClient) -> None:
        query = "engineers at Kestrel Labs in Pune"
        constraints = found(client, query)["constraints"]
        constraints["must"]["company_norm"] = []
        constraints["exclude"]["company_norm"] = ["Kestrel Labs"]
        body = found(client, query, constraints=constraints)
        assert body["constraints"]["must"]["company_norm"] == []
        assert body["constraints"]["exclude"]["company_norm"] == ["kestrel labs"]
        assert set(ids(body)) <= PUNE - KESTREL

    def test_what_was_understood_can_be_sent_back_without_a_condition(self, client: TestClient) -> None:
        query = "engineers at Kestrel Labs"
        read = found(client, query)["understood"]
        [company] = [chip for chip in read["chips"] if chip["label"] == "at Kestrel Labs"]
        [cards] = read["query"]["where"]
        place = int(company["pointer"].rpartition("/")[2])
        left = [each for number, each in enumerate(cards["where"]) if number != place]
        given = read | {"query": {"source": "people", "where": [{"exists": "experience", "where": left}]}}
        body = found(client, query, understood=given)
        assert body["constraints"]["must"]["company_norm"] == []
        assert [chip["label"] for chip in body["understood"]["chips"] if chip["pointer"].startswith("/where")] == [
            chip["label"] for chip in read["chips"] if chip["pointer"].startswith("/where") and chip != company
        ]

    def test_constraints_may_be_only_preferred_and_an_idempotency_key_stands_for_them(self, client: TestClient) -> None:
        query, user = "engineers at Kestrel Labs in Pune", somebody()
        constraints = found(client, query)["constraints"]
        constraints["must"] |= {"company_norm": [], "city": None, "country": None, "location_text": None}
        constraints["should"] |= {"company_norm": ["kestrel lab"], "location": ["pune"]}
        body = post(client, user, query, key="edited", constraints=constraints).json()
        assert body["constraints"]["should"]["company_norm"] == ["kestrel labs"]
        assert body["constraints"]["evidence"] == constraints["evidence"]
        for person in body["people"]:
            assert ("at Kestrel Labs" in person["meets"]) == (person["id"] in KESTREL)
            assert not {"at Kestrel Labs", "in Pune"} & set(person["misses"])
        constraints["should"]["location"] = []
        assert post(client, user, query, key="edited", constraints=constraints).status_code == 409

    @pytest.mark.parametrize(
        ("part", "pointer", "message"),
        [
            ({"exclude": {"location": ["Bengalurx"]}}, "location", "did you mean 'Bengaluru"),
            ({"must": {"seniority_level": ["senor"]}}, "seniority_level", "did you mean 'senior'"),
            ({"must": {"town": "Pune"}}, "town", ""),
        ],
    )
    def test_constraints_that_nobody_can_meet_are_refused_with_the_nearest_and_cost_nothing(
        self, client: TestClient, world_url: str, part: dict[str, dict[str, Any]], pointer: str, message: str
    ) -> None:
        user = somebody()
        response = post(client, user, "whoever", constraints=part)
        assert response.status_code == 422, response.text
        [error] = response.json()["errors"]
        assert error["pointer"].startswith("/constraints")
        assert error["pointer"].endswith(pointer)
        assert message in error["message"]
        assert ledger(world_url, user) in ([10], [])


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

    def test_without_a_credit_nothing_is_stored(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        store_search(world_url, user, [], credits=0)
        response = post(client, user, QUERY, key="k")
        assert (response.status_code, response.json()["type"]) == (402, "urn:quarry:problem:not-enough-credits")
        assert value(world_url, "select count(*) from people_searches where user_id = %s", user) == 1
        assert value(world_url, "select count(*) from idempotency_keys where caller = %s", user) == 0
        assert ledger(world_url, user) == []

    def test_in_an_empty_domain_nobody_is_found_and_charged_for(self, database_url: str) -> None:
        with client_of(database_url, INITIAL_CREDITS="1", SEARCH_RESULT_EXPIRY_HOURS="0.5") as client:
            body = found(client, "engineers at Kestrel Labs in Pune", user="ada")
            assert (body["people"], body["relaxations"], body["fallback_tier"]) == ([], [], 0)
            assert (body["charged"], body["notice"]) == (False, "Nobody fits. Nothing was charged.")
            assert post(client, "ada", QUERY).status_code == 200
        assert ledger(database_url, "ada") == [1]

    @pytest.mark.parametrize(
        "query", ["beekeepers in Pune", "notaries", "beekeepers who know Python", "taxidermists at Kestrel Labs"]
    )
    def test_where_nobody_has_the_role_asked_for_those_near_are_shown_for_nothing(
        self, client: TestClient, world_url: str, query: str
    ) -> None:
        user = somebody()
        body = found(client, query, user=user)
        assert (body["charged"], ledger(world_url, user)) == (False, [10])
        lacking = query.split()[0]
        assert all(lacking in person["misses"] for person in body["people"])
        assert lacking in body["notice"]

    def test_the_same_key_and_body_give_the_same_answer_for_nothing(self, client: TestClient, world_url: str) -> None:
        user = somebody()
        store_search(world_url, user, [], credits=1)
        first, *others = (post(client, user, QUERY, key="k1") for _ in range(3))
        assert [other.json() for other in others] == [first.json()] * 2
        assert ledger(world_url, user) == [1, -1]
        response = post(client, user, QUERY, key="k1", salary_max=1)
        assert (response.status_code, response.json()["type"]) == (409, "urn:quarry:problem:conflict")

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


class TestFailures:
    def test_a_query_that_cannot_be_embedded_is_unavailable_and_costs_nothing(
        self, embedding_client: TestClient, model: FakeOpenAI, world_url: str
    ) -> None:
        user = somebody()
        model.enqueue_embeddings(Reply.http_error(500))
        response = post(embedding_client, user, QUERY, key="k1")
        assert (response.status_code, response.json()["status"]) == (503, 503)
        assert response.headers["retry-after"]
        assert ledger(world_url, user) == [10]
        # and the key may be used again at once
        assert post(embedding_client, user, QUERY, key="k1").status_code == 200
        assert ledger(world_url, user) == [10, -1]

    def test_an_empty_embedding_finds_nobody_and_costs_nothing(self, model: FakeOpenAI, world_url: str) -> None:
        user = somebody()
        model.enqueue_embeddings(Reply.raw({"data": [{"index": 0, "embedding": []}]}))
        # of its own, since a query's vector is kept
        with client_of(world_url, OPENAI_BASE_URL=model.url, MODEL_MAX_RETRIES="0", **SAME_VECTORS) as client:
            body = found(client, QUERY, user=user, key="k", salary_max=1_200_000)
            assert (body["people"], body["relaxations"], body["fallback_tier"]) == ([], [], 0)
            # and it is that call's answer from now on
            assert post(client, user, QUERY, key="k", salary_max=1_200_000).json() == body
        assert ledger(world_url, user) == [10]

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({}, "/query"),
            ({"query": "x" * 2001}, "/query"),
            ({"query": "a\x00b"}, "/query"),
            ({"query": QUERY, "salary_min": 2, "salary_max": 1}, "/salary_max"),
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
