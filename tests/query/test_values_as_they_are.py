"""Numbers are given as they are in drafted tables: by currency, once a row, by person, whole, and with what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.collections.support import drafted
from tests.conftest import client_of
from tests.query.desk import asked, refused
from tests.query.test_places import tool

TABLES = """
create schema press;
create table press.writers (id int primary key, name text not null, born int);
insert into press.writers values (1, 'Ida Holm', 1950), (2, 'Ida Holm', 1984), (3, 'Jon Moe', 1970), (4, 'Kai Lie', 1966);
create table press.essays (
  id int generated always as identity primary key, title text not null, body text, writer_id int references press.writers,
  printed_on date
);
insert into press.essays (title, body, writer_id, printed_on)
  select 'Essay ' || i, 'On the ' || (array['harbour', 'school', 'market', 'bridge'])[1 + i % 4] || ' of the town, part ' || i,
    case when i <= 8 then 1 when i <= 15 then 2 when i <= 25 then 3 else 4 end, date '2025-11-01' + i * 4
  from generate_series(1, 36) i;
create table press.bills (
  id int generated always as identity primary key, payer text not null, amount numeric(12, 2) not null, ccy char(3) not null,
  billed_on date not null
);
insert into press.bills (payer, amount, ccy, billed_on)
  select 'Payer ' || chr(65 + i % 7), case i % 3 when 0 then 100 when 1 then 200 else 30000 end,
    (array['EUR', 'USD', 'JPY'])[1 + i % 3], date '2026-01-15' + i * 3
  from generate_series(0, 59) i;
create table press.instalments (
  id int generated always as identity primary key, bill_id int references press.bills, paid_on date, sum_paid numeric
);
insert into press.instalments (bill_id, paid_on, sum_paid)
  select 1 + i % 20, date '2026-03-01' + i, 10 from generate_series(0, 59) i;
create table press.sheets (
  id bigint primary key, paper text not null, note text not null, weight double precision, rate numeric(10, 6), likes bigint
);
insert into press.sheets
  select 1719283746509234176 + i, 'Paper ' || i % 3, 'Sheet number ' || i || ' of the press',
    case i when 7 then 'NaN'::float8 else i end,
    0.0012 + i * 0.0001, 9007199254740000 + i
  from generate_series(1, 12) i;
analyze;
"""


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str) -> Iterator[TestClient]:
    with drafted(server_url, migrated_template, "press", TABLES) as url, client_of(url) as client:
        yield client


def number(function: str, field: str, source: str, **query: Any) -> dict[str, Any]:
    return {"source": source, "aggregate": [{"fn": function, "field": field}], **query}


def test_amounts_in_several_currencies_are_given_by_currency(client: TestClient) -> None:
    given = asked(client, number("sum", "amount", "bills"))
    assert given["rows"] == [["JPY", 600_000], ["USD", 4_000], ["EUR", 2_000]]
    assert given["query"]["group"] == [{"field": "ccy"}]
    assert "by ccy: JPY (600,000), USD (4,000), EUR (2,000)" in given["sentence"]
    euros = number("sum", "amount", "bills", where=[{"field": "ccy", "value": "euros"}])
    assert asked(client, euros)["rows"] == [[2_000]]
    assert asked(client, number("avg", "amount", "bills"))["rows"][0] == ["JPY", 30_000]
    assert asked(client, {"source": "bills", "aggregate": ["count"]})["rows"] == [[60]]
    by_payer = asked(client, number("max", "amount", "bills", group=["payer"]))
    assert {row[1] for row in by_payer["rows"]} == {"EUR", "USD", "JPY"}
    above = {"field": "amount", "op": ">", "value": number("avg", "amount", "bills")}
    assert "several currencies" in refused(client, {"source": "bills", "where": [above]})["/where/0"]


@pytest.mark.parametrize(
    ("query", "is_told"),
    [
        ({"where": [{"field": "amount", "op": ">", "value": 100}], "aggregate": ["count"]}, True),
        ({"select": ["payer"], "order": [{"by": "amount", "direction": "desc"}]}, True),
        ({"select": ["payer"], "where": [{"field": "ccy", "value": "EUR"}], "order": ["amount"]}, False),
        ({"where": [{"field": "payer", "value": "Payer A"}], "aggregate": ["count"]}, False),
    ],
)
def test_amounts_compared_over_several_currencies_are_said_to_be(
    client: TestClient, query: dict[str, Any], is_told: bool
) -> None:
    sentence = asked(client, {"source": "bills", **query})["sentence"]
    assert ("amount is compared as a number, whatever its ccy" in sentence) == is_told, sentence


def test_large_whole_numbers_reach_a_model_whole(client: TestClient) -> None:
    query = {"source": "sheets", "select": ["id"], "order": ["id"], "limit": 1}
    result = tool(client, "query", **query)
    assert result["structuredContent"]["rows"] == [["1719283746509234177"]], result


def test_a_bill_counts_once_in_sums_over_its_instalments(client: TestClient) -> None:
    listed = client.get("/collections").json()["collections"]
    [described] = [each for each in listed if each["name"] == "instalments"]
    links = [
        each["name"] for each in (*described["fields"], *described["related"]) if each.get("references") == "bills"
    ]
    given = asked(client, number("sum", f"{links[0]}.amount", "instalments"))
    assert dict(given["rows"]) == {"JPY": 6 * 30_000, "USD": 7 * 200, "EUR": 7 * 100}
    assert "each bill once" in given["sentence"]
    assert given["total"] == 60


def test_two_people_of_one_name_are_two(client: TestClient) -> None:
    ida = {"source": "essays", "aggregate": ["count"], "where": [{"field": "writer", "value": "Ida Holm"}]}
    given = asked(client, ida)
    assert (given["rows"], given["total"]) == ([["Ida Holm", 8], ["Ida Holm", 7]], 15)
    assert "different" in given["sentence"]
    for field in ("writer", "writer.name"):
        grouped = asked(client, {"source": "essays", "aggregate": ["count"], "group": [field]})
        assert sorted(grouped["rows"]) == [["Ida Holm", 7], ["Ida Holm", 8], ["Jon Moe", 10], ["Kai Lie", 11]]
    assert asked(client, number("count_distinct", "writer", "essays"))["rows"] == [[4]]
    jon = {**ida, "where": [{"field": "writer", "value": "Jon Moe"}]}
    assert asked(client, jon)["rows"] == [[10]]
    assert asked(client, {**jon, "where": [*jon["where"], {"field": "printed_on", "value": "1999"}]})["rows"] == [[0]]


def test_what_is_no_finite_number_is_left_out_and_told(client: TestClient) -> None:
    for function, value in (("sum", 71), ("max", 12)):
        given = asked(client, number(function, "weight", "sheets"))
        assert given["rows"] == [[value]]
        assert "1 of 12 values" in given["sentence"]
    assert "NaN" in [row[0] for row in asked(client, {"source": "sheets", "select": ["weight"]})["rows"]]
    assert asked(client, {"source": "sheets", "where": [{"field": "weight", "value": "NaN"}]})["total"] == 1


def test_numbers_are_whole(client: TestClient) -> None:
    assert "0.00185" in asked(client, number("avg", "rate", "sheets"))["sentence"]
    likes = asked(client, number("sum", "likes", "sheets"))
    assert likes["rows"] == [["108086391056880078"]]
    assert "108,086,391,056,880,078" in likes["sentence"]
    keys = asked(client, {"source": "sheets", "select": ["id"], "order": ["id"], "limit": 2})
    assert keys["rows"] == [["1719283746509234177"], ["1719283746509234178"]]
    assert asked(client, {"source": "sheets", "where": [{"field": "id", "value": keys["rows"][0][0]}]})["total"] == 1
    whole = client.get(f"/records/sheets/{keys['rows'][0][0]}").json()
    assert (whole["fields"]["id"], whole["fields"]["rate"]) == ("1719283746509234177", 0.0013)


def test_all_that_tie_for_the_first_place_are_shown(client: TestClient) -> None:
    most = {"source": "bills", "select": ["amount"], "order": [{"by": "amount", "direction": "desc"}], "limit": 1}
    given = asked(client, most)
    assert len(given["rows"]) == 20
    assert "they tie" in given["sentence"]
    assert len(asked(client, {**most, "ties": False})["rows"]) == 1


@pytest.mark.parametrize(
    ("query", "is_cut_in_tie"),
    [
        ({"order": [{"by": "amount", "direction": "desc"}], "limit": 19}, True),
        ({"order": [{"by": "amount", "direction": "desc"}], "limit": 20}, False),
        ({"order": [{"by": "amount", "direction": "desc"}], "limit": 19, "offset": 1}, False),
        ({"order": ["amount", "id"], "limit": 5}, False),
        ({"limit": 5}, False),
        ({"group": ["ccy"], "aggregate": ["count"], "order": [{"by": "count", "direction": "desc"}], "limit": 2}, True),
        ({"group": ["ccy"], "aggregate": ["count"], "order": ["ccy"], "limit": 2}, False),
        ({"group": ["ccy"], "aggregate": ["count"], "order": ["count"], "limit": 3}, False),
    ],
)  # fmt: skip
def test_a_list_that_is_cut_within_a_tie_says_so(
    client: TestClient, query: dict[str, Any], is_cut_in_tie: bool
) -> None:
    given = asked(client, {"source": "bills", **query})
    assert len(given["rows"]) == query["limit"]
    assert given.get("tied", False) is is_cut_in_tie
    assert ("others tie" in given["sentence"]) is is_cut_in_tie


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("What is the total amount of bills?", ["600,000", "4,000", "2,000"]),
        ("What is the total amount of bills in euros?", ["2,000"]),
        ("essays by writer", ["Kai Lie"]),
        ("How many essays did Ida Holm write?", ["(8)", "(7)"]),
    ],
)
def test_a_question_gives_them_so_too(client: TestClient, question: str, held: list[str]) -> None:
    answer = client.post("/records/ask", json={"question": question}).text
    assert all(each in answer for each in held), answer
