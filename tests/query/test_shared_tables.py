"""Two collections of one table: what one keeps back the other does not give away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import served
from tests.conftest import clone_database
from tests.query.desk import asked, refused

TABLES = """
create schema shop;
create table shop.staff (id int primary key, firm text, name text not null, note text, pay numeric);
insert into shop.staff values
  (1, 'demo', 'Ada', 'x', 10), (2, 'other', 'Zed', 'y', 20), (3, '', 'Nil', 'z', 30), (4, null, 'Nul', 'z', 40);
create table shop.jobs (id int primary key, staff_id int references shop.staff, what text not null, kind text);
insert into shop.jobs values
  (1, 1, 'Paint a door', 'Red'), (2, 2, 'Mend a roof', 'red '), (3, 2, 'Fix a lamp', ''),
  (4, 3, 'Sweep', null), (5, 4, 'Dust', 'Blue');
"""
DECLARED = """
[collections.staff]
source = "shop.staff"
title = "name"
text = ["note"]
embed = []
hidden = ["pay"]
scope = "firm"
scope_setting = "app.firm"
[collections.directory]
source = "shop.staff"
title = "name"
text = ["note"]
embed = []
hidden = ["pay"]
[collections.jobs]
source = "shop.jobs"
title = "what"
text = ["what"]
embed = []
facets.kind = "value"
facets.staff = { kind = "name", by = "staff_id", of = "shop.staff", title = "name" }
"""


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with (
        clone_database(server_url, migrated_template) as url,
        served(url, TABLES, DECLARED, tmp_path_factory.mktemp("shop")) as client,
    ):
        yield client


def test_each_collection_is_a_source(client: TestClient) -> None:
    described = {each["name"]: each for each in client.get("/collections").json()["collections"]}
    assert {*described} == {"staff", "directory", "jobs"}
    assert asked(client, {"source": "staff", "select": "name"})["rows"] == [["Ada"]]
    for source in described.values():
        assert "pay" not in [field["name"] for field in source["fields"]]
        assert source["fields"]


@pytest.mark.parametrize("source", ["staff", "directory"])
@pytest.mark.parametrize(
    "part",
    [{"select": ["pay"]}, {"order": ["pay"]}, {"group": ["pay"]}, {"where": {"field": "pay", "op": ">", "value": 1}},
     {"aggregate": ["sum(pay)"]}],
)  # fmt: skip
def test_a_column_that_one_hides_is_no_field_of_the_other(
    client: TestClient, source: str, part: dict[str, object]
) -> None:
    [message] = refused(client, {"source": source, **part}).values()
    assert "has no field 'pay'" in message


def test_a_reference_leads_to_the_rows_of_the_caller_alone(client: TestClient) -> None:
    assert asked(client, {"source": "jobs", "group": "staff", "aggregate": "count"})["rows"] == [[None, 4], ["Ada", 1]]
    assert asked(client, {"source": "jobs", "where": {"field": "staff.name", "value": "Zed"}})["rows"] == []
    described = {each["name"]: each for each in client.get("/collections").json()["collections"]}
    values = {field["name"]: field.get("values") for field in described["jobs"]["fields"]}
    assert (values["staff"], values["kind"]) == (["Ada"], ["Blue", "Red"])
    misspelt = {"source": "jobs", "where": {"field": "staff", "value": "Zde"}}
    assert "Zed" not in client.post("/query", json=misspelt).text
