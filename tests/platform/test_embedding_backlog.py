"""How much waits to be embedded, and since when."""

from __future__ import annotations

import datetime

import pytest

from quarry.postgres.embed import embed_pending, embed_tables
from quarry.postgres.embedding_backlog import Backlog, note_progress, read_backlog
from quarry.postgres.pool import Database
from quarry.services.services import Services
from tests.platform.embedding import MATTERS, Model, add_matters


@pytest.fixture
def database(services: Services) -> Database:
    return services.database


async def now(database: Database) -> datetime.datetime:
    row = await database.row("select now() as now")
    assert row is not None
    moment: datetime.datetime = row["now"]
    return moment


async def since(database: Database) -> datetime.datetime:
    moment = (await read_backlog(database, [MATTERS]))["matters"].since
    assert moment is not None
    return moment


async def test_nothing_waits_where_all_is_embedded(database: Database) -> None:
    assert await read_backlog(database, [MATTERS]) == {}
    await add_matters(database, "one", "two")
    await embed_pending(database, Model(), MATTERS)
    assert await read_backlog(database, [MATTERS]) == {}


async def test_rows_wait_since_nobody_knows_when_until_somebody_looks(database: Database) -> None:
    await add_matters(database, "one", "two")
    assert await read_backlog(database, [MATTERS]) == {"matters": Backlog(2, None)}
    before = await now(database)
    await note_progress(database, MATTERS)
    first = await since(database)
    assert before < first < await now(database)
    await note_progress(database, MATTERS)
    assert await since(database) == first


async def test_rows_wait_no_longer_than_since_none_did(database: Database) -> None:
    await add_matters(database, "one")
    before = await now(database)
    await embed_pending(database, Model(), MATTERS)
    await database.execute("update matters set title = 'changed'")
    first = await since(database)
    assert before < first
    await database.execute("insert into matters (id, title) values ('later', 'later')")
    assert await since(database) == first
    assert (await read_backlog(database, [MATTERS]))["matters"].rows == 2


async def test_an_empty_backlog_is_noted_though_there_was_nothing_to_do(database: Database) -> None:
    model = Model()
    for _ in range(2):
        before = await now(database)
        assert await embed_tables(database, model, [MATTERS], refusals_max=1, keep_going=lambda: True) == {}
        noted = await database.row("select completed_at from embedding_progress")
        assert noted is not None
        assert noted["completed_at"] > before
    assert model.calls == 0


async def test_what_is_left_alone_does_not_wait(database: Database) -> None:
    await add_matters(database, "poison")
    await embed_tables(database, Model(), [MATTERS], refusals_max=1, keep_going=lambda: True)
    assert await read_backlog(database, [MATTERS], refusals_max=1) == {}
    assert (await read_backlog(database, [MATTERS]))["matters"].rows == 1
