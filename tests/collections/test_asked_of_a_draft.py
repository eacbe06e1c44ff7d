"""Questions over tables that only `quarry map` has looked at: what SQL says, or no number at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from quarry.core.collections.drafting import draft
from quarry.core.collections.relations import relations_of_schema
from quarry.core.postgres.migrate import connect
from quarry.core.postgres.pool import Database
from quarry.core.settings import DEFAULT_SCHEMA
from tests.collections.ferries import NO_NUMBER, NUMBERS, SCHEMA
from tests.collections.support import apply_file, owner
from tests.conftest import clone_database
from tests.records.test_reckoning import in_short, told, work_off


@pytest.fixture(scope="module")
def ferries(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, SCHEMA)
        with connect(url, DEFAULT_SCHEMA) as connection:
            made = draft("ferries", relations_of_schema(connection, "ferries"))
        apply_file(url, made.text)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, work_off(url)).result()
        yield url


def _by_sql(url: str, sql: str) -> Any:
    with psycopg.connect(url, options="-c search_path=ferries") as connection:
        rows = connection.execute(sql.encode()).fetchall()
    if rows and len(rows[0]) == 2:
        return {str(name): round(float(number), 6) for name, number in rows}
    number = rows[0][0]
    return round(float(number), 6) if isinstance(number, Decimal) else number


async def test_questions_get_the_number_that_sql_gives_or_none(ferries: str) -> None:
    database = Database(ferries, pool_size=1, timeout_seconds=60)
    wrong = {}
    for question, sql in NUMBERS.items():
        counted = await told(database, question)
        if counted is None or in_short(counted.event) != _by_sql(ferries, sql):
            wrong[question] = counted and counted.sentence
    for question in NO_NUMBER:
        counted = await told(database, question)
        if counted and (counted.event.total or counted.event.groups):
            wrong[question] = counted.sentence
    await database.close()
    assert wrong == {}
