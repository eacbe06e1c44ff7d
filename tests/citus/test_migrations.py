"""The files of SQL on a distributed Postgres. Skipped where QUARRY_CITUS names none: see tools/citus.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local.sample import sample_directory
from quarry.postgres import migrate as module
from quarry.postgres.load import load_file
from quarry.postgres.migrate import function_files, migrate, sql_directory
from quarry.postgres.tenants import add_tenant
from tests.tenants.conftest import headers, tenants_client
from tools.citus import FOLDER_VARIABLE, Cluster, cluster, programs

FOLDER = programs()
pytestmark = pytest.mark.skipif(FOLDER is None, reason=f"{FOLDER_VARIABLE} names no Postgres with Citus")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    assert FOLDER is not None
    with cluster(FOLDER) as nodes:
        migrate(nodes.coordinator.url, embedding_dimensions=384)
        yield nodes


def test_a_schema_of_the_coordinator_is_migrated_and_migrated_again(nodes: Cluster) -> None:
    url = nodes.coordinator.url
    done = migrate(url, embedding_dimensions=384, schema="whole", is_tenant=True)
    assert len(done.functions) == len(function_files(sql_directory()))
    again = migrate(url, embedding_dimensions=384, schema="whole", is_tenant=True)
    assert (again.migrations, again.functions) == ((), ())


def test_a_tenant_of_the_coordinator_is_loaded_and_searched(nodes: Cluster) -> None:
    url = nodes.coordinator.url
    add_tenant(url, "acme", "acme", own_schema="quarry", embedding_dimensions=384)
    table = catalog.LOADABLE["companies"]
    load_file(url, table, sample_directory() / "companies" / "companies.jsonl", schema="acme")
    question = {"messages": [{"role": "user", "content": "Harbor"}]}
    with tenants_client(url) as client:
        assert "c-harbor-banking" in client.post("/companies/chat", json=question, headers=headers("acme")).text
        counted = client.post(
            "/query", json={"source": "companies", "aggregate": [{"fn": "count"}]}, headers=headers("acme")
        )
        assert counted.json()["rows"][0][0] > 10


def test_distributed_schemas_take_the_functions_and_lie_on_different_workers(
    nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = nodes.coordinator.url
    # the words and values of a distributed schema are not counted: docs/scaling.md says what does not run there yet
    for each in ("_refresh_values", "_count_words"):
        monkeypatch.setattr(module, each, lambda *_: None)
    (tmp_path / "functions").mkdir()
    (tmp_path / "migrations").symlink_to(sql_directory() / "migrations")
    for schema in ("one", "two"):
        migrate(url, embedding_dimensions=384, schema=schema, directory=tmp_path, is_tenant=True)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select citus_schema_distribute(%s::regnamespace)", [schema])
        done = migrate(url, embedding_dimensions=384, schema=schema, is_tenant=True)
        assert len(done.functions) == len(function_files(sql_directory()))
    with psycopg.connect(url, autocommit=True) as connection:
        ports = {
            schema: connection.execute(
                "select array_agg(distinct nodeport) from citus_shards where table_name::text like %s", [f"{schema}.%"]
            ).fetchall()[0][0]
            for schema in ("one", "two")
        }
        assert sorted(port for each in ports.values() for port in each) == sorted(each.port for each in nodes.workers)
        connection.execute(SQL("set search_path = {}, public").format(Identifier("one")))
        kept = connection.execute(
            "select attstorage from pg_attribute where attrelid = 'motion_embeddings'::regclass and "
            "attname = 'embedding'"
        ).fetchall()
        assert kept == [("p",)]
