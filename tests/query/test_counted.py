"""Collections without `text`: rows that are counted, filtered and led on from, and that nothing is kept of but their values."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.local.doctor import collection_findings
from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.postgres.migrate import connect
from tests.collections.test_search import filled
from tests.conftest import client_of
from tests.query.desk import asked, column, refused
from tests.records.asking import ask

TABLES = """
create schema harbour;
create table harbour.ports (code text primary key, name text not null, country text);
create table harbour.ships (number int primary key, name text not null, built int);
create table harbour.berths (
  port text references harbour.ports, place int, metres numeric not null, primary key (port, place));
create table harbour.calls (port text, place int, ship int references harbour.ships, tons int not null,
  foreign key (port, place) references harbour.berths);
create table harbour.crew (passport_no text primary key, name text not null, ship int references harbour.ships);
insert into harbour.ports values ('OSL', 'Oslo', 'Norway'), ('GOT', 'Gothenburg', 'Sweden');
insert into harbour.ships values (1, 'Tern', 1998), (2, 'Gull', 2011);
insert into harbour.berths values ('OSL', 1, 120), ('OSL', 2, 80), ('GOT', 1, 200);
insert into harbour.calls values ('OSL', 1, 1, 10), ('OSL', 2, 1, 20), ('GOT', 1, 2, 40), ('GOT', 1, 2, 40), (null, null, 2, 5);
insert into harbour.crew values ('P1', 'Ada Falk', 1), ('P2', 'Bo Lind', 1), ('P3', 'Cy Berg', 2);
"""

DECLARED = """
[collections]
ships = { source = "harbour.ships", title = "name", facets = { name = "value", built = "year" }, fields = ["number"] }
ports = { source = "harbour.ports", title = "name", facets = { value = ["name", "country"] }, fields = ["code"] }
berths = { source = "harbour.berths", links = { port_row = "port" }, facets = { metres = "number" }, fields = ["place"] }
calls = { source = "harbour.calls", links = { berth = ["port", "place"], vessel = "ship" }, facets = { tons = "number" } }
crew = { source = "harbour.crew", title = "name", hidden = ["passport_no"], links = { vessel = "ship" } }
"""


@pytest.fixture(scope="module")
def harbour(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("harbour"), DECLARED, TABLES) as url:
        yield url


@pytest.fixture(scope="module")
def client(harbour: str) -> Iterator[TestClient]:
    with client_of(harbour) as client:
        yield client


def test_nothing_is_kept_of_them_but_their_values(harbour: str) -> None:
    with psycopg.connect(harbour, options=f"-c search_path={DEFAULT_SCHEMA}") as connection:
        [triggers] = connection.execute("select count(*) from pg_trigger where tgname like 'quarry%'").fetchone() or (
            None,
        )
        [rows] = connection.execute("select count(*) from collection_rows").fetchone() or (None,)
        [noted] = connection.execute("select count(*) from collection_changes").fetchone() or (None,)
        values = connection.execute("select value from facet_values order by value").fetchall()
    assert (triggers, rows, noted) == (0, 0, 0)
    assert {"Gull", "Gothenburg", "Norway"} <= {value for (value,) in values}


def test_links_lead_on_by_keys_of_several_columns_and_back(client: TestClient) -> None:
    by_country = {
        "source": "calls",
        "aggregate": ["sum(tons)"],
        "group": ["berth.port_row.country"],
        "order": [{"by": "sum(tons)", "direction": "desc"}],
    }
    assert asked(client, by_country)["rows"] == [["Sweden", 80], ["Norway", 30], [None, 5]]
    longest = {
        "source": "calls",
        "aggregate": ["max(berth.metres)"],
        "where": [{"field": "vessel.name", "value": "tern"}],
    }
    assert asked(client, longest)["rows"] == [[120]]
    visits = {
        "source": "berths",
        "select": ["port_row.name", "place", "count(calls)"],
        "order": [{"by": "count(calls)", "direction": "desc"}],
        "limit": 1,
    }
    assert asked(client, visits)["rows"] == [["Gothenburg", 1, 2]]


def test_a_key_that_is_hidden_is_in_no_answer(client: TestClient) -> None:
    rows = asked(client, {"source": "crew", "where": [{"field": "vessel.number", "value": 1}]})
    assert sorted(column(rows, 1)) == ["Ada Falk", "Bo Lind"]
    assert "P1" not in str(rows)
    assert "passport_no" in str(refused(client, {"source": "crew", "select": ["passport_no"]}))


def test_questions_are_answered_though_nothing_is_searched(client: TestClient) -> None:
    events = ask(client, "How many ships are there?")
    assert [each["total"] for each in events if each["type"] == "aggregation"] == [2]
    assert events[-1]["type"] == "done"
    nothing = ask(client, "Why does the lighthouse blink?")
    assert [each for each in nothing if each["type"] in ("citations", "aggregation") and each.get("citations")] == []
    assert nothing[-1]["type"] == "done"


def test_nothing_is_wrong_with_them_until_their_rows_cannot_be_read(harbour: str) -> None:
    with connect(harbour, DEFAULT_SCHEMA) as connection:
        assert {each.status for each in collection_findings(connection, "none")} == {"ok"}
        connection.execute("alter table harbour.calls rename column ship to vessel_number")
        found = [each.detail for each in collection_findings(connection, "none") if each.status == "broken"]
        connection.execute("alter table harbour.calls rename column vessel_number to ship")
    assert found == ["columns of harbour.calls have changed: ship is now called vessel_number"]
