"""Several embedders at once, writers between them, and those that die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import pytest

from quarry.postgres import embed
from quarry.postgres.embed import Claim, count_pending, embed_pending, pending
from quarry.postgres.pool import Database
from tests.postgres.embedding import MATTERS, Model, add_matters, stored

LAPSE = "update embedding_claims set claimed_until = now()"
CLAIMED = "select record_id from embedding_claims order by 1"


class Interrupted(Model):
    """Something happens once while this model works."""

    def __init__(self, happens: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self._happens: Callable[[], Awaitable[object]] | None = happens

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        happens, self._happens = self._happens, None
        if happens:
            await happens()
        return await super().embed(texts)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
async def database(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """The module's own database, emptied after each test, and batches of four rows."""
    monkeypatch.setattr(embed, "BATCH_ROWS", 4)
    database = Database(shared_url, pool_size=4, timeout_seconds=60)
    yield database
    await database.execute("truncate matters, embedding_claims, embedding_progress cascade")
    await database.close()


async def abandoned_claim(database: Database) -> Claim:
    """The claim of a worker that dies while its model works."""
    claim = Claim(database, "matters")
    async with database.transaction() as connection:
        await claim.take(connection, pending(), excluded=[], limit=4)
    return claim


async def test_two_workers_at_once_embed_each_row_once(database: Database, model: Model) -> None:
    await add_matters(database, *(f"matter {number}" for number in range(60)))
    workers = await asyncio.gather(*(embed_pending(database, model, MATTERS) for _ in range(3)))
    assert sum(worker.rows for worker in workers) == 60
    assert len([worker for worker in workers if worker.rows]) > 1
    assert len(model.embedded) == 60
    assert set(model.embedded.values()) == {1}
    assert len(await stored(database)) == 60


async def test_a_text_that_changes_while_it_is_embedded_is_not_stored(database: Database, model: Model) -> None:
    await add_matters(database, "before")
    changing = Interrupted(lambda: database.execute("update matters set title = 'after'"))
    done = await embed_pending(database, changing, MATTERS, keep_going=lambda: not changing.calls)
    assert (done.rows, done.failed, await stored(database)) == (0, [], {})
    assert await count_pending(database, MATTERS) == 1
    assert (await embed_pending(database, model, MATTERS)).rows == 1
    assert set(model.embedded) == {"after"}


async def test_rows_of_a_dead_worker_are_free_after_its_lease(database: Database, model: Model) -> None:
    await add_matters(database, *(f"matter {number}" for number in range(6)))
    await abandoned_claim(database)
    assert (await embed_pending(database, model, MATTERS)).rows == 2
    await database.execute(LAPSE)
    assert (await embed_pending(database, model, MATTERS)).rows == 4
    assert len(await stored(database)) == 6
    assert set(model.embedded.values()) == {1}
    assert await database.rows(CLAIMED) == []
