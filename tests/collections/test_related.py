"""Rows of another table that belong to a row, values in several columns, and what collections have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.collections.declaration_file import DeclarationError, read_declarations
from tests.collections.support import apply_file, owner, work_off
from tests.conftest import client_of, clone_database

SCHEMA = """
create schema guild;
create table guild.members (id int primary key, name text not null, city text, country text, seeks text[], motto text);
create table guild.apprentices (like guild.members including all);
create table guild.jobs (id int primary key, member_id int references guild.members, firm text, role text, skills text[],
  city text, country text, began date, is_public boolean not null default true, kind text);
insert into guild.members values
  (1, 'Ada Quill', 'Oslo', 'Norway', '{Bergen,Remote}', 'Measure twice'), (2, 'Bo Stone', 'Bergen', 'Norway', '{Oslo}', null),
  (3, 'Cy Ferro', null, 'Chile', null, 'Cut once');
insert into guild.apprentices values (1, 'Di Moss', 'Lima', 'Peru', null, null);
insert into guild.jobs values
  (1, 1, 'Oarworks', 'Senior Joiner', '{saws,planes}', 'Oslo', 'Norway', '2020-05-01', true, 'job'),
  (2, 1, 'Tidemill', 'Baker', '{ovens}', 'Bergen', 'Norway', '2015-05-01', true, null),
  (3, 2, 'Oarworks', 'Baker', '{ovens}', 'Oslo', 'Norway', '2021-05-01', true, 'job'),
  (4, 3, 'Oarworks', 'Joiner', '{saws}', 'Lima', 'Peru', '2019-05-01', false, 'job'),
  (5, 3, 'Oarworks', 'Joiner', '{saws}', 'Lima', 'Peru', '2019-05-01', true, 'course');
"""
MEMBERS = """
[collections.members]
source = "guild.members"
text = { name = "A" }
related.work = { of = "guild.jobs", by = "member_id", where = "is_public and kind != 'course'", fields = ["kind"] }
[collections.members.facets]
home = { kind = "place", columns = ["city", "country"] }
seeks = { kind = "place", synonyms = { norway = ["Oslo", "Bergen"] } }
motto = "text"
firm = { kind = "name", related = "work" }
role = { kind = "title", related = "work" }
skill = { kind = "array", related = "work", column = "skills" }
site = { kind = "place", related = "work", columns = ["city", "country"] }
began = { kind = "date", related = "work" }
[collections.apprentices]
like = "members"
source = "guild.apprentices"
related = {}
facets = { home = { kind = "place", columns = ["city", "country"] } }
[collections.members.predicates]
lately = "began between today - 36500 days and today"
"""


@pytest.fixture(scope="module")
def guild(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, SCHEMA)
        apply_file(url, MEMBERS)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, work_off(url)).result()
        yield url


@pytest.fixture(scope="module")
def client(guild: str) -> Iterator[TestClient]:
    with client_of(guild) as client:
        yield client


def total(client: TestClient, **given: str) -> int:
    told = client.get("/records/facets", params={"type": "members", **given}).json()
    return int(told["total"])


def asked(client: TestClient, *where: Any, source: str = "members") -> int:
    query = {"source": source, "where": list(where), "aggregate": [{"fn": "count"}]}
    told = client.post("/query", json=query)
    assert told.status_code == 200, told.text
    return int(told.json()["rows"][0][0])


def test_conditions_on_related_rows_hold_for_one_of_those_that_are_meant(client: TestClient) -> None:
    assert total(client, firm="Oarworks") == 2  # neither one that is not public nor a course
    assert total(client, firm="Oarworks", role="Baker") == 1
    assert total(client, site="Lima") == 0
    groups = client.get("/records/facets", params={"type": "members", "by": "skill"}).json()["groups"]
    assert {each["value"]: each["count"] for each in groups} == {"ovens": 2, "saws": 1, "planes": 1, None: 1}
    bakers = {"field": "role", "op": "=", "value": "Baker"}, {"field": "firm", "op": "=", "value": "Oarworks"}
    assert asked(client, {"exists": "work", "where": list(bakers)}) == 1
    assert asked(client, {"exists": "work", "where": [{"field": "kind", "op": "=", "value": "job"}]}) == 2
    assert asked(client, {"field": "began", "op": ">=", "value": "2021-01-01"}) == 1


def test_a_place_in_several_columns_or_of_several_is_found_by_each_part(client: TestClient) -> None:
    assert [total(client, home=place) for place in ("Norway", "Oslo", "Chile")] == [2, 1, 1]
    assert [total(client, seeks=place) for place in ("Remote", "Oslo")] == [1, 1]
    assert asked(client, {"field": "home", "op": "=", "value": "Norway"}) == 2
    assert asked(client, {"field": "lately", "value": True}) == 2


def test_a_facet_of_text_is_met_by_words_that_it_contains(client: TestClient) -> None:
    assert [total(client, motto=words) for words in ("twice", "once", "thrice")] == [1, 1, 0]


def test_a_collection_has_what_the_one_has_that_it_is_like(client: TestClient) -> None:
    assert asked(client, {"field": "home", "op": "=", "value": "Peru"}, source="apprentices") == 1


def test_related_rows_change_with_their_own_table(client: TestClient, guild: str) -> None:
    with psycopg.connect(guild, autocommit=True) as connection:
        connection.execute("update guild.jobs set is_public = true where id = 4")
        assert total(client, firm="Oarworks") == 3
        connection.execute("update guild.jobs set is_public = false where id = 4")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('related.jobs = { of = "a", by = "b", where = "c > today" }', "cannot name `today`"),
        ('facets.firm = { kind = "name", related = "work" }', "no related rows have this name"),
        ('facets.home = { kind = "name", columns = ["a", "b"] }', "the parts of a place"),
        ('facets.home = { kind = "name", wording = "at" }', "`wording` has no {}"),
        ('facets.long = { kind = "number", unit = "minuts" }', "did you mean 'minutes'"),
        ('like = "nothing"', "no collection that is like no other"),
        ('predicates.late = "due between 1 and other"', "a number, a text"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(line: str, problem: str) -> None:
    with pytest.raises(DeclarationError, match=rf"quarry.toml:\d: .*{problem}"):
        read_declarations(f'[collections.things]\nsource = "things"\n{line}\n')
