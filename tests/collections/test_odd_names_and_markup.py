"""Names with signs of statements and templates work everywhere, and HTML is read as the text that it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.local.apply import map_schema
from tests.collections.support import owner
from tests.collections.test_search import fill
from tests.conftest import client_of, clone_database
from tests.records.asking import ask, of_type

TABLES = """
create table "Sales 50%" (
  id int primary key, note text not null, "Rate %" numeric, "Share % of {all}" text, "done?" char(1), phase smallint, "状態" text
);
comment on column "Sales 50%".phase is '1 = packed, 2 = shipped, 3 = returned';
insert into "Sales 50%" select n,
  '<p>Crate ' || n || ' holds <b>zinc</b>&nbsp;nails &amp; screws.</p><!-- margin: secretly 40 -->'
  || '<style>.quill{color:red}</style>', n, n || '%', case when n % 4 = 0 then 'N' else 'Y' end, 1 + n % 3,
  case when n % 2 = 0 then '済' else '未' end from generate_series(1, 40) n;
analyze
"""


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of tables that are declared as `quarry map` drafts them."""
    folder = tmp_path_factory.mktemp("names")
    with clone_database(server_url, migrated_template) as url, pytest.MonkeyPatch.context() as patch:
        owner(url, *TABLES.split(";\n"))
        patch.setenv("DATABASE_URL", url)
        map_schema("public", folder / "drafted.toml", force=False)
        fill(url, (folder / "drafted.toml").read_text(), folder)
        with client_of(url) as client:
            yield client


def queried(client: TestClient, query: dict[str, Any]) -> list[list[Any]]:
    response = client.post("/query", json={"source": "sales_50", **query})
    assert response.status_code == 200, response.text
    found: list[list[Any]] = response.json()["rows"]
    return found


def test_a_percent_sign_is_part_of_a_name(client: TestClient) -> None:
    assert queried(client, {"aggregate": [{"fn": "avg", "field": "rate"}]}) == [[20.5]]
    found = queried(client, {"select": ["rate", "状態"], "where": [{"field": "rate", "op": ">", "value": 38}]})
    assert found == [[39, "未"], [40, "済"]]
    assert queried(client, {"group": ["状態"], "aggregate": ["count"], "order": [{"by": "状態"}]}) == [
        ["未", 20],
        ["済", 20],
    ]
    chunks = of_type(ask(client, "What is the average rate of sales?"), "final_answer_chunk")
    assert "20.5" in json.dumps(chunks)


def test_codes_and_letters_are_asked_by_their_names(client: TestClient) -> None:
    assert queried(client, {"where": [{"field": "done", "op": "=", "value": True}], "aggregate": ["count"]}) == [[30]]
    assert queried(client, {"where": [{"field": "phase", "op": "=", "value": "shipped"}], "aggregate": ["count"]}) == [
        [14]
    ]


def test_only_what_html_shows_is_searched_quoted_and_shown(client: TestClient) -> None:
    for hidden in ("secretly", "quill"):
        assert client.get("/records/search", params={"q": hidden}).json()["results"] == []
    found, *_ = client.get("/records/search", params={"q": "zinc nails"}).json()["results"]
    opened = client.get(f"/records/sales_50/{found['id']}").json()
    said = json.dumps([found, opened], ensure_ascii=False)
    assert "nails & screws." in json.dumps(opened)
    assert not any(sign in said for sign in ("<p>", "nbsp", "secretly", "quill"))
    assert queried(client, {"select": ["note"], "limit": 1}) == [["Crate 1 holds zinc nails & screws."]]
