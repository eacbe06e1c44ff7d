"""Fixtures for tests of the workspace: the application and a connection over the sample data of demo and noor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import namedtuple_row

from tests.shared_sample import client, model_client, shared_model_client, shared_sample_url

__all__ = ["add_task", "client", "found", "model_client", "one", "shared_model_client", "shared_sample_url"]

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="package")
def sample(shared_sample_url: str) -> Iterator[Connection]:
    """A connection to the same database; read-only."""
    with psycopg.connect(shared_sample_url, autocommit=True, row_factory=namedtuple_row) as connection:
        yield connection


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """An empty database for one test, with two projects: `ours` of ada, `theirs` of bob."""
    with psycopg.connect(database_url, autocommit=True, row_factory=namedtuple_row) as connection:
        connection.execute(
            "insert into onto_projects (id, created_by, name) values ('ours', 'ada', 'Harbour'), ('theirs', 'bob', 'Mill')"
        )
        yield connection


def add_task(connection: Connection, id: str, title: str, props: str = "{}", *, owner: str = "ada") -> None:
    """A task of `owner` in the project of that owner."""
    project = "ours" if owner == "ada" else "theirs"
    connection.execute(
        "insert into onto_tasks (id, project_id, created_by, title, props) values (%s, %s, %s, %s, %s)",
        [id, project, owner, title, props],
    )


def found(connection: Connection, query: str, *, actor: str = "ada", **arguments: Any) -> list[Any]:
    """The rows of onto_search_entities; `arguments` by name, without the p_."""
    given = {"actor_id": actor, "query": query} | arguments
    names = ", ".join(f"p_{name} => %({name})s" for name in given)
    return connection.execute(f"select * from onto_search_entities({names})".encode(), given).fetchall()


def one(connection: Connection, statement: str, *parameters: Any) -> Any:
    """The single row of a statement."""
    [row] = connection.execute(statement.encode(), parameters).fetchall()
    return row
