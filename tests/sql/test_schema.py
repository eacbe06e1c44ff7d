"""sql/schema.sql and the sample data's vectors are what the rest of sql/ makes."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local.data import VECTORS_FILE, sample_directory, sample_domains
from quarry.models.local_embedding import LocalEmbedding
from quarry.postgres import migrate as module
from quarry.postgres.migrate import function_files, migrate, sql_directory
from tools.generate import has_vectors_of, sample_windows, schema_dump

SCHEMA = sql_directory() / "schema.sql"


def test_migrations_and_functions_make_the_committed_schema(database_url: str) -> None:
    assert schema_dump(database_url) == SCHEMA.read_text(), "run `make docs`"


def test_every_text_of_the_sample_data_has_its_vectors(sample_url: str) -> None:
    model = LocalEmbedding()
    with psycopg.connect(sample_url, row_factory=dict_row) as connection:
        windows = [
            window
            for table in catalog.EMBEDDED.values()
            for row in connection.execute(SQL("select * from {}").format(Identifier(table.name)))
            for _, _, window in table.windows(row, model.windows)
        ]
    shipped = [window for domain in sample_domains() for window in sample_windows(domain)]
    assert windows
    assert sorted(windows) == sorted(shipped)


@pytest.mark.parametrize("domain", sample_domains())
def test_the_vectors_of_a_domain_are_those_of_its_texts(domain: str) -> None:
    windows = sample_windows(domain)
    assert not windows or has_vectors_of(sample_directory() / domain / VECTORS_FILE, windows), "run `make docs`"


def test_a_tenant_made_at_once_is_what_migrations_and_functions_make(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for schema in ("at_once", "played"):
        if schema == "played":
            monkeypatch.setattr(module, "make_whole", lambda *_: False)
        done = migrate(database_url, embedding_dimensions=8, schema=schema, is_tenant=True)
        assert len(done.functions) == len(function_files(sql_directory()))
        assert migrate(database_url, embedding_dimensions=8, schema=schema, is_tenant=True).functions == ()
    at_once, played = (schema_dump(database_url, f"--schema={schema}") for schema in ("at_once", "played"))
    assert at_once.replace("at_once", "played") == played
    with psycopg.connect(database_url) as connection:
        for table in ("quarry_migrations", "quarry_functions", "text_totals"):
            rows = [
                connection.execute(
                    SQL("select to_jsonb(t) - 'applied_at' - 'counted_at' from {} t order by 1").format(
                        Identifier(schema, table)
                    )
                ).fetchall()
                for schema in ("at_once", "played")
            ]
            assert rows[0] == rows[1] != []
