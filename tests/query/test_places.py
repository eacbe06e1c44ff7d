"""Conditions on places, at each door: what the gazetteer says, in all spellings that the data has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import filled
from tests.conftest import client_of
from tests.query.desk import asked, column, refused

SPELT = {
    "britain": ("United Kingdom", "UK", "u.k.", "Great Britain"),
    "england": ("England",),
    "america": ("USA", "United States", "U.S.A.", "usa"),
    "germany": ("Germany", "GERMANY", "Deutschland"),
    "spain": ("Spain", "España"),
    "mumbai": ("Mumbai", "Bombay", "mumbai"),
    "new england": ("New England",),
}
SPELLINGS = [each for spellings in SPELT.values() for each in spellings]
ORDERS = 3
"""Orders of each buyer."""
TABLES = f"""
create schema quay;
create table quay.regions (id int primary key, country text);
create table quay.towns (id int primary key, region_id int references quay.regions);
create table quay.buyers (id int primary key, name text not null, town_id int references quay.towns, country text, seat text);
create table quay.orders (id int primary key, buyer_id int references quay.buyers, note text not null);
create table quay.parcels (id int primary key, order_id int references quay.orders, country text);
insert into quay.regions select i, c from unnest(array{SPELLINGS}) with ordinality v (c, i);
insert into quay.towns select id, id from quay.regions;
insert into quay.buyers select id, 'Buyer ' || id, id, country, 'Harbour ' || id || ', ' || country from quay.regions;
insert into quay.buyers values (98, 'Nowhere', null, null, null), (99, 'Blank', null, ' ', '');
insert into quay.orders select 10 * b.id + i, b.id, 'A gate, number ' || i from quay.buyers b, generate_series(1, {ORDERS}) i;
insert into quay.parcels select o.id, o.id, b.country from quay.orders o join quay.buyers b on b.id = o.buyer_id;
"""
CHAIN = '{ by = "town_id", of = "quay.towns", title = { by = "region_id", of = "quay.regions", title = "country" } }'
DECLARED = f"""
[collections.orders]
source = "quay.orders"
text = ["note"]
embed = []
related.parcels = {{ of = "quay.parcels", by = "order_id" }}

[collections.orders.facets]
buyer = {{ kind = "name", by = "buyer_id", of = "quay.buyers", title = "name" }}
country = {{ kind = "place", by = "buyer_id", of = "quay.buyers", title = "country" }}
seat = {{ kind = "place", by = "buyer_id", of = "quay.buyers", title = "seat" }}
origin = {{ kind = "place", by = "buyer_id", of = "quay.buyers", title = {CHAIN} }}
sent_to = {{ kind = "place", column = "country", related = "parcels" }}

[collections.buyers]
source = "quay.buyers"
text = ["name"]
embed = []

[collections.buyers.facets]
country = "place"
seat = "place"
"""
NAMED = {
    "UK": ["britain"],
    "great britain": ["britain"],
    "USA": ["america"],
    "America": ["america"],
    "england": ["england"],
    "Bombay": ["mumbai"],
    "Mumbai": ["mumbai"],
    "Espana": ["spain"],
    "Germany": ["germany"],
    "Europe": ["britain", "germany", "spain"],
}
FIELDS = ("country", "seat", "origin", "sent_to")


@pytest.fixture(scope="module")
def quay(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("quay"), DECLARED, TABLES) as url:
        yield url


@pytest.fixture(scope="module")
def client(quay: str) -> Iterator[TestClient]:
    with client_of(quay) as client:
        yield client


def spelt(name: str) -> int:
    """How many buyers have one of the spellings of the places that a name means."""
    return sum(len(SPELT[each]) for each in NAMED[name])


def counted(client: TestClient, source: str, *where: dict[str, Any]) -> int:
    return int(asked(client, {"source": source, "where": where, "aggregate": ["count"]})["total"])


def tool(client: TestClient, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives over MCP."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = client.post("/mcp", json=message, headers={"accept": "application/json, text/event-stream"})
    result: dict[str, Any] = json.loads(answer.text.partition("data: ")[2] or answer.text)["result"]
    return result


@pytest.mark.parametrize("name", NAMED)
def test_a_place_is_met_in_all_spellings_wherever_it_stands(client: TestClient, name: str) -> None:
    found, buyers = spelt(name), len(SPELLINGS) + 2
    # each name in one kind of column, and one name in each
    for field in FIELDS if name == "UK" else FIELDS[:1]:
        is_in, is_not = {"field": field, "value": name}, {"field": field, "op": "!=", "value": name}
        assert counted(client, "orders", is_in) == found * ORDERS, field
        for denied in (is_not, {"not": is_in}, {"not": {"any_of": [is_in]}}):
            assert counted(client, "orders", denied) == (buyers - found) * ORDERS, (field, denied)
        facets = client.get("/records/facets", params={"type": "orders", field: name}).json()
        assert facets["total"] == found * ORDERS, field
        without = client.get("/records/facets", params={"type": "orders", f"-{field}": name}).json()
        assert without["total"] == (buyers - found) * ORDERS, field
        searched = client.get("/records/search", params={"type": "orders", "q": "gate", field: name}).json()
        assert searched["counts"]["orders"] == found * ORDERS, field
    for field in FIELDS[:2]:
        assert counted(client, "buyers", {"field": field, "value": name}) == found, field
        related = {"exists": "orders", "where": [{"field": "buyer", "op": "not_null"}, {"field": field, "value": name}]}
        assert counted(client, "buyers", related) == found, field
    assert counted(client, "orders", {"field": "buyer.country", "value": name}) == found * ORDERS


def test_several_places_and_two_conditions_hold_together(client: TestClient) -> None:
    both = {"field": "country", "values": ["UK", "Bombay"]}
    assert counted(client, "orders", both) == (spelt("UK") + spelt("Bombay")) * ORDERS
    pair = [{"field": "country", "value": "Europe"}, {"field": "sent_to", "op": "!=", "value": "UK"}]
    assert counted(client, "orders", *pair) == (spelt("Europe") - spelt("UK")) * ORDERS


def test_tools_know_places_by_other_names(client: TestClient) -> None:
    where = [{"field": "country", "value": "UK"}]
    result = tool(client, "query", source="orders", where=where, aggregate=["count"])["structuredContent"]
    assert result["total"] == spelt("UK") * ORDERS
    for field in FIELDS:
        found = tool(client, "search", text="gate", source=["orders"], where=[{"field": field, "value": "UK"}])
        assert not found.get("isError"), (field, found)
        assert found["structuredContent"]["meeting"] == spelt("UK") * ORDERS, field
    values = tool(client, "values", source="buyers", field="country", like="Great Britain")["structuredContent"][
        "values"
    ]
    assert {str(value).casefold() for value, _ in values} == {each.casefold() for each in SPELT["britain"]}
    pieces = tool(client, "values", source="buyers", field="country", like="ermany")["structuredContent"]["values"]
    assert [str(value).casefold() for value, _ in pieces] == ["germany"]


@pytest.mark.parametrize(("name", "near"), [("Frannce", ""), ("France", ""), ("Germny", "Germany"), ("Atlantis", "")])
def test_a_place_that_no_row_is_in_is_an_error_with_the_nearest(client: TestClient, name: str, near: str) -> None:
    for op in ("=", "!="):
        [message] = refused(
            client, {"source": "orders", "where": [{"field": "country", "op": op, "value": name}]}
        ).values()
        assert message.startswith(f"No order has the country {name!r}")
        assert near in message
    assert tool(client, "query", source="orders", where=[{"field": "country", "value": name}])["isError"]


def test_rows_written_since_are_met_by_the_spelling_that_they_have(client: TestClient, quay: str) -> None:
    with psycopg.connect(quay, autocommit=True) as connection:
        connection.execute("insert into quay.buyers values (200, 'New', null, 'UK', 'Dover, UK')")
        try:
            for field in ("country", "seat"):
                assert counted(client, "buyers", {"field": field, "value": "united kingdom"}) == spelt("UK") + 1
        finally:
            connection.execute("delete from quay.buyers where id = 200")


def test_grouped_places_are_shown_as_they_stand(client: TestClient) -> None:
    grouped = {"source": "buyers", "where": [{"field": "country", "value": "Bombay"}], "group": ["country"]}
    assert sorted(map(str.casefold, column(asked(client, grouped)))) == ["bombay", "mumbai"]


@pytest.mark.parametrize("name", ["Europe", "the USA", "Germany"])
def test_without_a_model_a_place_is_counted_in_all_spellings_and_places_in_it(client: TestClient, name: str) -> None:
    with client.stream("POST", "/records/ask", json={"question": f"How many buyers are there in {name}?"}) as answer:
        events = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: ")]
    text = "".join(each.get("chunk", "") for each in events)
    assert text.startswith(f"{spelt(name.removeprefix('the '))} buyers")
