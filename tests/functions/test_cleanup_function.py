"""The scheduled cleanup."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import ModuleType

import psycopg
import pytest

from quarry.platform.errors import DatabaseUnavailable
from tests.functions.conftest import Context, recorded

Load = Callable[[str], ModuleType]

ANSWER = """insert into answer_cache (id, query, answer, sources, source_count, confidence, expires_at)
  values (%s, 'q', 'a', '[]', 0, 'low', now() + %s::interval)"""


@pytest.fixture
def database(database_url: str, lambda_environment: pytest.MonkeyPatch) -> Iterator[psycopg.Connection]:
    """A database with three answers, two of them expired, that the function uses."""
    lambda_environment.setenv("DATABASE_URL", database_url)
    with psycopg.connect(database_url, autocommit=True) as connection:
        for id, lifetime in (("old", "-1 day"), ("older", "-1 year"), ("fresh", "1 day")):
            connection.execute(ANSWER, [id, lifetime])
        yield connection


def answers(database: psycopg.Connection) -> set[str]:
    return {id for (id,) in database.execute("select id from answer_cache")}


def test_expired_rows_are_deleted_and_counted(load_function: Load, database: psycopg.Connection) -> None:
    handler = load_function("cleanup").handler
    assert not any(handler(recorded("cleanup/scheduled.json"), Context(10_500)).values()), (
        "there was no time for a batch"
    )
    deleted = handler(recorded("cleanup/scheduled.json"), Context(120_000))
    assert deleted["answers"] == 2
    assert json.loads(json.dumps(deleted)) == deleted
    assert answers(database) == {"fresh"}


def test_a_locked_table_fails_the_invocation_after_all_others_are_done(
    load_function: Load, database: psycopg.Connection, database_url: str, lambda_environment: pytest.MonkeyPatch
) -> None:
    database.execute("update text_totals set rows = 0")
    database.execute("insert into matters (id, title) values ('a', 'Oak')")
    database.execute("insert into motions (id, text_content) values ('a', 'Elm')")
    lambda_environment.setenv("DATABASE_TIMEOUT_SECONDS", "2")
    cleanup = load_function("cleanup")
    with psycopg.connect(database_url) as writer:
        writer.execute("lock matters in access exclusive mode")
        with pytest.raises(DatabaseUnavailable, match="words of matters"):
            cleanup.handler(recorded("cleanup/scheduled.json"), Context(120_000))
    assert answers(database) == {"fresh"}
    assert database.execute("select of_table from text_totals where rows = 1").fetchall() == [("motions",)]
