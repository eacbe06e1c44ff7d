"""Vectors that a table holds are searched by as they are: nothing is embedded, and writes are followed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from quarry.collections.apply import read_collections
from quarry.collections.declaration import DeclarationError
from quarry.collections.upkeep import compare, refresh_rows
from quarry.local.apply import apply_file as declare
from quarry.local.data import all_embedded
from quarry.postgres.pool import Database
from quarry.services.services import Services
from tests.collections.support import apply_file, owner, refreshed, waiting
from tests.collections.test_search import fill
from tests.conftest import client_of

TEXTS = {
    1: "A heavy storm flooded the harbour and sank two boats.",
    2: "The bakery sells rye bread and cinnamon rolls.",
    3: "Her violin concerto was played in the old church.",
}
DOCUMENTS = (
    "create table documents (id bigint primary key, content text not null, metadata jsonb, embedding vector(384))"
)
DECLARED = """
[collections.documents]
source = "documents"
text = ["content"]
vectors = "embedding"
"""


def stored(vector: Sequence[float]) -> str:
    return "[" + ",".join(map(str, vector)) + "]"


async def fill_documents(url: str, services: Services, swapped: bool = False) -> None:
    """Store the texts with vectors of the service's own model; `swapped`, so that these are those of other texts."""
    vectors = await services.embeddings.embed([*TEXTS.values()])
    if swapped:
        vectors = [vectors[1], vectors[2], vectors[0]]
    values = ", ".join(
        f"({id}, '{text}', '{stored(vector)}')" for (id, text), vector in zip(TEXTS.items(), vectors, strict=True)
    )
    owner(url, DOCUMENTS, f"insert into documents (id, content, embedding) values {values}")


async def windows(database: Database) -> list[str]:
    rows = await database.rows("select record_id from collection_windows order by record_id")
    return [row["record_id"] for row in rows]


async def test_rows_are_found_by_the_vectors_of_their_table_and_doubtful_ones_are_noticed(
    database_url: str, services: Services, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await fill_documents(database_url, services, swapped=True)
    fill(database_url, DECLARED, tmp_path)
    assert "differ from those that all-MiniLM-L6-v2 makes" in capsys.readouterr().err
    assert "rows_" not in str([table.name for table in await all_embedded(services.database)])
    with client_of(database_url) as client:
        # the vector of the storm stands at the violin, whose words say nothing of it
        found = client.get("/records/search", params={"q": "a tempest at the port", "type": "documents"}).json()
    assert found["degraded"] == []
    assert found["results"][0]["id"] == "3"


async def indexes(database: Database) -> list[str]:
    """How the indexes of vectors that searches walk are made."""
    rows = await database.rows(
        "select pg_get_indexdef(i.inhrelid) as made from pg_inherits i where i.inhparent = 'collection_windows_hnsw'::regclass"
    )
    return [row["made"] for row in rows]


async def test_vectors_are_indexed_once_all_are_copied(database_url: str, services: Services) -> None:
    await fill_documents(database_url, services)
    apply_file(database_url, DECLARED)
    collection = (await read_collections(services.database))["documents"]
    assert await refresh_rows(services.database, collection) == 0  # the comparison is due first
    await compare(services.database, collection)
    assert await refresh_rows(services.database, collection) == len(TEXTS)
    assert await indexes(services.database) == []
    for _ in range(2):  # a second time changes nothing
        await compare(services.database, collection)
        assert await refreshed(services.database) == {}
        owner(database_url, "update documents set content = content || '.'")
        assert await refreshed(services.database) == {"documents": None}
        [made] = await indexes(services.database)
        assert "USING hnsw" in made
    assert await windows(services.database) == ["1", "2", "3"]
    apply_file(database_url, "")
    assert await indexes(services.database) == []


async def test_vectors_are_followed_as_they_are_written(database_url: str, services: Services) -> None:
    await fill_documents(database_url, services)
    apply_file(database_url, DECLARED)
    await refreshed(services.database)
    assert await windows(services.database) == ["1", "2", "3"]
    [storm] = await services.embeddings.embed(["storm"])
    owner(
        database_url,
        "update documents set embedding = null where id = 1",
        f"update documents set embedding = '{stored(storm)}' where id = 2",
        "delete from documents where id = 3",
        f"insert into documents values (4, 'x', null, '{stored(storm)}')",
    )
    assert await refreshed(services.database) == {"documents": None}
    rows = await services.database.rows(
        "select record_id, embedding <=> %s::vector::halfvec < 0.001 as is_new from collection_windows order by 1",
        [stored(storm)],
    )
    assert [(row["record_id"], row["is_new"]) for row in rows] == [("2", True), ("4", True)]
    owner(database_url, "update documents set metadata = '{}', embedding = embedding")
    assert await waiting(services.database) == 0


@pytest.mark.parametrize(
    ("column", "declared", "told"),
    [
        ("vector(3)", 'vectors = "embedding"', "vectors of 3 dimensions, but all-MiniLM-L6-v2"),
        ("vector(384)", 'vectors = { column = "embedding", model = "e5" }', "set OPENAI_EMBEDDING_MODEL to e5"),
    ],
)
def test_vectors_that_questions_cannot_be_compared_with_are_refused(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, declared: str, told: str
) -> None:
    owner(database_url, f"create table documents (id int primary key, content text, embedding {column})")
    (tmp_path / "quarry.toml").write_text(DECLARED.replace('vectors = "embedding"', declared))
    monkeypatch.setenv("DATABASE_URL", database_url)
    with pytest.raises(DeclarationError) as refused:
        declare(tmp_path / "quarry.toml", only_plan=True, embed=False)
    assert told in str(refused.value)
