"""Facets whose values are in other tables: through a table that joins, and by titles of several columns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.collections.checking import check, tables_named
from quarry.collections.declaration_file import DeclarationError, Lines, read_declarations
from quarry.collections.relations import read_catalog
from quarry.collections.upkeep import read_collections
from quarry.platform.setting_fields import DEFAULT_SCHEMA
from quarry.postgres.migrate import connect
from quarry.postgres.pool import Database
from quarry.records.record_texts import describe
from quarry.records.searched_types import with_collections
from tests.collections.support import apply_file, owner, refreshed
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
            pool.submit(asyncio.run, _work_off(url)).result()
        yield url


async def _work_off(url: str) -> None:
    database = Database(url, pool_size=1, timeout_seconds=60)
    assert not any((await refreshed(database)).values())
    await database.close()


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


def test_such_values_filter_and_are_ruled_out(client: TestClient, cinema: str) -> None:
    def total(**query: Any) -> int:
        return int(client.get("/records/facets", params=query).json()["total"])

    [westerns] = by_sql(cinema, f"{BY_GENRE} where g.name = 'Western' group by 1").values()
    assert total(genre="Western") == westerns
    assert total(**{"-genre": "Western"}) == 12 - westerns
    found = client.get("/records/search", params={"q": "film", "genre": "Western", "limit": 50}).json()
    assert found["counts"]["films"] == westerns


def test_a_title_of_several_columns_is_one_value(client: TestClient) -> None:
    assert groups(client, by="director") == {"Mara Quill": 3, "Mara Stone": 3, "Ferro": 3, None: 3}


@pytest.mark.xfail(reason="the learned reader does not read this yet")
def test_questions_know_such_values(client: TestClient, cinema: str) -> None:
    [musicals] = by_sql(cinema, f"{BY_GENRE} where g.name = 'Musical' group by 1").values()
    assert the(ask(client, "How many films are of the genre Musical?"), "aggregation")["total"] == musicals
    assert the(ask(client, "How many films by Mara Stone?"), "aggregation")["total"] == 3
    counted = the(ask(client, "average minutes of films by genre"), "aggregation")
    assert {group["value"] for group in counted["groups"]} == {"Western", "Musical", "Heist", None}


@pytest.mark.parametrize(
    ("facet", "message"),
    [
        ('{ kind = "array", through = "cinema.directors", of = "cinema.genres", title = "name" }', "name it as `by`"),
        ('{ kind = "array", through = "cinema.film_genre", of = "cinema.genres", title = "name" }', "did you mean"),
        ('{ kind = "array", through = "cinema.film_genres", of = "cinema.genres", title = "nam" }', "did you mean 'name'"),
        ('{ kind = "number", through = "cinema.film_genres", of = "cinema.genres", title = "name" }', "no number"),
        ('{ kind = "name", by = "director_id", of = "cinema.directors", title = "{surname} {id}" }', "no column 'surname'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(cinema: str, facet: str, message: str) -> None:
    text = f'[collections.films]\nsource = "cinema.films"\ntext = {{ name = "A" }}\n[collections.films.facets]\nx = {facet}\n'
    assert message in "\n".join(_problems(cinema, text))


def _problems(url: str, text: str) -> list[str]:
    try:
        declared = read_declarations(text)
    except DeclarationError as error:
        return error.problems
    with connect(url, DEFAULT_SCHEMA) as connection:
        catalog = read_catalog(connection, tables_named(declared))
    return check(declared, catalog, Lines(text, "quarry.toml"), own_schema=DEFAULT_SCHEMA).errors


def test_answers_may_quote_such_values(cinema: str) -> None:
    async def body() -> str:
        database = Database(cinema, pool_size=1, timeout_seconds=60)
        types = with_collections([*(await read_collections(database)).values()], has_built_in=False)
        [text] = await describe(database, [("films", "3")], types, "")
        await database.close()
        return text.body

    with ThreadPoolExecutor(1) as pool:
        lines = pool.submit(asyncio.run, body()).result().split("\n")
    assert lines == ["Film number 3", "genre: Musical, Western", "director: Ferro", "minutes: 83"]
