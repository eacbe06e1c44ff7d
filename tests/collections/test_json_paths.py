"""A key in a JSON column stands wherever a column may: in search, counts, queries, addresses, lines, and what is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.collections.declaration import DeclarationError
from quarry.local.apply import apply_file as declare
from quarry.services.services import Services
from tests.collections.support import apply_file, found, owner, refreshed, waiting
from tests.collections.test_search import fill, filled
from tests.conftest import client_of

DOCUMENTS = """
create table writers (code int primary key, name text not null, about jsonb);
insert into writers values (7, 'Ida Falk', '{"town": "Bergen"}'), (8, 'Ole Strand', '{"town": "Oslo"}');
create table documents (id bigint primary key, content text, metadata jsonb, extra json);
insert into documents (id, content, metadata, extra) values
  (1, 'How to mend a net after the season.', '{"author": "Ida Falk", "writer": 7, "pages": 12, "written": "2024-03-01T09:00:00Z",
    "tags": ["nets", "repair"], "draft": false, "title": "Nets", "source": {"page": "nets", "shelf": "A"},
    "api_key": "k-1"}', null),
  (2, 'Where the cod goes in winter.', '{"author": "Ole Strand", "writer": "8", "pages": "30", "written": "2024-05-20",
    "tags": "cod", "draft": true, "title": "Cod in winter", "source": {"page": "cod", "shelf": "B"},
    "api_key": "k-2"}', '{"rating": 4.5}'),
  (3, 'A list of harbours.', '{"author": "Ida Falk", "writer": "none", "pages": "n/a", "written": "2024-02-30", "tags": {"a": 1},
    "title": "Harbours", "source": {"page": "harbours"}}', '{"rating": "high"}'),
  (4, 'Nothing is known of this one.', null, null), (5, 'A list in the place of an object.', '["x"]', '7');
"""
DECLARED = """
[collections.documents]
source = "documents"
title = "metadata.title"
text = { content = "B", "metadata.title" = "A" }
cite = ["content", "By {metadata.author}"]
date = "metadata.written"
url = "https://notes.example/{metadata.source.page}"
hidden = ["metadata.api_key"]

[collections.documents.facets]
author = { kind = "name", column = "metadata.author" }
pages = { kind = "number", column = "metadata.pages" }
sheets = { kind = "number", expression = "metadata.pages / 2" }
tags = { kind = "array", column = "metadata.tags" }
draft = { kind = "boolean", column = "metadata.draft" }
town = { kind = "place", by = "metadata.writer", of = "writers", title = "about.town" }

[collections.documents.predicates]
long = "metadata.pages > 20"
unrated = "extra.stars is null"
"""


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("documents")
    with filled(server_url, migrated_template, folder, DECLARED, DOCUMENTS) as url, client_of(url) as client:
        yield client


def groups(client: TestClient, by: str, **filters: Any) -> dict[Any, int]:
    body = client.get("/records/facets", params={"type": "documents", "by": by, **filters}).json()
    return {group["value"]: group["count"] for group in body["groups"]}


def rows(client: TestClient, **query: Any) -> list[list[Any]]:
    response = client.post("/query", json={"source": "documents", **query})
    assert response.status_code == 200, response.text
    listed: list[list[Any]] = response.json()["rows"]
    return listed


def test_values_of_every_type_are_filtered_and_counted(client: TestClient) -> None:
    assert groups(client, "author") == {"Ida Falk": 2, "Ole Strand": 1, None: 2}
    assert groups(client, "tags") == {"nets": 1, "repair": 1, "cod": 1, None: 3}
    assert groups(client, "draft", author="Ole Strand") == {True: 1}
    assert groups(client, "town") == {"Bergen": 1, "Oslo": 1, None: 3}
    assert rows(client, where=[{"field": "long", "value": True}], select=["id"]) == [[2]]
    assert len(rows(client, where=[{"field": "unrated", "value": True}])) == 5  # no row has such a key yet
    assert groups(client, "month") == {"2024-03-01": 1, "2024-04-01": 0, "2024-05-01": 1, None: 3}


def test_a_value_of_another_type_is_none_and_fails_no_other_row(client: TestClient) -> None:
    assert rows(client, select=["id", "pages", "sheets", "date"], order=[{"by": "id"}]) == [
        [1, 12, 6, "2024-03-01"], [2, 30, 15, "2024-05-20"], [3, None, None, None], [4, None, None, None],
        [5, None, None, None],
    ]  # fmt: skip


def test_a_hidden_key_is_shown_by_no_door(client: TestClient) -> None:
    listed = client.get("/collections")
    kinds = {field["name"]: field["kind"] for field in listed.json()["collections"][0]["fields"]}
    assert (kinds["metadata.source.shelf"], kinds["metadata.draft"]) == ("text", "boolean")  # nobody declared them
    assert "api_key" not in listed.text
    record = client.get("/records/documents/1").json()
    assert "k-1" not in str(record)
    assert "Ida Falk" in str(record)
    assert client.get("/records/documents/5").json()["fields"]["metadata"] == ["x"]
    refused = client.post("/query", json={"source": "documents", "select": ["metadata.api_key"]})
    assert refused.status_code == 422


async def test_a_document_that_changes_is_read_again_and_another_key_changes_nothing(
    database_url: str, services: Services
) -> None:
    owner(database_url, DOCUMENTS)
    apply_file(database_url, DECLARED)
    await refreshed(services.database)
    owner(database_url, """update documents set metadata = metadata || '{"title": "Badgers"}' where id = 1""")
    assert await refreshed(services.database) == {"documents": None}
    assert await found(services.database, "badger", "documents") == ["1"]
    owner(database_url, "update documents set extra = '{}'")
    assert await waiting(services.database) == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ('author = "metadata.api_key"', "the column 'metadata.api_key' is hidden, and would be shown"),
        ('author = "metadata.autor"', "have a single value at 'metadata.autor'; did you mean 'metadata.author'?"),
    ],
)
def test_a_path_that_cannot_be_meant_is_told(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: str,
    told: str,
) -> None:
    owner(database_url, DOCUMENTS)
    head = '[collections.documents]\nsource = "documents"\ntext = ["content"]\nhidden = ["metadata.api_key"]\n'
    (tmp_path / "quarry.toml").write_text(head + given)
    monkeypatch.setenv("DATABASE_URL", database_url)
    problems = ""
    try:
        declare(tmp_path / "quarry.toml", only_plan=True, embed=False)
    except DeclarationError as error:
        problems = str(error)
    assert told in problems + capsys.readouterr().err


OWNED = """
create table notes (id int primary key, content text, metadata jsonb);
insert into notes values (1, 'The heron nests', '{"tenant": "ann", "kind": "bird"}'),
  (2, 'The heron fishes', '{"tenant": "bob", "kind": "fisher"}'), (3, 'A heron of nobody', '{"kind": "stray"}');
"""
OWNED_BY_KEY = """
[collections.notes]
source = "notes"
text = ["content"]
embed = []
scope = "metadata.tenant"
scope_setting = "app.tenant"

[collections.notes.facets]
kind = { kind = "value", column = "metadata.kind" }
"""


def test_a_key_that_says_whose_a_row_is_keeps_it_from_others(database_url: str, tmp_path: Path) -> None:
    owner(database_url, OWNED)
    fill(database_url, OWNED_BY_KEY, tmp_path)
    with client_of(database_url) as client:
        for user, id, kind in (("ann", "1", "bird"), ("bob", "2", "fisher")):
            client.headers["Authorization"] = f"Bearer {user}"
            hits = client.get("/records/search", params={"q": "heron", "type": "notes"}).json()["results"]
            assert [hit["id"] for hit in hits] == [id]
            body = client.get("/records/facets", params={"type": "notes", "by": "kind"}).json()
            assert body["groups"] == [{"value": kind, "count": 1}]
            grouped = client.post("/query", json={"source": "notes", "group": [{"field": "metadata.kind"}]}).json()
            assert [row[0] for row in grouped["rows"]] == [kind]
            assert client.get("/records/notes/3").status_code == 404
