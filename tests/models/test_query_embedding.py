from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from quarry.models.query_embedding import QueryEmbedder
from quarry.platform.errors import ModelUnavailable
from quarry.postgres.embed import remember_model
from quarry.postgres.pool import Database
from tests.fakes.openai_server import embedding


class Model:
    """An embedding model that notes what it embeds."""

    name = "noting"

    def __init__(self, dimensions: int = 8) -> None:
        self.dimensions = dimensions
        self.embedded: list[str] = []
        self.calls = 0
        self.down = False

    def windows(self, text: str) -> list[str]:
        return [text]

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        self.embedded += texts
        if self.down:
            raise ModelUnavailable("Down.")
        return [embedding(text, self.dimensions) for text in texts]

    async def close(self) -> None:
        pass


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
async def empty(shared_url: str) -> AsyncIterator[Database]:
    """A database that no model has filled: the module's own, emptied after each test."""
    database = Database(shared_url, pool_size=1, timeout_seconds=60)
    yield database
    await database.execute("truncate embedding_model")
    await database.close()


@pytest.fixture
async def filled(empty: Database, model: Model) -> Database:
    """A database that was embedded with `model`."""
    await remember_model(empty, model)
    return empty


@pytest.mark.parametrize(("name", "dimensions"), [("noting", 16), ("another", 8)])
async def test_a_database_filled_by_another_model_is_not_searched(filled: Database, name: str, dimensions: int) -> None:
    other = Model(dimensions)
    other.name = name
    queries = QueryEmbedder(other, filled)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r"embedded with noting \(8 dimensions\).*quarry embed"):
            await queries.embed("parks")
    assert other.embedded == []
