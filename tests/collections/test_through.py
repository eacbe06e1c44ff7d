"""Facets whose values are in other tables, or in several columns: joined, related, and by titles of several columns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.collections.support import apply_file, owner, work_off
from tests.conftest import client_of, clone_database
from tests.records.asking import ask, the

SCHEMA = """
create schema cinema;
create table cinema.directors (id int primary key, first_name text not null, last_name text);
create table cinema.genres (id int primary key, name text not null);
create table cinema.films (id int primary key, name text not null, director_id int references cinema.directors, minutes int);
create table cinema.film_genres (film_id int references cinema.films, genre_id int references cinema.genres,
  primary key (film_id, genre_id));
insert into cinema.directors values (1, 'Mara', 'Quill'), (2, 'Mara', 'Stone'), (3, 'Ferro', null);
insert into cinema.genres values (1, 'Western'), (2, 'Musical'), (3, 'Heist');
insert into cinema.films select i, 'Film number ' || i, nullif(i % 4, 0), 80 + i from generate_series(1, 12) i;
insert into cinema.film_genres select i, 1 + i % 3 from generate_series(1, 11) i;
insert into cinema.film_genres select i, 1 + (i + 1) % 3 from generate_series(1, 6) i;
create table cinema.crew (id int primary key, name text not null, city text, country text, seeks text[], motto text);
create table cinema.extras (like cinema.crew including all);
create table cinema.jobs (crew_id int references cinema.crew, studio text, role text, skills text[], city text, country text,
  began date, is_public boolean not null default true, kind text);
insert into cinema.crew values (1, 'Ada Quill', 'Oslo', 'Norway', '{Bergen,Remote}', 'Measure twice'),
  (2, 'Bo Stone', 'Bergen', 'Norway', '{Oslo}', null), (3, 'Cy Ferro', null, 'Chile', null, 'Cut once');
insert into cinema.extras values (1, 'Di Moss', 'Lima', 'Peru');
insert into cinema.jobs values
  (1, 'Oarworks', 'Senior Joiner', '{saws,planes}', 'Oslo', 'Norway', '2020-05-01', true, 'job'),
  (1, 'Tidemill', 'Baker', '{ovens}', 'Bergen', 'Norway', '2015-05-01', true, null),
  (2, 'Oarworks', 'Baker', '{ovens}', 'Oslo', 'Norway', '2021-05-01', true, 'job'),
  (3, 'Oarworks', 'Joiner', '{saws}', 'Lima', 'Peru', '2019-05-01', false, 'job'),
  (3, 'Oarworks', 'Joiner', '{saws}', 'Lima', 'Peru', '2019-05-01', true, 'course');
"""
FILMS = """
[collections.films]
source = "cinema.films"
text = { name = "A" }
[collections.films.facets]
genre = { kind = "array", through = "cinema.film_genres", of = "cinema.genres", title = "name" }
director = { kind = "name", by = "director_id", of = "cinema.directors", title = "{first_name} {last_name}" }
minutes = "number"
[collections.crew]
source = "cinema.crew"
text = { name = "A" }
related.work = { of = "cinema.jobs", by = "crew_id", where = "is_public and kind != 'course'", fields = { sort = "kind" } }
predicates.lately = "began between today - 36500 days and today"
[collections.crew.facets]
home = { kind = "place", columns = ["city", "country"] }
seeks = { kind = "place", synonyms = { norway = ["Oslo", "Bergen"] } }
motto = "text"
studio = { kind = "name", related = "work" }
role = { kind = "title", related = "work" }
skill = { kind = "array", related = "work", column = "skills" }
site = { kind = "place", related = "work", columns = ["city", "country"] }
began = { kind = "date", related = "work" }
[collections.extras]
like = "crew"
source = "cinema.extras"
related = {}
predicates = {}
facets = { home = { kind = "place", columns = ["city", "country"] } }
"""


@pytest.fixture(scope="module")
def cinema(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, SCHEMA)
        apply_file(url, FILMS)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, work_off(url)).result()
        yield url


@pytest.fixture(scope="module")
def client(cinema: str) -> Iterator[TestClient]:
    with client_of(cinema) as client:
        yield client


def groups(client: TestClient, **query: Any) -> dict[str | None, int]:
    told = client.get("/records/facets", params={"type": "films"} | query).json()
    return {group["value"]: group["count"] for group in told["groups"]}


def by_sql(url: str, sql: str) -> dict[str | None, int]:
    with psycopg.connect(url) as connection:
        return dict(connection.execute(sql.encode()).fetchall())


BY_GENRE = """select g.name, count(*) from cinema.films f join cinema.film_genres j on j.film_id = f.id
  join cinema.genres g on g.id = j.genre_id"""


def test_rows_count_for_each_value_that_a_table_joins_them_with(client: TestClient, cinema: str) -> None:
    assert groups(client, by="genre") == by_sql(cinema, f"{BY_GENRE} group by 1") | {None: 1}
    assert groups(client, by="genre", director="Mara Quill") == by_sql(
        cinema, f"{BY_GENRE} where f.director_id = 1 group by 1"
    )
    [westerns] = by_sql(cinema, f"{BY_GENRE} where g.name = 'Western' group by 1").values()
    for given, count in ({"genre": "Western"}, westerns), ({"-genre": "Western"}, 12 - westerns):
        assert client.get("/records/facets", params={"type": "films"} | given).json()["total"] == count
    assert groups(client, by="director") == {"Mara Quill": 3, "Mara Stone": 3, "Ferro": 3, None: 3}


def test_questions_know_such_values(client: TestClient, cinema: str) -> None:
    [musicals] = by_sql(cinema, f"{BY_GENRE} where g.name = 'Musical' group by 1").values()
    assert the(ask(client, "How many films are of the genre Musical?"), "aggregation")["total"] == musicals
    assert the(ask(client, "How many films by Mara Stone?"), "aggregation")["total"] == 3
    counted = the(ask(client, "average minutes of films by genre"), "aggregation")
    assert {group["value"] for group in counted["groups"]} == {"Western", "Musical", "Heist", None}


def crew(client: TestClient, **given: str) -> int:
    return int(client.get("/records/facets", params={"type": "crew"} | given).json()["total"])


def asked(client: TestClient, *where: Any, source: str = "crew") -> int:
    told = client.post("/query", json={"source": source, "where": list(where), "aggregate": [{"fn": "count"}]}).json()
    return int(told["rows"][0][0])


def has(field: str, value: Any, op: str = "=") -> dict[str, Any]:
    return {"field": field, "op": op, "value": value}


def test_conditions_on_related_rows_hold_for_one_of_those_that_are_meant(client: TestClient, cinema: str) -> None:
    assert crew(client, studio="Oarworks") == 2  # neither who works in secret nor who learns
    assert crew(client, studio="Oarworks", role="Baker") == 1
    assert crew(client, site="Lima") == 0
    assert groups(client, type="crew", by="skill") == {"ovens": 2, "saws": 1, "planes": 1, None: 1}
    assert asked(client, {"exists": "work", "where": [has("role", "Baker"), has("studio", "Oarworks")]}) == 1
    assert asked(client, {"exists": "work", "where": [has("sort", "job")]}) == 2
    assert [asked(client, has("began", "2021-01-01", ">=")), asked(client, has("lately", True))] == [1, 2]
    assert "studio: Oarworks, Tidemill\n" in client.get("/records/crew/1").json()["text"]
    owner(cinema, "update cinema.jobs set is_public = true")
    assert crew(client, studio="Oarworks") == 3


def test_a_place_in_several_columns_or_of_several_is_found_by_each_part_and_a_text_by_its_words(
    client: TestClient,
) -> None:
    assert [crew(client, home=place) for place in ("Norway", "Oslo", "Chile")] == [2, 1, 1]
    assert [crew(client, seeks=place) for place in ("Remote", "Oslo")] == [1, 1]
    assert [crew(client, motto=words) for words in ("twice", "once", "thrice")] == [1, 1, 0]
    assert asked(client, has("home", "Norway")) == 2
    assert asked(client, has("home", "Peru"), source="extras") == 1
