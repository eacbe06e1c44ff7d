"""Comparisons with the name of a number between them and the number, and several functions of numbers asked for at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
import pytest

from quarry.postgres.pool import Database
from tests.collections.support import apply_file, owner
from tests.conftest import clone_database
from tests.records.test_reckoning import told

SCHEMA = """
create schema museum;
create table museum.visitors (id int primary key, name text not null, age int, weight numeric, rating int, spent numeric,
  hall text, came_on date);
insert into museum.visitors select i, 'Visitor ' || i, 10 + (i * 7) % 60, 40 + (i * 11) % 50, 1 + i % 5, (i * 13) % 90,
  (array['East','West','North'])[1 + i % 3], date '2025-01-01' + i * 9
from generate_series(1, 40) i;
"""
DECLARED = """
[collections.visitors]
source = "museum.visitors"
title = "name"
text = { name = "A" }
date = "came_on"
facets.age = "number"
facets.weight = "number"
facets.rating = "number"
facets.spent = { kind = "money", currency = "EUR", label = "fee" }
facets.hall = "value"
"""


@pytest.fixture(scope="module")
def museum(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, SCHEMA)
        apply_file(url, DECLARED)
        yield url


@pytest.fixture
async def database(museum: str) -> AsyncIterator[Database]:
    database = Database(museum, pool_size=1, timeout_seconds=60)
    yield database
    await database.close()


def by_sql(url: str, sql: str) -> tuple[Any, ...]:
    with psycopg.connect(url, options="-c search_path=museum") as connection:
        row = connection.execute(sql.encode()).fetchone()
    assert row is not None
    return row


COMPARED = {
    "How many visitors below age 30?": "age < 30",
    "How many visitors under the age of 30?": "age < 30",
    "How many visitors have an age below 30?": "age < 30",
    "How many visitors of age below 30?": "age < 30",
    "How many visitors with age 30 or more?": "age >= 30",
    "How many visitors at least age 30?": "age >= 30",
    "How many visitors with a minimum age of 30?": "age >= 30",
    "How many visitors above age 30 and below age 50?": "age > 30 and age < 50",
    "How many visitors between ages 20 and 40?": "age between 20 and 40",
    "How many visitors above weight 60?": "weight > 60",
    "How many visitors with a weight above 60?": "weight > 60",
    "How many visitors above a rating of 3?": "rating > 3",
    "How many visitors with rating over 3 and below age 40?": "rating > 3 and age < 40",
    "How many visitors with at most rating 2?": "rating <= 2",
    "How many visitors over fee 50?": "spent > 50",
    "How many visitors with age 38?": "age = 38",
    "How many visitors except age 38?": "age <> 38",
}


@pytest.mark.parametrize("question", COMPARED)
async def test_a_comparison_holds_beside_the_name_of_its_number(database: Database, museum: str, question: str) -> None:
    counted = await told(database, question)
    assert counted, question
    [number] = by_sql(museum, f"select count(*) from visitors where {COMPARED[question]}")
    assert counted.event.total == number, counted.sentence


@pytest.mark.parametrize(
    "question",
    [
        "How many visitors skirting 30 in age?",
        "How many visitors beneath age 30?",
        "How many visitors brushing 30 in age?",
    ],
)
async def test_a_word_before_a_number_that_nobody_understood_leaves_no_number_said_with_confidence(
    database: Database, question: str
) -> None:
    assert await told(database, question) is None


TOGETHER = {
    "What is the minimum and maximum weight of visitors?": ("min", "max"),
    "minimum and maximum weight of visitors": ("min", "max"),
    "highest and lowest weight of visitors": ("max", "min"),
    "What are the average, lowest and highest weight of visitors?": ("avg", "min", "max"),
    "average and total weight of visitors": ("avg", "sum"),
    "minimum weight and maximum weight of visitors": ("min", "max"),
}


@pytest.mark.parametrize("question", TOGETHER)
async def test_all_functions_that_are_asked_for_at_once_are_told(
    database: Database, museum: str, question: str
) -> None:
    counted = await told(database, question)
    assert counted
    wanted = [f"{each}(weight)" for each in TOGETHER[question]]
    numbers = by_sql(museum, f"select {', '.join(wanted)} from visitors")
    names = [f"{each}:weight" for each in TOGETHER[question]]
    assert counted.event.measures == pytest.approx(dict(zip(names, map(float, numbers), strict=True)))
    assert counted.event.of in names
    for function in TOGETHER[question]:
        word = {"min": "lowest", "max": "highest", "avg": "average", "sum": "total"}[function]
        assert f"{word} weight" in counted.sentence


async def test_functions_asked_for_at_once_are_told_of_each_group(database: Database, museum: str) -> None:
    counted = await told(database, "minimum and maximum weight of visitors by hall")
    assert counted
    groups = {str(group.value): group.model_extra for group in counted.event.groups}
    low, high = by_sql(museum, "select min(weight), max(weight) from visitors where hall = 'East'")
    assert groups["East"] == {"min:weight": float(low), "max:weight": float(high)}
    assert f"East {low}, {high}" in counted.sentence


async def test_functions_of_different_numbers_are_each_of_their_own(database: Database, museum: str) -> None:
    counted = await told(database, "average age and maximum weight of visitors")
    assert counted
    age, weight = by_sql(museum, "select avg(age), max(weight) from visitors")
    assert counted.event.measures == pytest.approx({"avg:age": float(age), "max:weight": float(weight)})
