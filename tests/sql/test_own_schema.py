"""All that is Quarry's is in a schema of its own, beside whatever else a database holds."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local import data as sample_module
from quarry.local.data import VECTORS_FILE, load_sample, sample_directory, sample_domains
from quarry.local.installation import uninstall
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import ConfigurationError
from quarry.postgres.migrate import Migrated, migrate
from quarry.postgres.pool import Database
from tests.conftest import client_of, create_database
from tools.generate import run_program, schema_dump

DIMENSIONS = 384
FEW = 20
"""Of a table's rows."""
NOTHING = Migrated((), ())
OF_OTHERS = ("--exclude-schema=quarry", "--exclude-extension=*")
"""Options of pg_dump."""

_numbers = itertools.count()

THEIRS = """
create table public.people (id int primary key, nickname text);
insert into public.people values (1, 'somebody');
create function public.query_words(text) returns text language sql return 'theirs';
create schema theirs;
create table theirs.quarry_migrations (name text);
create table theirs.companies (id int);
insert into theirs.companies values (7);
"""


@pytest.fixture
def empty_url(server_url: str) -> Iterator[str]:
    """The URL of a database that was never migrated, and whose sessions look in `public` alone."""
    name = f"own_schema_{next(_numbers)}"
    url = create_database(server_url, name)
    run(server_url, f"alter database {name} set search_path = public")
    yield url
    run(server_url, f"drop database {name} with (force)")


@pytest.fixture(scope="module")
def few_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of sample data with a part of each table of the sample: no row refers to one that is left out."""
    folder, kept = tmp_path_factory.mktemp("sample"), dict[str, set[str]]()
    for domain in sample_domains():
        (folder / domain).mkdir()
        vectors = sample_directory() / domain / VECTORS_FILE
        if vectors.exists():
            (folder / domain / VECTORS_FILE).symlink_to(vectors)
        for table in catalog.LOADABLE.values():
            file = sample_directory() / domain / f"{table.name}.jsonl"
            if file.exists():
                rows = [
                    row
                    for row in map(json.loads, file.read_text().splitlines())
                    if all(row.get(column) in {None} | kept[other] for column, other in table.references.items())
                ]
                rows = rows[:FEW]
                kept[table.name] = {row["id"] for row in rows}
                (folder / domain / file.name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert kept.keys() == catalog.LOADABLE.keys()
    assert all(kept.values())
    return folder


def fill(url: str, schema: str, folder: Path) -> None:
    """Load the sample data of `folder`."""

    async def load() -> None:
        database, model = Database(url, pool_size=1, timeout_seconds=60, schema=schema), LocalEmbedding()
        await load_sample(database, url, model)
        await model.close()
        await database.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_module, "sample_directory", lambda: folder)
        asyncio.run(load())


def run(url: str, statements: str) -> list[tuple[Any, ...]]:
    """The rows of the last statement, if it has any."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statements.encode())
        while cursor.nextset():
            pass
        return cursor.fetchall() if cursor.description else []


def contents(url: str, schema: str) -> dict[str, tuple[Any, ...]]:
    """How many rows each table of a schema has, and a digest of them."""
    tables = run(url, f"select relname from pg_class where relnamespace = '{schema}'::regnamespace and relkind = 'r'")
    query = SQL("select count(*), md5(string_agg(t::text, '' order by t::text)) from {} t")
    with psycopg.connect(url) as connection:
        return {name: connection.execute(query.format(Identifier(schema, name))).fetchone() or () for (name,) in tables}


def found(url: str, **environment: str) -> dict[str, list[str]]:
    """The ids that the service says it found for a question to each domain, in their order."""
    requests: dict[str, dict[str, Any]] = {
        "/records/search": {"params": {"q": "bridge weight limit"}},
        "/people/search": {"json": {"query": "engineers in Pune"}},
        "/companies/chat": {"json": {"messages": [{"role": "user", "content": "payments in Africa"}]}},
        "/ontology/search": {"json": {"query": "oven"}},
        "/campaigns/chat": {"json": {"message": "email campaigns with a discount"}},
    }
    with client_of(url, **environment) as client:
        responses = {
            path: client.request("GET" if "params" in given else "POST", path, **given).raise_for_status().text
            for path, given in requests.items()
        }
    return {path: re.findall(r'"(?:id|record_id|person_id)": ?"([^"]+)"', text) for path, text in responses.items()}


# --- beside others


def test_a_database_with_tables_of_our_names_is_migrated_searched_and_left_alone(
    empty_url: str, few_rows: Path
) -> None:
    run(empty_url, THEIRS)
    before = schema_dump(empty_url, *OF_OTHERS), contents(empty_url, "public"), contents(empty_url, "theirs")
    migrate(empty_url, embedding_dimensions=DIMENSIONS)
    fill(empty_url, "quarry", few_rows)
    assert all(found(empty_url).values())
    after = schema_dump(empty_url, *OF_OTHERS), contents(empty_url, "public"), contents(empty_url, "theirs")
    assert after == before


def test_a_schema_of_somebody_else_is_refused(empty_url: str) -> None:
    run(empty_url, "create schema quarry; create table quarry.stones (id int)")
    with pytest.raises(ConfigurationError, match="DATABASE_SCHEMA"):
        migrate(empty_url, embedding_dimensions=DIMENSIONS)
    assert contents(empty_url, "quarry") == {"stones": (0, None)}


# --- dumped and restored


def test_a_dump_is_restored_and_searched(database_url: str, empty_url: str, few_rows: Path, tmp_path: Path) -> None:
    dump = str(tmp_path / "dump")
    fill(database_url, "quarry", few_rows)
    run_program(database_url, "pg_dump", "--format=custom", f"--file={dump}", database_url)
    run_program(database_url, "pg_restore", "--exit-on-error", f"--dbname={empty_url}", dump)
    assert contents(empty_url, "quarry") == contents(database_url, "quarry")
    assert migrate(empty_url, embedding_dimensions=DIMENSIONS) == NOTHING
    assert schema_dump(empty_url) == schema_dump(database_url)
    run(empty_url, "analyze")
    restored = found(empty_url)
    assert restored == found(database_url)
    assert all(restored.values())


# --- taken away


@pytest.fixture
def uninstall_from(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bool]:
    """Runs `quarry uninstall --yes` on a database."""

    def run_on(url: str) -> bool:
        monkeypatch.setenv("DATABASE_URL", url)
        return uninstall(confirmed=True)

    return run_on


@pytest.mark.usefixtures("migrated_template")  # another database that needs the role
def test_uninstalling_leaves_what_others_and_extensions_have(
    empty_url: str, uninstall_from: Callable[[str], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    run(empty_url, THEIRS + "create extension vector; create table public.places (place vector(3))")
    before = schema_dump(empty_url, *OF_OTHERS)
    migrate(empty_url, embedding_dimensions=DIMENSIONS)
    assert uninstall_from(empty_url)
    assert schema_dump(empty_url, *OF_OTHERS) == before
    assert "dropped the schema quarry\nkept the role" in capsys.readouterr().out
    assert uninstall_from(empty_url)
    assert "there is no schema quarry" in capsys.readouterr().out
    assert migrate(empty_url, embedding_dimensions=DIMENSIONS).migrations


@pytest.mark.parametrize(
    ("theirs", "named"),
    [
        ("create view public.names as select name from quarry.people", "view public.names"),
        ("create table public.notes (person_id text references quarry.people)", "constraint notes_person_id_fkey"),
        ("create table quarry.stones (id int)", "table quarry.stones"),
    ],
)
def test_what_would_go_with_the_schema_forbids_uninstalling(
    database_url: str, uninstall_from: Callable[[str], bool], theirs: str, named: str
) -> None:
    run(database_url, theirs)
    before = schema_dump(database_url)
    with pytest.raises(ConfigurationError, match=named):
        uninstall_from(database_url)
    assert schema_dump(database_url) == before
