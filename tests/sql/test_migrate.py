"""Bringing a database up to date."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry.platform.errors import ConfigurationError
from quarry.postgres.migrate import Migrated, connect, migrate
from tests.conftest import create_database

NOTHING = Migrated((), ())

TABLE = "create extension if not exists vector;\ncreate table notes (id int, place halfvec({{embedding_dimensions}}));"
FUNCTION = "create or replace function answer() returns int language sql return {};"

_numbers = itertools.count()


@pytest.fixture
def empty_url(server_url: str) -> Iterator[str]:
    """The URL of a database that was never migrated."""
    name = f"empty_{next(_numbers)}"
    yield create_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(SQL("drop database {} with (force)").format(Identifier(name)))


@pytest.fixture
def sql(tmp_path: Path) -> Path:
    """A small `sql/`: one migration, two functions."""
    for folder in ("migrations", "functions/notes"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "migrations/0001_notes.sql").write_text(TABLE)
    (tmp_path / "functions/notes/answer.sql").write_text(FUNCTION.format(41))
    (tmp_path / "functions/notes/again.sql").write_text(
        "create or replace function again() returns int language sql as 'select answer()';"
    )
    return tmp_path


@pytest.fixture
def run(empty_url: str, sql: Path) -> Callable[[], Migrated]:
    """Migrates the empty database with the small `sql/`."""
    return partial(migrate, empty_url, embedding_dimensions=8, directory=sql)


def value(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row and row[0]


def test_migrating_applies_all_and_says_what(run: Callable[[], Migrated], empty_url: str) -> None:
    assert run() == Migrated(("0001_notes.sql",), ("notes/again.sql", "notes/answer.sql"))
    assert value(empty_url, "select again()") == 41


def test_an_edited_migration_is_refused_by_name(run: Callable[[], Migrated], sql: Path) -> None:
    run()
    (sql / "migrations/0001_notes.sql").write_text(TABLE + " -- improved")
    with pytest.raises(ConfigurationError, match=r"0001_notes\.sql was edited"):
        run()


def test_a_newer_database_is_refused(run: Callable[[], Migrated], sql: Path) -> None:
    newer = sql / "migrations/0002_later.sql"
    newer.write_text("select 1;")
    run()
    newer.unlink()
    with pytest.raises(ConfigurationError, match=r"0002_later\.sql.*update Quarry"):
        run()


def test_a_failing_migration_is_named_and_leaves_no_trace(
    run: Callable[[], Migrated], sql: Path, empty_url: str
) -> None:
    broken = sql / "migrations/0002_broken.sql"
    broken.write_text("create table half (id int); create table half (id int);")
    with pytest.raises(ConfigurationError, match=r'0002_broken\.sql: relation "half" already exists'):
        run()
    assert value(empty_url, "select to_regclass('half')") is None
    broken.unlink()
    assert run().migrations == ()


def test_of_processes_that_migrate_at_once_one_does_the_work(empty_url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda _: migrate(empty_url, embedding_dimensions=384), range(4)))
    assert len([run for run in runs if run.migrations and run.functions]) == 1
    assert runs.count(NOTHING) == 3


def test_a_url_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationError) as caught, connect("quarry:secret@127.0.0.1"):
        pass
    assert "postgresql://" in caught.value.message
    assert "secret" not in caught.value.message
    assert caught.value.__cause__ is None
