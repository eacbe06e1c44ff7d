"""Bringing a database up to date."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.platform.setting_fields import LOCAL_EMBEDDING_DIMENSIONS
from quarry.postgres import migrate as migrate_module
from quarry.postgres.migrate import Migrated, connect, migrate, pending, sql_directory
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


def test_vectors_have_the_dimensions_of_the_settings(run: Callable[[], Migrated], empty_url: str) -> None:
    run()
    column = "select format_type(atttypid, atttypmod) from pg_attribute where attname = 'place'"
    assert value(empty_url, column) == "halfvec(8)"


def test_migrating_again_changes_nothing(database_url: str) -> None:
    assert migrate(database_url, embedding_dimensions=384) == NOTHING
    assert pending(database_url) == []


def test_an_edited_migration_is_refused_by_name(run: Callable[[], Migrated], sql: Path) -> None:
    run()
    (sql / "migrations/0001_notes.sql").write_text(TABLE + " -- improved")
    with pytest.raises(ConfigurationError, match=r"0001_notes\.sql was edited"):
        run()


def test_only_an_edited_function_is_created_anew(run: Callable[[], Migrated], sql: Path, empty_url: str) -> None:
    run()
    (sql / "functions/notes/answer.sql").write_text(FUNCTION.format(42))
    assert pending(empty_url, directory=sql) == ["notes/answer.sql"]
    assert run() == Migrated((), ("notes/answer.sql",))
    assert value(empty_url, "select again()") == 42


def test_a_function_with_new_arguments_replaces_the_old_one(
    run: Callable[[], Migrated], sql: Path, empty_url: str
) -> None:
    run()
    (sql / "functions/notes/answer.sql").write_text(
        "create or replace function answer(extra int default 1) returns int language sql return 41 + extra;"
    )
    run()
    assert value(empty_url, "select answer()") == 42
    assert value(empty_url, "select count(*) from pg_proc where proname = 'answer'") == 1


@pytest.mark.parametrize(
    "changed",
    [
        "create or replace function answer() returns text language sql return '42';",
        "create or replace function answer(out answer text, out unit text) language sql as $$ select '42', 'years' $$;",
    ],
)
def test_a_function_that_gives_something_else_replaces_the_old_one(
    run: Callable[[], Migrated], sql: Path, empty_url: str, changed: str
) -> None:
    (sql / "functions/notes/again.sql").unlink()
    run()
    (sql / "functions/notes/answer.sql").write_text(changed)
    assert run().functions == ("notes/answer.sql",)
    assert "42" in str(value(empty_url, "select answer()"))


def test_a_function_whose_file_has_another_name_is_dropped_under_the_old_one(
    run: Callable[[], Migrated], sql: Path, empty_url: str
) -> None:
    run()
    (sql / "functions/notes/answer.sql").rename(sql / "functions/notes/reply.sql")
    for name in ("reply", "again"):
        file = sql / f"functions/notes/{name}.sql"
        file.write_text(file.read_text().replace("answer()", "reply()"))
    assert run().functions == ("notes/again.sql", "notes/reply.sql")
    assert value(empty_url, "select again()") == 41
    assert value(empty_url, "select to_regproc('answer')") is None
    assert run() == NOTHING


def test_a_new_migration_creates_every_function_anew(run: Callable[[], Migrated], sql: Path, empty_url: str) -> None:
    run()
    (sql / "migrations/0002_drop.sql").write_text("drop function answer();")
    assert run() == Migrated(("0002_drop.sql",), ("notes/again.sql", "notes/answer.sql"))
    assert value(empty_url, "select again()") == 41


BOUND = "create or replace function kept(n notes) returns boolean language sql return n.id is not null;"
CALLING = (
    "create or replace function any_kept() returns boolean language sql return (select bool_or(kept(n)) from notes n);"
)


@pytest.fixture
def bound(sql: Path) -> None:
    """The small `sql/` has functions whose bodies are bound to a column, and to each other."""
    (sql / "functions/notes/kept.sql").write_text(BOUND)
    (sql / "functions/notes/any_kept.sql").write_text(CALLING)


@pytest.mark.parametrize("changed", ["alter table notes alter id type text", "alter table notes drop id, add id text"])
def test_a_migration_changes_a_column_that_functions_are_bound_to(
    run: Callable[[], Migrated], bound: None, sql: Path, empty_url: str, changed: str
) -> None:
    run()
    (sql / "migrations/0002_change.sql").write_text(
        f"create table more (id int);\n{changed};\ninsert into notes (id) values ('a');"
    )
    assert run().migrations == ("0002_change.sql",)
    assert value(empty_url, "select any_kept()") is True
    assert run() == NOTHING


def test_functions_that_a_migration_had_dropped_are_created_by_the_next_run(
    run: Callable[[], Migrated], bound: None, sql: Path, empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    (sql / "migrations/0002_change.sql").write_text("alter table notes alter id type text;")
    with monkeypatch.context() as killed:
        killed.setattr(migrate_module, "_recreate_functions", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run()
    assert {"notes/any_kept.sql", "notes/kept.sql"} <= {*run().functions}
    assert value(empty_url, "select any_kept()") is None


def test_a_migration_that_fails_all_the_same_leaves_bound_functions(
    run: Callable[[], Migrated], bound: None, sql: Path, empty_url: str
) -> None:
    run()
    (sql / "migrations/0002_change.sql").write_text(
        "create view ids as select id from notes; alter table notes drop id;"
    )
    with pytest.raises(ConfigurationError, match=r"0002_change\.sql: cannot drop column id"):
        run()
    assert value(empty_url, "select any_kept()") is None


def test_a_column_that_filters_of_people_read_is_changed(database_url: str, tmp_path: Path) -> None:
    shutil.copytree(sql_directory(), tmp_path / "sql")
    (tmp_path / "sql/migrations/9999_change.sql").write_text(
        "alter table people alter work_preferred_salary_min type numeric;"
    )
    migrate(database_url, embedding_dimensions=LOCAL_EMBEDDING_DIMENSIONS, directory=tmp_path / "sql")
    with connect(database_url) as connection:
        connection.execute(
            "select card_matches(c, p, null) from experience_cards c join people p on p.id = c.person_id"
        )


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


def test_a_failing_function_is_named_and_none_is_changed(
    run: Callable[[], Migrated], sql: Path, empty_url: str
) -> None:
    run()
    (sql / "functions/notes/again.sql").write_text(
        "create or replace function again() returns int language sql return 7;"
    )
    (sql / "functions/notes/answer.sql").write_text(
        "create or replace function answer() returns no_such_type language sql as 'select 1';"
    )
    with pytest.raises(ConfigurationError, match=r"notes/answer\.sql: type \"no_such_type\" does not exist"):
        run()
    assert value(empty_url, "select again()") == 41


def test_a_missing_extension_is_told(run: Callable[[], Migrated], sql: Path) -> None:
    (sql / "migrations/0002_extension.sql").write_text("create extension no_such_extension;")
    with pytest.raises(ConfigurationError, match="pgvector"):
        run()


@pytest.mark.parametrize("name", ["1_notes.sql", "0002-notes.sql", "0002_Notes.sql"])
def test_a_migration_is_named_by_number_and_purpose(run: Callable[[], Migrated], sql: Path, name: str) -> None:
    (sql / "migrations" / name).touch()
    with pytest.raises(ConfigurationError, match="NNNN_what_it_does"):
        run()


def test_everything_is_pending_in_an_empty_database(empty_url: str, sql: Path) -> None:
    assert pending(empty_url, directory=sql) == ["0001_notes.sql", "notes/again.sql", "notes/answer.sql"]


def test_of_processes_that_migrate_at_once_one_does_the_work(empty_url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda _: migrate(empty_url, embedding_dimensions=384), range(4)))
    assert len([run for run in runs if run.migrations and run.functions]) == 1
    assert runs.count(NOTHING) == 3


def test_a_table_in_use_is_not_waited_for_without_end(
    run: Callable[[], Migrated], sql: Path, empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    (sql / "migrations" / "0002_more.sql").write_text("alter table notes add column more int;")
    monkeypatch.setattr(migrate_module, "LOCK_SECONDS", 0.2)
    with psycopg.connect(empty_url) as reader:
        reader.execute("select from notes")
        with pytest.raises(DatabaseUnavailable, match="run `quarry migrate` again"):
            run()
    assert run().migrations == ("0002_more.sql",)


def test_a_database_that_does_not_answer_is_told() -> None:
    with pytest.raises(DatabaseUnavailable), connect("postgresql://quarry:secret@127.0.0.1:1/quarry"):
        pass


def test_a_connection_that_breaks_is_told(database_url: str) -> None:
    with pytest.raises(DatabaseUnavailable), connect(database_url) as connection:
        connection.execute("select pg_terminate_backend(pg_backend_pid())")


def test_a_url_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationError) as caught, connect("quarry:secret@127.0.0.1"):
        pass
    assert "postgresql://" in caught.value.message
    assert "secret" not in caught.value.message
    assert caught.value.__cause__ is None
