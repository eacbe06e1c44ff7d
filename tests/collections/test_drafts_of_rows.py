"""What a draft makes of documents with metadata and vectors, and of tables whose rows frameworks mark deleted."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from quarry.collections.catalog_reading import relations_of_schema, with_documents
from quarry.collections.declaration import read_declarations
from quarry.collections.relations import Embedding
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry_map.drafting import draft
from tests.collections.support import owner

TABLES = """
create table documents (id bigserial primary key, content text, metadata jsonb, embedding vector(1536));
insert into documents (content, metadata) select 'A paragraph of some length on ' || n || ' and what follows from it, '
    || repeat('at length ', 8),
  jsonb_build_object('author', 'Author ' || n % 7, 'title', 'Chapter ' || n, 'page', n, 'created_at', '2024-01-01T10:00:00Z',
    'tags', jsonb_build_array('a', 'b'), 'is_public', n % 2 = 0,
    'loc', jsonb_build_object('lines', jsonb_build_object('from', n)),
    'api_token', 'tok_' || md5(n::text), 'seen_by', jsonb_build_object('user' || n, true))
  from generate_series(1, 200) n;
create table posts (id bigserial primary key, title varchar not null, body text, discarded_at timestamp, created_at timestamp);
create table "Orders" (id bigserial primary key, customer text, note text, "deletedAt" timestamptz);
create table products (id bigserial primary key, name text, description text, is_deleted boolean);
create table items (id bigserial primary key, name text, description text, deleted smallint not null default 0);
insert into items (name, description, deleted) select 'Item ' || n, 'What it is', (n = 3)::int from generate_series(1, 60) n;
create table auth_user (
  id serial primary key, username varchar not null, first_name varchar, last_name varchar, password varchar,
  is_active boolean not null, is_superuser boolean not null
);
create table machines (id serial primary key, name text, remarks text, is_active boolean);
"""


@pytest.fixture
def connection(database_url: str) -> Iterator[SyncConnection]:
    owner(database_url, TABLES, "analyze")
    with connect(database_url) as connection:
        yield connection


def drafted(connection: SyncConnection, made: Embedding | None = None) -> tuple[str, Mapping[str, Any]]:
    text = draft("public", with_documents(connection, relations_of_schema(connection, "public")), (), made).text
    read_declarations(text)
    return text, tomllib.loads(text)["collections"]


def test_keys_that_many_documents_have_are_drafted_like_columns(connection: SyncConnection) -> None:
    declared = drafted(connection)[1]["documents"]
    assert declared["title"] == "metadata.title"
    assert declared["date"] == "metadata.created_at"
    assert declared["hidden"] == ["metadata.api_token"]
    facets = declared["facets"]
    assert facets["author"] == {"kind": "value", "column": "metadata.author"}
    assert facets["tags"] == {"kind": "array", "column": "metadata.tags"}
    assert facets["is_public"] == {"kind": "boolean", "column": "metadata.is_public"}
    assert facets["page"]["kind"] == "number"
    assert not [name for name in facets if "seen" in name or "user" in name]  # keys that are values


def test_vectors_are_taken_where_they_may_be_of_the_model_that_embeds_questions(connection: SyncConnection) -> None:
    text, declared = drafted(connection, Embedding("text-embedding-3-small", 1536))
    assert declared["documents"]["vectors"] == "embedding"
    assert "embed" not in declared["documents"]
    assert "if text-embedding-3-small made them" in text
    text, declared = drafted(connection, Embedding("all-MiniLM-L6-v2", 384))
    assert "vectors" not in declared["documents"]
    assert '# vectors = "embedding"  # of 1536 dimensions' in text


MARKED = {
    "posts": "discarded_at is null",
    "orders": '"deletedAt" is null',
    "products": "is_deleted is not true",
    "items": "coalesce(deleted, 0) = 0",
    "auth_user": "is_active is not false",
    "machines": None,
}


def test_rows_that_frameworks_mark_deleted_are_left_out(connection: SyncConnection) -> None:
    declared = drafted(connection)[1]
    assert {collection: declared[collection].get("where") for collection in MARKED} == MARKED
    marks = {"discarded_at", "deleted_at", "is_deleted", "deleted"}
    assert not [each for each in MARKED if marks & {*declared[each].get("facets", {})}]
