"""`POST /people/search` with a chat model, over the real wire: what it is asked, and what is done with what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.people.contract import Constraints
from tests.conftest import KEY, client_of, model_environment
from tests.fakes.openai_server import Body, FakeOpenAI, Handler, Reply, schema_name
from tests.people.factories import as_user, ledger, somebody, value

QUERY = "backned engineer for payments in Pune"
CLEANED = "backend engineer for payments in Pune"
READING: dict[str, Any] = Constraints(
    query_original=QUERY, query_cleaned=CLEANED, query_embedding_text="backend engineer, payments, Pune"
).model_dump() | {"must": Constraints(query_original="", query_cleaned="").must.model_dump() | {"city": "pune"}}


@pytest.fixture(scope="module")
def shared_client(world_url: str, shared_model: FakeOpenAI) -> Iterator[TestClient]:
    with client_of(world_url, **model_environment(shared_model.url)) as client:
        yield client


@pytest.fixture
def client(shared_client: TestClient, model: FakeOpenAI) -> TestClient:
    """The application with a chat model that gives up after a second and is not asked again."""
    return shared_client


def step_of(body: Body) -> str:
    return schema_name(body) or "people_cleanup"


def people_in(body: Body) -> list[dict[str, Any]]:
    """The evidence that a request for reasons holds."""
    block = body["messages"][1]["content"].partition("<people>\n")[2].partition("\n</people>")[0]
    return [json.loads(line) for line in block.splitlines()]


def reasons(body: Body) -> Reply:
    return Reply.json(
        {
            "people": [
                {"person_id": each["person_id"], "why_matched": [f"Fits {each['person_id']}"]}
                for each in people_in(body)
            ]
        }
    )


def playing(**replies: Reply | Handler) -> Handler:
    """A model that plays all three steps well but for those named, which are answered as given."""
    parts: dict[str, Reply | Handler] = {
        "people_cleanup": Reply.text(CLEANED),
        "people_query": Reply.json(READING),
        "people_reasons": reasons,
        **replies,
    }

    def respond(body: Body) -> Reply:
        part = parts[step_of(body)]
        return part if isinstance(part, Reply) else part(body)

    return respond


def search(client: TestClient, user: str | None = None, query: str = QUERY, **headers: str) -> dict[str, Any]:
    response = client.post("/people/search", json={"query": query}, headers=as_user(user or somebody()) | headers)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def asked(model: FakeOpenAI) -> list[str]:
    return [step_of(body) for body in model.chat_requests]


def test_the_model_tidies_reads_and_explains_in_three_calls(
    client: TestClient, model: FakeOpenAI, world_url: str
) -> None:
    model.respond = playing()
    user = somebody()
    body = search(client, user)
    assert asked(model) == ["people_cleanup", "people_query", "people_reasons"]
    assert body["degraded"] == []
    assert (body["constraints"]["query_original"], body["constraints"]["query_cleaned"]) == (QUERY, CLEANED)
    assert body["constraints"]["must"]["city"] == "pune"
    assert [person["why_matched"] for person in body["people"]] == [
        [f"Fits {person['id']}"] for person in body["people"]
    ]
    assert ledger(world_url, user) == [10, -1]
    stored = value(
        world_url,
        "select json_agg(extra -> 'why_matched' order by rank) from people_search_results where search_id = %s",
        body["search_id"],
    )
    assert stored == [person["why_matched"] for person in body["people"]]


def test_after_one_time_out_no_step_asks_the_model_again(world_url: str, model: FakeOpenAI) -> None:
    model.respond = lambda body: Reply.hang(60)
    with client_of(world_url, **model_environment(model.url) | {"MODEL_TIMEOUT_SECONDS": "0.3"}) as client:
        body = search(client)
    assert len(model.chat_requests) == 1
    assert body["people"]
    assert body["degraded"] == ["people_cleanup", "people_query", "people_reasons"]


def test_the_models_reading_leads_and_nothing_of_the_rules_is_added(client: TestClient, model: FakeOpenAI) -> None:
    query = "engineers at Kestrel Labs or elsewhere, preferably in Pune"
    reading = {
        "must": {"role": ["engineer"]},
        "should": {"company_norm": ["Kestrel"], "location": ["Pune"]},
        "exclude": {},
    }
    model.respond = playing(people_cleanup=Reply.text("x"), people_query=Reply.json(reading))
    body = search(client, query=query)["constraints"]
    assert body["must"] == Constraints().must.model_dump() | {"role": ["engineer"]}
    assert body["should"] == Constraints().should.model_dump() | {
        "company_norm": ["kestrel labs"],
        "location": ["pune"],
    }
    assert [(each["field"], query[each["start"] : each["end"]]) for each in body["evidence"]] == [
        ("must.role", "engineers"), ("should.company_norm", "Kestrel"), ("should.location", "Pune"),
    ]  # fmt: skip


def test_what_the_model_excludes_is_shown_by_nobody(client: TestClient, model: FakeOpenAI) -> None:
    query = "engineers, leave out Harbour Foods and Pune"
    reading = {
        "must": {"role": ["engineer"]},
        "should": {},
        "exclude": {"company_norm": ["Harbour Foods"], "location": ["Pune"]},
    }
    model.respond = playing(people_cleanup=Reply.text(query), people_query=Reply.json(reading))
    body = search(client, query=query)
    assert body["people"]
    for person in body["people"]:
        assert {card["company_name"] for card in person["matched_cards"]}.isdisjoint({"Harbour Foods"})
        assert {card["city"] for card in person["matched_cards"]}.isdisjoint({"Pune"})


def test_a_reason_that_the_data_of_the_person_lack_is_not_shown(client: TestClient, model: FakeOpenAI) -> None:
    def some(body: Body) -> Reply:
        said = ["Led the Kafka migration at Globex", "9 years of payments", "Knows Python"]
        return Reply.json(
            {"people": [{"person_id": each["person_id"], "why_matched": said} for each in people_in(body)]}
        )

    model.respond = playing(people_reasons=some)
    shown = [reason for person in search(client)["people"] for reason in person["why_matched"]]
    assert "Knows Python" in shown
    assert not any("Globex" in reason or "9 years" in reason for reason in shown)


@pytest.mark.parametrize("broken", [Reply.http_error(500), Reply.malformed()], ids=["500", "malformed"])
def test_a_model_that_fails_at_everything_degrades_and_no_more(
    client: TestClient, model: FakeOpenAI, world_url: str, broken: Reply
) -> None:
    model.respond = lambda body: broken
    user = somebody()
    body = search(client, user)
    assert body["degraded"] == ["people_cleanup", "people_query", "people_reasons"]
    assert (body["constraints"]["query_cleaned"], body["constraints"]["must"]["city"]) == (QUERY, "pune")
    assert len(body["people"]) == 5
    assert all(person["why_matched"] for person in body["people"])
    assert ledger(world_url, user) == [10, -1]


def test_contact_details_and_the_key_reach_no_model(client: TestClient, model: FakeOpenAI) -> None:
    model.respond = playing()
    search(client)
    told = json.dumps(model.requests)
    assert "@example" not in told
    assert "99999" not in told
    assert KEY not in told


def judging(**verdicts: dict[str, Any]) -> Handler:
    """Judges the people offered: the last one first, each with these verdicts by its place."""

    def respond(body: Body) -> Reply:
        offered = [each["person_id"] for each in people_in(body)][::-1]
        said = [
            {"person_id": id} | verdicts.get(f"at_{place}", verdicts.get("every", {}))
            for place, id in enumerate(offered)
        ]
        return Reply.json({"people": said})

    return respond


def test_the_model_sees_all_cards_of_more_people_than_are_shown_and_drops_and_orders_them(
    client: TestClient, model: FakeOpenAI
) -> None:
    model.respond = playing(people_reasons=judging(at_0={"fits": False, "lacks": "payments"}))
    body = search(client)
    offered = people_in(model.chat_requests[-1])
    assert len(offered) > len(body["people"]) == 5
    assert all(card["title"] for each in offered for card in each["cards"])
    last, *others = [each["person_id"] for each in offered][::-1]
    shown = [person["id"] for person in body["people"]]
    assert last not in shown
    # who misses less still comes first
    missed = {person["id"]: len(person["misses"]) for person in body["people"]}
    assert sorted(shown, key=lambda each: (missed[each], others.index(each))) == shown


def test_where_the_model_finds_that_nobody_fits_the_nearest_say_what_they_lack(
    client: TestClient, model: FakeOpenAI
) -> None:
    model.respond = playing(people_reasons=judging(every={"fits": False, "lacks": "fraud detection"}))
    body = search(client)
    assert len(body["people"]) == 5
    assert all("fraud detection" in person["misses"] for person in body["people"])


def test_what_of_a_reading_is_not_said_or_not_in_the_data_goes_back_to_the_model(
    client: TestClient, model: FakeOpenAI
) -> None:
    query = "engineers at Kestrel Labz"
    wrong = {
        "must": {"company_norm": ["kestrel labz"], "city": "Pune", "role": ["engineer"]},
        "should": {},
        "exclude": {},
    }
    right = {"must": {"company_norm": ["kestrel labs"], "role": ["engineer"]}, "should": {}, "exclude": {}}
    right["quotes"] = [{"key": "must.company_norm", "words": "Kestrel Labz"}]  # type: ignore[assignment]
    readings = iter([wrong, right])
    model.respond = playing(people_cleanup=Reply.text(query), people_query=lambda body: Reply.json(next(readings)))
    body = search(client, query=query)
    told = model.chat_requests[-2]["messages"][-1]["content"]
    assert "no words of the query say must.city 'pune'" in told
    assert "Kestrel Labs" in told
    assert body["constraints"]["must"]["company_norm"] == ["kestrel labs"]


@pytest.mark.parametrize("read", [{}, {"should": {"keywords": ["beekeepers"]}}, {"must": {"role": ["beekeepers"]}}])
def test_where_nobody_is_what_was_asked_for_nothing_is_charged_however_the_model_reads_it(
    client: TestClient, model: FakeOpenAI, world_url: str, read: dict[str, Any]
) -> None:
    query = "beekeepers in Pune"
    must = {"city": "pune"} | read.get("must", {})
    given = {"must": must, "should": read.get("should", {}), "quotes": {"city": "in Pune", "role": "beekeepers"}}
    quotes = [{"key": key, "words": words} for key, words in given["quotes"].items()]
    model.respond = playing(people_cleanup=Reply.text(query), people_query=Reply.json(given | {"quotes": quotes}))
    user = somebody()
    body = search(client, user, query)
    assert (body["charged"], ledger(world_url, user)) == (False, [10])
    assert all("beekeepers" in person["misses"] for person in body["people"])
