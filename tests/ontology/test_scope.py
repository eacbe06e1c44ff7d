"""Nobody sees another user's rows: because of the statements' own scope, and row-level security behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import namedtuple_row
from starlette.testclient import TestClient

from quarry.ontology.contract import ENTITY_TYPES
from quarry.platform.errors import ConfigurationError
from quarry.postgres.migrate import migrate
from tests.conftest import client_of, create_database
from tests.ontology.conftest import Connection, add_task, found, one

OWNERS = ("demo", "noor", "nobody")
PROJECTS = {
    "demo": ("riverside-bakery", "spring-membership", "fieldnote-2", "village-hall"),
    "noor": ("bike-kitchen", "heat-thesis"),
}
WORDS = (
    "marketing plan poster bicycle thesis heat oven tree canal kitchen roof budget minutes letter insurance the of logger "
    '-oven -bicycle "marketing plan" or % _ * noor demo bike-kitchen heat-thesis-task-01 \' -- ) \\'
).split(" ")

queries = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30),
)
projects = st.none() | st.sampled_from([*PROJECTS["demo"], *PROJECTS["noor"], "unknown", "%"])
types = st.none() | st.lists(st.sampled_from(ENTITY_TYPES), max_size=9)

hypothesis_settings = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(owner=st.sampled_from(OWNERS), query=queries, project=projects, types=types)
@hypothesis_settings
def test_no_request_shows_a_row_of_another_owner(
    client: TestClient, owner: str, query: str, project: str | None, types: list[str] | None
) -> None:
    body = {"query": query, "project_id": project, "types": types}
    response = client.post("/ontology/search", json=body, headers={"Authorization": f"Bearer {owner}"})
    if project is not None and project not in PROJECTS.get(owner, ()):
        assert response.status_code in (404, 422)
        return
    if response.status_code == 422:
        assert query.strip() == ""
        return
    assert response.status_code == 200
    for result in response.json()["results"]:
        assert result["project_id"] in PROJECTS.get(owner, ())
        assert project in (None, result["project_id"])
        assert not types or result["type"] in types


def test_the_name_of_a_project_of_another_owner_matches_nothing(database_url: str, connection: Connection) -> None:
    add_task(connection, "own", "Paint the ladder")
    connection.execute(
        "insert into onto_tasks (id, project_id, created_by, title, props) values"
        " ('lent', 'theirs', 'ada', 'Lend a ladder', '{\"status\": \"open\"}')"
    )
    with client_of(database_url) as client:
        asking = {"Authorization": "Bearer ada"}
        found = client.post("/ontology/search", json={"query": "ladder in Mill"}, headers=asking).json()
        assert "Filtered by" not in found["message"]
        own = client.post("/ontology/search", json={"query": "ladder in Harbour"}, headers=asking).json()
        assert "Filtered by: project: Harbour" in own["message"]
        grouped = client.post(
            "/query", json={"source": "task", "group": "project", "aggregate": "count"}, headers=asking
        )
        assert sorted(grouped.json()["rows"], key=str) == [["Harbour", 1], [None, 1]]
        named = {"source": "task", "where": {"field": "project", "value": "mill"}, "aggregate": "count"}
        answer = client.post("/query", json=named, headers=asking)
        assert answer.status_code == 422 or answer.json()["rows"] == [[0]]
        assert "Mill" not in client.get("/collections", headers=asking).text + answer.text.replace("mill", "")


def test_only_its_owner_sees_the_name_of_a_project(connection: Connection) -> None:
    connection.execute(
        "insert into onto_tasks (id, project_id, created_by, title) values ('mine', 'theirs', 'ada', 'Lend a ladder')"
    )
    [row] = found(connection, "ladder")
    assert (row.project_id, row.project_name) == ("theirs", None)
    assert found(connection, "ladder", project_id="theirs") == []
    detail = one(connection, "select * from onto_entity_details('ada', 'task', 'mine')")
    assert (detail.project_id, detail.project) == ("theirs", None)


# A first wall that stands open: everybody's entries, whoever asks.
OPEN_RANKING = """
create or replace function rank_onto_entities(
  p_actor_id text, p_query text, p_project_id text, p_types text[], p_limit int, p_few_matches int
) returns table (type text, id text, score double precision, is_match boolean, found bigint, more boolean, words text[])
language sql as $$ select type, id, 1.0::float8, true, 1::bigint, false, '{}'::text[] from onto_search_entries $$
"""
OPEN_DETAILS = """
create or replace function onto_entity_details(p_actor_id text, p_type text, p_id text) returns table (
  type text, id text, project_id text, title text, props jsonb, project jsonb, created_at timestamptz, updated_at timestamptz
) language plpgsql set role = 'quarry_ontology_reader' as $$
begin
  perform set_config('quarry.actor', p_actor_id, true);
  return query select e.type, e.id, e.project_id, e.title, e.props, to_jsonb(p), e.created_at, e.updated_at
    from onto_entities e left join onto_projects p on true;
end $$
"""


@pytest.fixture
def opened(connection: Connection) -> Connection:
    """A database whose statements have lost their own scope."""
    add_task(connection, "a1", "Ladder of ada")
    add_task(connection, "b1", "Ladder of bob", owner="bob")
    connection.execute(OPEN_RANKING)
    connection.execute(OPEN_DETAILS)
    return connection


def test_policies_alone_isolate_owners_and_let_the_reader_change_nothing(opened: Connection) -> None:
    for actor, ids in (("ada", ["a1"]), ("bob", ["b1"]), ("eve", []), ("", [])):
        assert [row.id for row in found(opened, "ladder", actor=actor)] == ids
        details = opened.execute("select * from onto_entity_details(%s, 'task', 'x')", [actor]).fetchall()
        assert [row.id for row in details] == ids
        assert all(row.project is None or row.project["created_by"] == actor for row in details)
    opened.execute("set role quarry_ontology_reader")
    for statement in ("insert into onto_projects values ('x', 'eve', 'X')", "delete from onto_tasks"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            opened.execute(statement.encode())


def test_two_callers_in_one_transaction_are_isolated(connection: Connection) -> None:
    add_task(connection, "a1", "Ladder of ada")
    add_task(connection, "b1", "Ladder of bob", owner="bob")
    with connection.transaction():
        assert [[row.id for row in found(connection, "ladder", actor=actor)] for actor in ("ada", "bob", "ada")] == [
            ["a1"],
            ["b1"],
            ["a1"],
        ]


class TestWithoutSuperuser:
    """A Postgres as providers offer it: the database belongs to a role that is not a superuser."""

    @pytest.fixture
    def plain_url(self, server_url: str, migrated_template: str) -> Iterator[Callable[[], str]]:
        """Makes an empty database of the role `plain`, where pgvector is installed; its URL."""
        url = create_database(server_url, "plain")
        with psycopg.connect(server_url, autocommit=True) as server, psycopg.connect(url, autocommit=True) as own:
            server.execute("create role plain login password 'plain'")
            server.execute("alter database plain owner to plain")
            own.execute("create extension vector")
        yield lambda: _as_plain(url)
        with psycopg.connect(server_url, autocommit=True) as server:
            server.execute("drop database plain with (force)")
            server.execute("drop role plain")

    def test_policies_hold_without_a_superuser(self, server_url: str, plain_url: Callable[[], str]) -> None:
        _execute(server_url, "grant quarry_ontology_reader to plain")
        migrate(plain_url(), embedding_dimensions=8)
        with psycopg.connect(plain_url(), autocommit=True, row_factory=namedtuple_row) as connection:
            connection.execute("insert into onto_projects values ('ours', 'ada', 'A'), ('theirs', 'bob', 'B')")
            add_task(connection, "a1", "Ladder of ada")
            add_task(connection, "b1", "Ladder of bob", owner="bob")
            assert [row.id for row in found(connection, "ladder")] == ["a1"]
            connection.execute(OPEN_RANKING)
            assert [row.id for row in found(connection, "ladder")] == ["a1"]

    def test_a_role_without_the_reader_grant_gets_an_error_that_names_it(self, plain_url: Callable[[], str]) -> None:
        with pytest.raises(ConfigurationError, match="grant quarry_ontology_reader to plain"):
            migrate(plain_url(), embedding_dimensions=8)


def _as_plain(url: str) -> str:
    host = url.split("@", 1)[1]
    return f"postgresql://plain:plain@{host}"


def _execute(url: str, statement: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement.encode())
