"""Facets whose values are in other tables: through a table that joins, and by titles of several columns."""

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
"""
FILMS = """
[collections.films]
source = "cinema.films"
text = { name = "A" }
[collections.films.facets]
genre = { kind = "array", through = "cinema.film_genres", of = "cinema.genres", title = "name" }
director = { kind = "name", by = "director_id", of = "cinema.directors", title = "{first_name} {last_name}" }
minutes = "number"
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
    told = client.get("/records/facets", params=query).json()
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
        assert client.get("/records/facets", params=given).json()["total"] == count
    assert groups(client, by="director") == {"Mara Quill": 3, "Mara Stone": 3, "Ferro": 3, None: 3}


def test_questions_know_such_values(client: TestClient, cinema: str) -> None:
    [musicals] = by_sql(cinema, f"{BY_GENRE} where g.name = 'Musical' group by 1").values()
    assert the(ask(client, "How many films are of the genre Musical?"), "aggregation")["total"] == musicals
    assert the(ask(client, "How many films by Mara Stone?"), "aggregation")["total"] == 3
    counted = the(ask(client, "average minutes of films by genre"), "aggregation")
    assert {group["value"] for group in counted["groups"]} == {"Western", "Musical", "Heist", None}
