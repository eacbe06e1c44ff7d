"""Words that no company may speak of: who does, in how many texts that is looked for; and words that nobody says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from quarry.companies import store
from quarry.companies.store import (
    RuledOut,
    are_expected,
    few_fitting_ids,
    fitting_ids,
    read_ruled_out,
    row_filter,
    unspoken,
)
from quarry.postgres.pool import Database
from quarry.spans.question import Clause, Condition
from tests.companies.seeded import add_company

PROFILES: dict[str, dict[str, Any]] = {
    "bags": {"description": "Bags made of plastic."},
    "bricks": {"tagline": "Packaging with no plastic, of mushrooms."},
    "cups": {"description": "Cups.", "niches": ["plastic cups"]},
    "trees": {"description": "It plants trees."},
    "vision": {"description": "Sees faults with AI."},
    "eyes": {"description": "Sees faults with artificial intelligence."},
    "sloth": {"description": "The three-toed ai is a sloth."},
}


@pytest.fixture(scope="module")
def profiles_url(shared_url: str) -> str:
    with psycopg.connect(shared_url, autocommit=True) as connection:
        for id, columns in PROFILES.items():
            add_company(connection, id, **columns)
        connection.execute("select count_lexemes('companies')")
    return shared_url


@pytest.fixture
async def database(profiles_url: str) -> AsyncIterator[Database]:
    database = Database(profiles_url, pool_size=1, timeout_seconds=20)
    yield database
    await database.close()


async def left(database: Database, *words: str) -> set[str]:
    ruled_out = await read_ruled_out(database, (), words)
    return {*await fitting_ids(database, row_filter((), ruled_out), 100)}


async def test_who_only_denies_what_is_ruled_out_is_left(database: Database) -> None:
    assert await left(database, "plastic") == {*PROFILES} - {"bags", "cups"}


async def test_who_writes_the_initials_speaks_of_the_words(database: Database) -> None:
    assert await left(database, "artificial intelligence") == {*PROFILES} - {"vision", "eyes"}


async def test_several_words_are_ruled_out_together(database: Database) -> None:
    assert await left(database, "plastic", "trees", "artificial intelligence") == {"bricks", "sloth"}


async def test_so_many_texts_are_read_and_who_holds_the_words_in_others_speaks_of_them(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "TEXTS_READ_MAX", 1)
    assert await left(database, "plastic") == {*PROFILES} - {"bags", "bricks", "cups"}


async def test_so_many_of_those_founded_last_are_looked_at_for_what_they_must_not_say(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LATEST_MAX", 3)
    with psycopg.connect(database_url, autocommit=True) as connection:
        for number in range(5):
            says = "Bags made of plastic." if number > 1 else "Bags."
            add_company(connection, f"c{number}", description=says, founded_year=2000 + number, hq_country="Peru")
        add_company(connection, "other", description="Bags.", founded_year=1990, hq_country="Chile")
    reader = Database(database_url, pool_size=1, timeout_seconds=20)
    peru: Clause = (Condition("country", ("Peru",)),)
    chile: Clause = (Condition("country", ("Chile",)),)
    not_chile: Clause = (Condition("country", ("Chile",), is_negated=True),)
    ruled_out = RuledOut(["plastic"])
    found = [
        await few_fitting_ids(reader, clauses, row_filter(clauses, ruled_out), 2, latest=True)
        for clauses in ([], [peru], [chile], [not_chile])
    ]
    every = await few_fitting_ids(reader, [peru], row_filter([peru]), 2, latest=True)
    await reader.close()
    # the three founded last all say it: of others it is not known; whoever is in Chile was looked at
    assert found == [([], True), ([], True), (["other"], False), ([], True)]
    assert every == (["c4", "c3"], False)


async def test_by_some_companies_it_is_told_whether_many_meet_a_condition(
    profiles_url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(profiles_url, autocommit=True) as connection:
        connection.execute("analyze companies")
    every = len(PROFILES)
    assert not await are_expected(database, "true", every - 1)  # so few are looked at themselves
    monkeypatch.setattr(store, "SAMPLE_MAX", 2)
    assert await are_expected(database, "true", every - 1)
    assert not await are_expected(database, "true", every)
    assert not await are_expected(database, "false", 0)


def test_no_text_is_read_by_the_condition_that_searches_hold() -> None:
    ruled_out = RuledOut(["plastic", "artificial intelligence"], ["bricks"], ["vision"])
    condition = row_filter((), ruled_out)
    assert "description" not in condition
    assert {"bricks", "vision"} <= {*condition.replace("{", "'").replace("}", "'").split("'")}


async def test_words_that_no_profile_holds_are_told_in_their_order(database: Database) -> None:
    said = ["weddings", "plastic", "mushrooms", "cups", "moon", "three-toed", "two-toed", "the", "o'clock"]
    assert await unspoken(database, said) == ["weddings", "moon", "two-toed", "o'clock"]


async def test_so_many_words_are_looked_for_in_profiles(database: Database) -> None:
    assert await unspoken(database, [f"word{number}" for number in range(100)]) == [
        f"word{number}" for number in range(64)
    ]
