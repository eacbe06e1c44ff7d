"""Questions over tables that only `quarry map` has looked at: what SQL says, or no number at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.collections.drafting import draft
from quarry.collections.relations import relations_of_schema
from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.postgres.migrate import connect
from quarry.postgres.pool import Database
from quarry.records.fallbacks import NOTHING_ANSWERS, ONLY_NEAREST
from tests.collections import apiary, nursery, pottery, press, rehearsals
from tests.collections.ferries import NO_NUMBER, NUMBERS, SCHEMA
from tests.collections.support import apply_file, owner
from tests.conftest import client_of, clone_database
from tests.records.asking import answer_of, ask
from tests.records.test_reckoning import in_short, sentence_of, told, work_off


@contextmanager
def drafted(server_url: str, template: str, schema: str, tables: str) -> Iterator[str]:
    """A database with these tables, declared as they were drafted, their words in step."""
    with clone_database(server_url, template) as url:
        owner(url, tables)
        with connect(url, DEFAULT_SCHEMA) as connection:
            made = draft(schema, relations_of_schema(connection, schema))
        apply_file(url, made.text)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, work_off(url)).result()
        yield url


@pytest.fixture(scope="module")
def ferries(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "ferries", SCHEMA) as url:
        yield url


@pytest.fixture(scope="module")
def rooms(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "rehearsals", rehearsals.SCHEMA) as url:
        yield url


@pytest.fixture(scope="module")
def plants(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "nursery", nursery.SCHEMA) as url:
        yield url


@pytest.fixture(scope="module")
def kilns(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "pottery", pottery.SCHEMA) as url:
        yield url


async def assert_told(url: str, schema: str, numbers: Mapping[str, str], no_number: Iterable[str]) -> None:
    """Questions get the number that their SQL gives, or none."""
    database = Database(url, pool_size=1, timeout_seconds=60)
    wrong = await told_otherwise(database, url, schema, numbers)
    told_without = [question for question in no_number if await told(database, question)]
    await database.close()
    assert not wrong, "\n".join(map(str, wrong.items()))
    assert told_without == []


async def told_otherwise(
    database: Database, url: str, schema: str, numbers: Mapping[str, str]
) -> dict[str, str | None]:
    """The questions that are not answered by the number that their SQL gives, each with what is said in its place."""
    wrong: dict[str, str | None] = {}
    for question, sql in numbers.items():
        counted = await told(database, question)
        if counted is None or in_short(counted.event) != _by_sql(url, sql, schema):
            wrong[question] = counted.sentence if counted else None
    return wrong


def _by_sql(url: str, sql: str, schema: str) -> Any:
    with psycopg.connect(url, options=f"-c search_path={schema}") as connection:
        rows = connection.execute(sql.encode()).fetchall()
    if rows and len(rows[0]) == 2:
        return {str(name): round(float(number), 6) for name, number in rows}
    number = rows[0][0]
    return round(float(number), 6) if isinstance(number, Decimal) else number


async def test_questions_get_the_number_that_sql_gives_or_none(ferries: str) -> None:
    database = Database(ferries, pool_size=1, timeout_seconds=60)
    wrong = await told_otherwise(database, ferries, "ferries", NUMBERS)
    for question in NO_NUMBER:
        counted = await told(database, question)
        if counted and (counted.event.total or counted.event.groups):
            wrong[question] = counted.sentence
    await database.close()
    assert not wrong, "\n".join(map(str, wrong.items()))


async def test_what_rows_have_or_are_by_name_is_counted(rooms: str) -> None:
    database = Database(rooms, pool_size=1, timeout_seconds=60)
    wrong = await told_otherwise(database, rooms, "rehearsals", rehearsals.NUMBERS)
    await database.close()
    assert not wrong, "\n".join(map(str, wrong.items()))


async def test_the_latest_row_is_told_with_its_day(rooms: str) -> None:
    sentence = await sentence_of(rooms, "the last booking by Ada Falk")
    assert (
        sentence == "The latest of 20 bookings with the booker Ada Falk, by date: "
        f"{rehearsals.NOTE} (18 November 2024)."
    )


def test_what_rows_have_or_are_by_name_finds_only_such_rows(rooms: str) -> None:
    with client_of(rooms) as client:
        for question, (table, condition) in rehearsals.ROWS.items():
            results = client.get("/records/search", params={"q": question, "limit": 100}).json()["results"]
            found = {(each["type"], each["id"]) for result in results for each in (result, *result.get("also", ()))}
            assert found == {(table, id) for id in _ids(rooms, table, condition)}, question


def _ids(url: str, table: str, condition: str) -> list[str]:
    with psycopg.connect(url) as connection:
        found = connection.execute(f"select id::text from rehearsals.{table} where {condition}".encode())
        return [id for (id,) in found]


async def test_what_people_say_of_columns_is_read_of_few_rows_too(plants: str) -> None:
    await assert_told(plants, "nursery", nursery.NUMBERS, nursery.NO_NUMBER)


async def test_questions_in_other_forms_than_the_columns_names_are_told(kilns: str) -> None:
    await assert_told(kilns, "pottery", pottery.NUMBERS, pottery.NO_NUMBER)


@pytest.fixture(scope="module")
def island(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "press", press.SCHEMA) as url:
        yield url


async def test_what_is_done_with_things_and_what_is_owed_is_told(island: str) -> None:
    await assert_told(island, "press", press.NUMBERS, press.NO_NUMBER)


async def test_what_holds_until_a_day_what_is_used_up_and_who_did_it_are_told(
    server_url: str, migrated_template: str
) -> None:
    with drafted(server_url, migrated_template, "apiary", apiary.SCHEMA) as url:
        await assert_told(url, "apiary", apiary.NUMBERS, ())
        with client_of(url) as client:
            told = answers(client, "Which animals have no habits?")
            assert not told.startswith((ONLY_NEAREST, NOTHING_ANSWERS, "Of this", "No record names"))
            assert all(name in told for name in ("Beast 20", "Beast 40"))


def answers(client: TestClient, question: str) -> str:
    return answer_of(ask(client, question))


def test_rows_that_say_the_same_are_each_quoted_with_what_they_are_called(island: str) -> None:
    with client_of(island) as client:
        told = answers(client, "Which guests want a lamp beside the bed?")
        assert told.count("Wants a lamp") == 3
        assert all(name in told for name in ("Ada Venn", "Ada Oriel", "Ada Lund"))
        assert answers(client, "Who wants no feathers in the pillows?").startswith("Ada ")


def test_how_many_rows_there_are_is_told_where_only_the_first_are_listed(island: str) -> None:
    with client_of(island) as client:
        assert answers(client, "Which orders are delivered?").startswith("The records hold 30 orders")
        assert not answers(client, "Which papers are out of stock?").startswith("The records hold")


def test_what_a_thing_costs_is_told_that_rows_have_several_of(island: str) -> None:
    with client_of(island) as client:
        assert answers(client, "How much does a row boat cost?").startswith("Row boat – unit price: 9")


@pytest.mark.parametrize(
    "question",
    [
        "Which cabins are longer than 7 nights?",
        "Which treats were stolen at least 3 times?",
        "How many servants does Ada Oriel have?",
        "Who is the dentist of Ada Oriel?",
    ],
)
def test_rows_that_do_not_tell_what_is_asked_for_are_doubted(island: str, question: str) -> None:
    with client_of(island) as client:
        assert answers(client, question).startswith((ONLY_NEAREST, NOTHING_ANSWERS, "No record names"))
