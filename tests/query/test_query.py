"""`POST /query` over tables that refer to each other."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.agent.service import run_query
from quarry.schema.algebra import Query
from quarry.services.services import Caller, Services
from tests.query.desk import BY_MONTH, FIELD_TEAM, asked, column, refused

TYPED_WRONG = {"field": "team", "value": "Feld"}


def test_the_contracts_example_has_its_result(client: TestClient) -> None:
    result = asked(client, BY_MONTH)
    assert result["rows"] == [["2026-10", 5, 3.4], ["2026-09", 2, 8]]
    assert [(each["name"], each["kind"], each.get("unit")) for each in result["columns"]] == [
        ("opened_on", "date", None), ("count", "number", None), ("avg(days_open)", "number", "days"),
    ]  # fmt: skip
    assert (result["total"], result["truncated"]) == (7, False)
    assert [each["pointer"] for each in result["filters"]] == ["/where/0"]
    assert Query.model_validate(result["query"]) == Query.model_validate(BY_MONTH)


def test_a_number_is_said_with_when_and_which(client: TestClient) -> None:
    query = {
        "source": "tickets",
        "where": [{"field": "team", "value": "field"}, {"field": "opened_on", "value": "2026-10"}],
        "aggregate": ["count"],
    }
    result = asked(client, query)
    assert (result["rows"], result["sentence"]) == ([[5]], "5 tickets in October 2026 (team: Field).")
    assert result["filters"] == [
        {"label": "team: Field", "pointer": "/where/0"},
        {"label": "opened on: in October 2026", "pointer": "/where/1"},
    ]


def test_rows_of_a_collection_that_refers_to_this_one_are_counted_or_absent(client: TestClient) -> None:
    counted = {
        "source": "agents",
        "select": ["name", "count(tickets)"],
        "order": [{"by": "count(tickets)", "direction": "desc"}],
    }
    result = asked(client, counted)
    assert result["rows"] == [["Ada Palmer", 4], ["Boris Krug", 3], ["Cleo Ruiz", 1], ["Dan Idle", 0]]
    assert [each["label"] for each in result["columns"]] == ["name", "number of tickets"]
    idle = asked(client, {"source": "agents", "where": [{"not": {"exists": "tickets"}}]})
    assert (column(idle, 1), idle["sentence"]) == (["Dan Idle"], "1 agent (without tickets).")
    closed = {
        "exists": "tickets",
        "where": [{"field": "status", "value": "closed"}, {"field": "price", "op": ">", "value": 50}],
    }
    assert column(asked(client, {"source": "agents", "where": [closed], "order": ["name"]}), 1) == [
        "Ada Palmer",
        "Boris Krug",
    ]


async def test_derived_predicates_are_boolean_fields(desk: str, make_services: Callable[..., Services]) -> None:
    services = make_services(desk)

    async def ids(*where: dict[str, Any]) -> list[Any]:
        query = Query.model_validate({"source": "tickets", "where": where, "select": ["id"], "order": ["id"]})
        return column((await run_query(query, Caller("demo"), services, datetime.date(2026, 10, 25))).model_dump())

    assert await ids({"field": "overdue", "value": True}) == [1, 8]
    assert await ids({"field": "overdue", "value": False}, {"field": "status", "value": "open"}) == [2]
    assert await ids({"field": "late", "value": True}) == [7]
    counted = Query.model_validate(
        {"source": "agents", "where": [{"exists": "tickets", "where": [{"field": "overdue", "value": True}]}]}
    )
    result = await run_query(counted, Caller("demo"), services, datetime.date(2026, 10, 25))
    assert sorted(row[1] for row in result.rows if isinstance(row[1], str)) == ["Ada Palmer", "Cleo Ruiz"]


def test_values_are_those_of_the_data_however_they_are_written(client: TestClient) -> None:
    for said, meant in (("CLOSED", "closed"), ("pending", "waiting"), ("Waiting.", "waiting")):
        result = asked(client, {"source": "tickets", "where": [{"field": "status", "value": said}]})
        assert result["query"]["where"][0]["value"] == meant
        assert result["total"] > 0


def test_a_value_that_merely_holds_the_words_of_one_is_not_meant(client: TestClient) -> None:
    errors = refused(client, {"source": "tickets", "where": [{"field": "agent", "value": "Palmer"}]})
    assert "No ticket has the agent 'Palmer'; did you mean 'Ada Palmer'" in errors["/where/0/value"]
    by_piece = {
        "source": "tickets",
        "where": [{"field": "agent", "op": "contains", "value": "Palmer"}],
        "aggregate": ["count"],
    }
    assert asked(client, by_piece)["rows"] == [[4]]


@pytest.mark.parametrize(
    ("changed", "pointer", "told"),
    [
        ({"where": [{"any_of": [FIELD_TEAM, {"field": "agent.emial", "value": "x"}]}]}, "/where/0/any_of/1/field", "email"),
        ({"where": [{"field": "status", "values": ["open", "closd"]}]}, "/where/0/values/1", "'closed'"),
        ({"where": [{"not": {"exists": "agent", "where": [TYPED_WRONG]}}]}, "/where/0/not/where/0/value", "'Field'"),
        ({"where": [{"field": "price", "op": "~", "value": 1}]}, "/where/0/op", "between"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_with_the_nearest(
    client: TestClient, changed: dict[str, Any], pointer: str, told: str
) -> None:
    errors = refused(client, {"source": "tickets", **changed})
    assert [*errors] == [pointer]
    assert told in errors[pointer]


def test_hidden_and_secret_columns_are_no_fields(client: TestClient) -> None:
    for source, name in (("tickets", "internal_note"), ("agents", "password_hash"), ("tickets", "agent.password_hash")):
        [message] = refused(client, {"source": source, "select": [name]}).values()
        assert "has no field" in message
        assert "internal_note" not in message.partition("nearest")[2]


def test_the_collections_are_described_with_fields_references_and_values(client: TestClient) -> None:
    described = {each["name"]: each for each in client.get("/collections").json()["collections"]}
    fields = {each["name"]: each for each in described["tickets"]["fields"]}
    assert fields["status"]["values"] == ["closed", "open", "waiting"]
    assert fields["price"] | {"label": "price"} == {
        "name": "price",
        "kind": "money",
        "label": "price",
        "currency": "EUR",
        "many": False,
    }
    assert (fields["days_open"]["unit"], fields["opened_on"]["kind"], fields["tags"]["many"]) == ("days", "date", True)
    assert (fields["agent"]["references"], fields["team"]["references"]) == ("agents", "teams")
    assert (fields["overdue"]["kind"], "internal_note" in fields) == ("boolean", False)
    related = {each["name"]: each for each in described["agents"]["related"]}
    assert (related["tickets"]["references"], related["tickets"]["many"]) == ("tickets", True)
    assert [each["name"] for each in described["tickets"]["facets"]][:2] == ["status", "price"]


# ---- two accounts ----


def test_an_account_sees_its_own_rows_by_every_way(tenants: TestClient) -> None:
    counted = {"source": "tickets", "aggregate": ["count"]}
    assert [asked(tenants, counted, user)["rows"] for user in ("north", "south", "nobody")] == [[[5]], [[4]], [[0]]]
    through = {"source": "agents", "select": ["name", "count(tickets)"], "order": ["name"]}
    assert asked(tenants, through, "north")["rows"] == [["Ada Palmer", 3], ["Boris Krug", 1], ["Dan Idle", 0]]
    assert asked(tenants, through, "south")["rows"] == [
        ["Ada Palmer", 1],
        ["Boris Krug", 2],
        ["Cleo Ruiz", 1],
        ["Dan Idle", 0],
    ]
    nested = {"source": "teams", "where": [{"exists": "agents.tickets"}], "select": ["name"], "order": ["name"]}
    assert column(asked(tenants, nested, "north")) == ["Field"]
    assert column(asked(tenants, nested, "south")) == ["Field", "Phone"]


def test_how_a_question_is_read_can_be_looked_at_over_http(client: TestClient) -> None:
    asked_for = {"question": "How many tickets does the Field team have?", "sources": ["tickets"]}
    explanation = client.post("/query/explain", json=asked_for).json()
    assert explanation["verdict"] in ("confident", "doubted", "refused")
    assert {"text": "Field", "means": "tickets.team = Field"} in explanation["words"]
    assert explanation["queries"][0]["query"]["source"] == "tickets"
    assert explanation["queries"][0]["text"].startswith("show number")


def test_a_declared_measure_is_listed_and_computed(client: TestClient) -> None:
    [tickets] = [each for each in client.get("/collections").json()["collections"] if each["name"] == "tickets"]
    measures = {each["name"]: each for each in tickets["measures"]}
    assert measures["lateness"]["definition"] == "number of tickets (late) per number of tickets"
    assert measures["lateness"]["synonyms"] == ["delay"]
    body = client.post("/query", json={"source": "tickets", "aggregate": ["lateness", "open_ones", "count"]}).json()
    [[late, opened, count]] = body["rows"]
    where = [{"field": "late", "value": True}]
    assert late == pytest.approx(
        client.post("/query", json={"source": "tickets", "where": where}).json()["total"] / count
    )
    none = [{"field": "closed_on", "op": "is_null"}]
    assert opened == client.post("/query", json={"source": "tickets", "where": none}).json()["total"]
    assert "lateness is number of tickets (late) per number of tickets" in body["sentence"]
    assert client.post("/query", json={"source": "tickets", "aggregate": ["latenes"]}).status_code == 422


def test_a_value_that_a_measure_misspells_is_an_error_that_names_the_measure(client: TestClient) -> None:
    answer = client.post("/query", json={"source": "tickets", "aggregate": ["misspelt"]})
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/aggregate"
    assert error["message"].startswith("the measure misspelt, as it is declared in quarry.toml: ")
    assert "did you mean" in error["message"]


def test_the_statement_of_a_query_is_shown_with_its_parameters_apart(client: TestClient) -> None:
    asked = {"source": "tickets", "where": [{"field": "status", "value": "open"}], "aggregate": ["count"]}
    statement = client.post("/query/explain", json={"question": "How many are open?", "query": asked}).json()[
        "statement"
    ]
    assert "select" in statement["sql"]
    assert "Open" in statement["parameters"].values()
    assert client.post("/query/explain", json={}).status_code == 422
