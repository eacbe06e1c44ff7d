"""Several embedders at once, writers between them, and those that die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import psycopg
import pytest

from quarry.postgres import embed, embedding_claims
from quarry.postgres.embed import Embedded, embed_pending, forget_vectors
from quarry.postgres.embedding_backlog import count_pending, pending
from quarry.postgres.embedding_claims import Claim
from quarry.postgres.pool import Database
from tests.platform.embedding import MATTERS, Model, add_matters, stored
from tests.waiting import PATIENCE_SECONDS, wait_until

LAPSE = "update embedding_claims set claimed_until = now()"
CLAIMED = "select record_id from embedding_claims order by 1"
WAITING = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


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


async def test_a_row_is_claimed_once_whoever_asks_at_once(database: Database) -> None:
    await add_matters(database, *(f"matter {number}" for number in range(8)))

    async def take() -> list[str]:
        async with database.transaction() as connection:
            return await Claim(database, "matters").take(connection, pending(), excluded=[], limit=4) or []

    claimed = [id for ids in await asyncio.gather(*(take() for _ in range(4))) for id in ids]
    assert len(claimed) == len({*claimed})
    assert len(claimed) >= 4


async def test_a_text_that_changes_while_it_is_embedded_is_not_stored(database: Database, model: Model) -> None:
    await add_matters(database, "before")
    changing = Interrupted(lambda: database.execute("update matters set title = 'after'"))
    done = await embed_pending(database, changing, MATTERS, keep_going=lambda: not changing.calls)
    assert (done.rows, done.failed, await stored(database)) == (0, [], {})
    assert await count_pending(database, MATTERS) == 1
    assert (await embed_pending(database, model, MATTERS)).rows == 1
    assert set(model.embedded) == {"after"}


async def test_a_text_that_changes_while_it_is_embedded_is_embedded_again_at_once(database: Database) -> None:
    await add_matters(database, "before", "same")
    changing = Interrupted(lambda: database.execute("update matters set title = 'after' where id = 'm00'"))
    assert (await embed_pending(database, changing, MATTERS)).rows == 2
    assert changing.embedded == {"before": 1, "same": 1, "after": 1}
    assert await count_pending(database, MATTERS) == 0


async def test_a_change_of_something_else_meanwhile_loses_no_vector(database: Database) -> None:
    await add_matters(database, "matter")
    changing = Interrupted(lambda: database.execute("update matters set status = 'closed'"))
    assert (await embed_pending(database, changing, MATTERS)).rows == 1
    assert changing.embedded == {"matter": 1}


async def test_a_row_that_is_deleted_while_it_is_embedded_leaves_nothing(database: Database) -> None:
    await add_matters(database, "matter")
    deleting = Interrupted(lambda: database.execute("delete from matters"))
    assert (await embed_pending(database, deleting, MATTERS)).rows == 0
    assert await stored(database) == {}
    assert await database.rows(CLAIMED) == []


async def test_while_the_model_works_no_connection_is_held(shared_url: str) -> None:
    database = Database(shared_url, pool_size=1, timeout_seconds=60)
    await add_matters(database, "matter")
    working = Interrupted(lambda: database.rows("select from matters for update"))
    assert (await embed_pending(database, working, MATTERS)).rows == 1
    await database.execute("truncate matters cascade")
    await database.close()


async def test_a_row_that_somebody_writes_is_left_for_later(database: Database, model: Model) -> None:
    await add_matters(database, "being written", "matter 1", "matter 2")
    async with database.transaction() as connection:
        await connection.execute("update matters set title = 'written' where id = 'm00'")
        assert (await embed_pending(database, model, MATTERS)).rows == 2
    assert (await embed_pending(database, model, MATTERS)).rows == 1
    assert "being written" not in model.embedded
    assert model.embedded["written"] == 1


async def test_a_row_that_somebody_begins_to_write_meanwhile_is_not_waited_for(database: Database) -> None:
    await add_matters(database, "matter 0", "matter 1")
    async with database.transaction() as connection:
        writing = Interrupted(lambda: connection.execute("update matters set title = 'new' where id = 'm00'"))
        assert (await embed_pending(database, writing, MATTERS)).rows == 1
        assert set(await stored(database)) == {"m01"}
    assert await count_pending(database, MATTERS) == 1


async def test_rows_of_a_dead_worker_are_free_after_its_lease(database: Database, model: Model) -> None:
    await add_matters(database, *(f"matter {number}" for number in range(6)))
    await abandoned_claim(database)
    assert (await embed_pending(database, model, MATTERS)).rows == 2
    await database.execute(LAPSE)
    assert (await embed_pending(database, model, MATTERS)).rows == 4
    assert len(await stored(database)) == 6
    assert set(model.embedded.values()) == {1}
    assert await database.rows(CLAIMED) == []


async def test_who_lost_a_claim_stores_nothing(database: Database, model: Model) -> None:
    await add_matters(database, *(f"matter {number}" for number in range(3)))
    others: list[Embedded] = []

    async def overtake() -> None:
        await database.execute(LAPSE)
        others.append(await embed_pending(database, model, MATTERS))

    assert (await embed_pending(database, Interrupted(overtake), MATTERS)).rows == 0
    assert others == [Embedded(3)]
    assert len(await stored(database)) == 3


async def test_a_claim_is_renewed_while_the_model_works(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_claims, "RENEWAL_SECONDS", 0.01)
    await add_matters(database, "matter")

    renewed = "select from embedding_claims where claimed_until > now()"

    async def until_renewed() -> None:
        await database.execute(LAPSE)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await database.rows(renewed):
                pass

    assert (await embed_pending(database, Interrupted(until_renewed), MATTERS)).rows == 1


@pytest.mark.parametrize("end", ["cancelled", "failed"])
async def test_who_ends_gives_its_claim_up(database: Database, model: Model, end: str) -> None:
    await add_matters(database, "matter")
    working = asyncio.Event()

    async def work() -> None:
        working.set()
        if end == "failed":
            raise RuntimeError
        await asyncio.Event().wait()

    embedding = asyncio.create_task(embed_pending(database, Interrupted(work), MATTERS))
    await working.wait()
    if end == "cancelled":
        embedding.cancel()
    with pytest.raises((asyncio.CancelledError, RuntimeError)):
        await embedding
    assert await database.rows(CLAIMED) == []
    assert (await embed_pending(database, model, MATTERS)).rows == 1


async def test_what_is_embedded_while_all_vectors_are_dropped_is_not_stored(database: Database, model: Model) -> None:
    await add_matters(database, "matter")
    forgetting = Interrupted(lambda: forget_vectors(database, [MATTERS], model))
    done = await embed_pending(database, forgetting, MATTERS, keep_going=lambda: not forgetting.calls)
    assert (done.rows, await stored(database)) == (0, {})


async def test_a_row_that_is_written_to_another_page_while_vectors_are_dropped_waits_again(
    database: Database, shared_url: str, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "PAGES_AT_ONCE", 1)
    await add_matters(database, *(f"{number} {'word ' * 60}" for number in range(100)))
    await database.execute("update matters set embedded_hash = content_hash")
    with psycopg.connect(shared_url, autocommit=True) as watcher, psycopg.connect(shared_url) as writer:
        watcher.execute("vacuum matters")  # the pages that all rows stood on before are free
        moved = writer.execute("update matters set url = repeat('-', 900) where id = 'm70' returning ctid::text")
        assert moved.fetchone() == ("(0,1)",)
        forgetting = asyncio.create_task(forget_vectors(database, [MATTERS], model))
        await asyncio.to_thread(wait_until, lambda: watcher.execute(WAITING).fetchone())
    await forgetting
    assert await count_pending(database, MATTERS) == 100
