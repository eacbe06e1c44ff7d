"""What the roles that serve and load may do, and what they may not, through the routes and commands that use them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import LiteralString
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.models.local_embedding import LocalEmbedding
from quarry.postgres.embed import embed_tables
from quarry.postgres.load import analyze, load_file
from quarry.postgres.pool import Database
from quarry.retrieval.values import refresh
from quarry.runs.run_log import delete_expired
from tests.conftest import client_of

PASSWORD = "loopback"


def login(server_url: str, group: str, url: str) -> str:
    """Make a role that logs in as a member of `group`; its URL of the database at `url`."""
    name = f"{group}_login"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(SQL("drop role if exists {}").format(Identifier(name)))
        made = SQL("create role {} login password {} in role {}")
        connection.execute(made.format(Identifier(name), PASSWORD, Identifier(group)))
    at = urlsplit(url)
    return at._replace(netloc=f"{name}:{PASSWORD}@{at.hostname}:{at.port}").geturl()


@pytest.fixture
def serving_url(server_url: str, sample_url: str) -> str:
    return login(server_url, "quarry_serving", sample_url)


@pytest.fixture
def loading_url(server_url: str, sample_url: str) -> str:
    return login(server_url, "quarry_loading", sample_url)


def test_every_domain_is_served_by_the_role_for_it(serving_url: str) -> None:
    with client_of(serving_url) as client:

        def get(path: str) -> object:
            response = client.get(path)
            assert response.status_code == 200, (path, response.text)
            return response.json() if "json" in response.headers["content-type"] else response.text

        def post(path: str, body: dict[str, object]) -> object:
            response = client.post(path, json=body)
            assert response.status_code < 300, (path, response.text)
            assert "event: error" not in response.text
            return response.json() if response.headers["content-type"].startswith("application/json") else response.text

        for path in ("/health", "/collections", "/records/facets", "/people", "/credits", "/me/conversations"):
            get(path)
        get("/records/search?q=bridge")
        assert "event: error" not in str(get("/records/ask?q=Who+moved+the+motion+on+the+Sable+River+Bridge"))
        post("/companies/chat", {"messages": [{"role": "user", "content": "solar companies"}]})
        post("/campaigns/chat", {"message": "How many campaigns are there?"})
        post("/ontology/search", {"query": "billing"})
        post("/me/searches", {"domain": "records", "name": "Bridges", "query": "bridge"})
        found = post("/people/search", {"query": "Go engineers in Bengaluru who are open to work"})
        assert isinstance(found, dict)
        person, search = found["people"][0]["id"], found["search_id"]
        unlocked = post(f"/people/{person}/unlock-contact", {"search_id": search})
        assert isinstance(unlocked, dict)
        assert unlocked["contact"]["email"]
        profile = get(f"/people/{person}?search_id={search}")
        assert isinstance(profile, dict)
        assert profile["contact"] == unlocked["contact"]


@pytest.mark.parametrize(
    "statement",
    [
        "select email from people",
        "select phone from people",
        "select links from people",
        "select p from people p",
        "update people set open_to_contact = true",
        "delete from companies",
        "update credit_ledger set amount = 1000",
        "create table mine (id int)",
        "alter table people add column mine int",
        "create or replace function hold_people(p_ids text[]) returns setof text language sql return ''",
        "drop table rate_windows",
    ],
)
def test_serving_reads_no_contact_and_changes_neither_data_nor_schema(
    serving_url: str, statement: LiteralString
) -> None:
    with psycopg.connect(serving_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)


def test_what_reads_with_its_owners_rights_is_for_named_roles_alone(sample_url: str) -> None:
    privileges = """select p.proname, has_function_privilege('public', p.oid, 'execute'),
        has_function_privilege('quarry_serving', p.oid, 'execute')
      from pg_proc p where p.prosecdef and p.pronamespace = 'quarry'::regnamespace"""
    with psycopg.connect(sample_url) as connection:
        for_public = {name: (public, serving) for name, public, serving in connection.execute(privileges)}
    assert {"contact_of_person", "find_people", "count_people"} <= for_public.keys()
    assert set(for_public.values()) == {(False, True)}


async def test_loading_loads_embeds_and_cleans_up(loading_url: str, tmp_path: Path) -> None:
    (tmp_path / "people.jsonl").write_text('{"id": "p-new", "name": "Ada", "email": "ada@example.org"}\n')
    (tmp_path / "matters.jsonl").write_text('{"id": "m-new", "title": "A bridge"}\n')
    for name in ("people", "matters"):
        table = catalog.LOADABLE[name]
        loaded = await asyncio.to_thread(load_file, loading_url, table, tmp_path / f"{name}.jsonl")
        assert loaded.changed == 1
        await asyncio.to_thread(analyze, loading_url, name)
    database, model = Database(loading_url, pool_size=1, timeout_seconds=60), LocalEmbedding()
    done = await embed_tables(database, model, [catalog.EMBEDDED["matters"]], refusals_max=5, keep_going=lambda: True)
    assert done["matters"].rows == 1
    await delete_expired(database, catalog.EXPIRING, run_log_days=90)
    await refresh(database, catalog.counted([]), timeout_seconds=60)
    await model.close()
    await database.close()
