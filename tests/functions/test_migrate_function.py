"""The function that brings the database's schema up to date."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

import psycopg
import pytest

from quarry.core.errors import ConfigurationError
from quarry.core.postgres.migrate import function_files, migration_files, sql_directory
from tests.conftest import create_database
from tests.functions.conftest import Context

Load = Callable[[str], ModuleType]


def test_an_empty_database_is_migrated_and_then_up_to_date(
    load_function: Load, server_url: str, lambda_environment: pytest.MonkeyPatch
) -> None:
    url = create_database(server_url, "migrate_function")
    lambda_environment.setenv("DATABASE_URL", url)
    lambda_environment.setenv("EMBEDDINGS", "openai")
    lambda_environment.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    lambda_environment.setenv("EMBEDDING_DIMENSIONS", "768")
    handler = load_function("migrate").handler

    done = handler({}, Context(900_000))

    assert done["migrations"] == [file.name for file in migration_files(sql_directory())]
    assert done["functions"] == [file.name for file in function_files(sql_directory())]
    assert json.loads(json.dumps(done)) == done
    with psycopg.connect(url) as connection:
        vector = connection.execute(
            "select format_type(atttypid, atttypmod) from pg_attribute"
            " where attrelid = 'matter_embeddings'::regclass and attname = 'embedding'"
        ).fetchone()
    assert vector == ("halfvec(768)",)
    assert handler({}, Context(900_000)) == {"migrations": [], "functions": []}


def test_an_edited_migration_fails_the_invocation(
    load_function: Load, database_url: str, lambda_environment: pytest.MonkeyPatch
) -> None:
    lambda_environment.setenv("DATABASE_URL", database_url)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("update quarry_migrations set sha256 = 'other' where name like '0001%'")
    with pytest.raises(ConfigurationError, match="0001"):
        load_function("migrate").handler({}, Context(900_000))
