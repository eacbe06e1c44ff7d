"""Rows that others own are shown by no door, also where rows without owners refer to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import served
from tests.collections.test_tenants import ask, call_tool, get, misspelt
from tests.conftest import clone_database

TABLES = """
create schema mill;
create table mill.owners (id int primary key, firm text, name text not null, town text, score int);
insert into mill.owners values (1, 'ann', 'Harbour Office', 'Trondheim', 3), (2, 'bo', 'Grimsby Foundry', 'Timbuktu', 7701377),
  (3, null, 'Stavely Orphanage', 'Reykjavik', 7801378);
create table mill.sites (id int primary key, owner_id int references mill.owners, plot text not null);
insert into mill.sites values (1, 1, 'north'), (2, 2, 'south'), (3, 3, 'east');
create table mill.marks (id int primary key, site_id int references mill.sites, firm text, mark text not null, weight int);
insert into mill.marks values (1, 1, 'ann', 'oiled', 5), (2, 1, 'bo', 'cracked', 8701387), (3, 2, 'bo', 'rusted', 8801388);
create table mill.tags (id int primary key, firm text, tag text not null);
insert into mill.tags values (1, 'ann', 'timber'), (2, 'bo', 'asbestos');
create table mill.works (id int primary key, owner_id int references mill.owners, site_id int references mill.sites,
  about text not null);
insert into mill.works values (1, 1, 1, 'The crane was oiled'), (2, 2, 2, 'The crane was painted'),
  (3, 3, 3, 'The crane was moved');
create table mill.work_tags (work_id int references mill.works, tag_id int references mill.tags, primary key (work_id, tag_id));
insert into mill.work_tags values (1, 1), (1, 2), (2, 2);
create table mill.checks (id int primary key, work_id int references mill.works, firm text, verdict text not null);
insert into mill.checks values (1, 1, 'ann', 'sound'), (2, 1, 'bo', 'splintered'), (3, 2, 'bo', 'warped');
"""

OWNED = 'scope = "firm"\nscope_setting = "app.firm"\n'
DECLARED = (
    "".join(
        f'[collections.{name}]\nsource = "mill.{name}"\ntitle = "{title}"\ntext = ["{title}"]\nembed = []\n{OWNED}'
        for name, title in {"owners": "name", "marks": "mark", "tags": "tag", "checks": "verdict"}.items()
    )
    + """
[collections.works]
source = "mill.works"
title = "about"
text = ["about"]
topic = [{ by = "owner_id", of = "mill.owners", title = "name" }]
part_of = { by = "owner_id", of = "mill.owners", show = ["name"] }
[collections.works.facets]
owner = { kind = "name", by = "owner_id", of = "mill.owners", title = "name" }
town = { kind = "place", by = "owner_id", of = "mill.owners", title = "town" }
score = { kind = "number", by = "owner_id", of = "mill.owners", title = "score" }
site = { kind = "value", by = "site_id", of = "mill.sites", title = { by = "owner_id", of = "mill.owners", title = "name" } }
tag = { kind = "array", through = "mill.work_tags", of = "mill.tags", title = "tag" }
verdict = { kind = "value", related = "reviews" }
[collections.works.related.reviews]
of = "mill.checks"
by = "work_id"
fields = ["verdict"]
"""
)
OWN = ("Harbour Office", "Trondheim", "timber", "sound")
OTHERS = ("Grimsby", "Foundry", "Stavely", "Timbuktu", "Reykjavik", "asbestos", "splintered", "warped", "cracked", "rusted",
    "7701377", "7801378", "8701387", "8801388")  # fmt: skip
FACETS = ("owner", "town", "site", "tag", "verdict")


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with (
        clone_database(server_url, migrated_template) as url,
        served(url, TABLES, DECLARED, tmp_path_factory.mktemp("mill")) as client,
    ):
        yield client


def query(client: TestClient, **asked: Any) -> str:
    answer = client.post("/query", json={"source": "works", **asked}, headers={"Authorization": "Bearer ann"})
    assert answer.status_code == 200, answer.text
    return answer.text


def each_of(show: Callable[[TestClient, str], str]) -> Callable[[TestClient], str]:
    return lambda client: "".join(show(client, facet) for facet in FACETS)


PATHS = ("owner.name", "owner.town", "owner.score", "reviews.verdict", "tag.tag")
DOORS: dict[str, Callable[[TestClient], str]] = {
    "collections": lambda client: get(client, "/collections", {}),
    "facets": each_of(lambda client, facet: get(client, "/records/facets", {"type": "works", "by": facet})),
    "measures": lambda client: get(client, "/records/facets", {"type": "works", "of": ["max:score", "sum:score"]}) + "Trondheim",
    "record": lambda client: "".join(get(client, f"/records/works/{id}", {}) for id in (1, 2, 3)),
    "search": lambda client: get(client, "/records/search", {"q": "crane", "type": "works"}),
    "ask": lambda client: json.dumps(ask(client, "What happened to the crane?", types=["works"])),
    "ask by facet": each_of(lambda client, facet: json.dumps(ask(client, f"How many works by {facet}?"))),
    "rows": lambda client: query(client, select=["id", *FACETS, *PATHS]),
    "groups": lambda client: "".join(query(client, group=path, aggregate="count") for path in (*FACETS, *PATHS)),
    "tool get": lambda client: "".join(call_tool(client, "get", source="works", id=str(id)) for id in (1, 2, 3)),
    "tool search": lambda client: call_tool(client, "search", text="crane", source="works"),
    "tool query": lambda client: call_tool(client, "query", source="works", select=["id", *FACETS]),
    "tool values": each_of(lambda client, facet: call_tool(client, "values", source="works", field=facet)),
    "tool describe": lambda client: call_tool(client, "describe_collections", source=["works", "owners", "checks"]),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_row_of_another_owner_is_shown_by_no_door(client: TestClient, door: str) -> None:
    shown = DOORS[door](client)
    assert [value for value in OTHERS if value in shown] == []
    assert [value for value in OWN if value in shown], shown


@pytest.mark.parametrize(("facet", "value"), [
    ("owner", "Grimsby Foundry"), ("town", "Timbuktu"), ("site", "Stavely Orphanage"), ("tag", "asbestos"), ("verdict", "warped"),
    ("score", "7701377"),
])  # fmt: skip
def test_a_filter_by_a_value_of_another_owner_finds_nothing(client: TestClient, facet: str, value: str) -> None:
    """Whoever guesses it learns no more than of a value that no row has."""
    for path in ("/records/search", "/records/facets"):
        answer = client.get(
            path, params={"q": "crane", "type": "works", facet: value}, headers={"Authorization": "Bearer ann"}
        )
        found = answer.json()
        assert answer.status_code == 422 or not (found.get("results") or found.get("total")), found
    where = {"field": facet, "value": int(value) if value.isdigit() else value}
    counted = {"source": "works", "where": where, "aggregate": "count"}
    answer = client.post("/query", json=counted, headers={"Authorization": "Bearer ann"})
    assert answer.status_code == 422 or answer.json()["rows"] == [[0]]
    assert "did you mean" not in answer.text


@pytest.mark.parametrize("value", ["Grimsby Foundry", "Timbuktu", "asbestos", "splintered"])
def test_a_misspelt_value_of_another_owner_is_not_corrected(client: TestClient, value: str) -> None:
    facet = {"Grimsby Foundry": "owner", "Timbuktu": "town", "asbestos": "tag", "splintered": "verdict"}[value]
    said = misspelt(value)
    where = {"field": facet, "value": said}
    answers = [
        *(
            get(client, path, {"q": "crane", "type": "works", facet: said})
            for path in ("/records/search", "/records/facets")
        ),
        get(client, "/records/search", {"q": f"crane of {said}"}),
        json.dumps(ask(client, f"How many works have the {facet} {said}?")),
        client.post("/query", json={"source": "works", "where": where}, headers={"Authorization": "Bearer ann"}).text,
        client.post(
            "/query/explain", json={"question": f"works with {facet} {said}"}, headers={"Authorization": "Bearer ann"}
        ).text,
        call_tool(client, "values", source="works", field=facet, like=said),
        call_tool(client, "search", text="crane", source="works", where=where),
    ]
    assert [answer for answer in answers if value in answer or value.lower() in answer] == []
