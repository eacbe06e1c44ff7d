"""How much waits to be embedded, and since when."""

from __future__ import annotations

import datetime

import pytest

from quarry.postgres.embedding_queue import Backlog, note_progress, read_backlog
from quarry.postgres.pool import Database
from quarry.services.services import Services
from tests.platform.embedding import MATTERS, add_matters


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


async def test_rows_wait_since_nobody_knows_when_until_somebody_looks(database: Database) -> None:
    await add_matters(database, "one", "two")
    assert await read_backlog(database, [MATTERS]) == {"matters": Backlog(2, None)}
    before = await now(database)
    await note_progress(database, MATTERS)
    first = await since(database)
    assert before < first < await now(database)
    await note_progress(database, MATTERS)
    assert await since(database) == first
