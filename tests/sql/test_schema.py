"""sql/schema.sql and the sample data's vectors are what the rest of sql/ makes."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local.sample import VECTORS_FILE, sample_directory, sample_domains
from quarry.models.local_embedding import LocalEmbedding
from quarry.postgres.migrate import sql_directory
from tests.conftest import create_database
from tools.generate import has_vectors_of, sample_windows, schema_dump

SCHEMA = sql_directory() / "schema.sql"


@pytest.fixture
def restored_url(server_url: str) -> Iterator[str]:
    """The URL of a database made from schema.sql alone."""
    url = create_database(server_url, "restored")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA.read_bytes())
    yield url
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("drop database restored with (force)")


def test_migrations_and_functions_make_the_committed_schema(database_url: str) -> None:
    assert schema_dump(database_url) == SCHEMA.read_text(), "run `make docs`"


def test_the_committed_schema_is_whole(restored_url: str) -> None:
    assert schema_dump(restored_url) == SCHEMA.read_text()


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


def test_vectors_of_other_texts_are_seen_to_be_stale() -> None:
    path = sample_directory() / "records" / VECTORS_FILE
    windows = sample_windows("records")
    assert not has_vectors_of(path, [*windows, "one more"])
    assert not has_vectors_of(path, windows[1:])
