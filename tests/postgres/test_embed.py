from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local.data import sample_directory
from quarry.platform.errors import ConfigurationError
from quarry.platform.tables import EmbeddedTable
from quarry.postgres import embed
from quarry.postgres.embed import count_pending, embed_pending, remember_model
from quarry.postgres.load import load_file
from quarry.postgres.pool import Database
from tests.conftest import create_database
from tests.fakes.openai_server import embedding
from tests.postgres.embedding import MATTERS, Model, add_matters


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
async def database(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """The module's own database, emptied after each test, and batches of four rows."""
    monkeypatch.setattr(embed, "BATCH_ROWS", 4)
    database = Database(shared_url, pool_size=4, timeout_seconds=5)
    yield database
    await database.execute("truncate matters, embedding_model, embedding_claims, embedding_progress cascade")
    await database.close()


async def test_a_row_has_one_vector_for_each_window_of_its_text(database: Database, model: Model) -> None:
    await database.execute(
        "insert into matters (id, title, summary)"
        " values ('a', 'Harbour bridge', 'one two three four five six'), ('b', 'Short', null)"
    )
    done = await embed_pending(database, model, MATTERS)
    assert (done.rows, done.failed) == (2, [])
    # the title stands before each window
    assert set(model.embedded) == {"Harbour bridge\none two three four five", "Harbour bridge\nsix", "Short"}
    nearest = await database.row(
        "select record_id, window_number, embedding <=> %s::halfvec as distance from matter_embeddings order by 3 limit 1",
        [str(embedding("Harbour bridge\nsix", 384))],
    )
    assert nearest is not None
    assert (nearest["record_id"], nearest["window_number"]) == ("a", 1)
    assert nearest["distance"] < 0.001


@pytest.fixture(scope="module")
def rows_url(server_url: str, migrated_template: str) -> str:
    """A database with the sample rows of every domain, all taken for embedded."""
    url = create_database(server_url, "core_embed_rows", template=migrated_template)
    for table in catalog.LOADABLE.values():
        for path in sample_directory().glob(f"*/{table.name}.jsonl"):
            load_file(url, table, path)
    return url


@pytest.mark.parametrize("table", catalog.EMBEDDED.values(), ids=lambda table: table.name)
async def test_changing_any_embedded_text_makes_the_row_stale(rows_url: str, table: EmbeddedTable) -> None:
    database = Database(rows_url, pool_size=1, timeout_seconds=5)
    name = Identifier(table.name)
    for column in table.text_columns:
        await database.execute(SQL("update {} set embedded_hash = content_hash").format(name))
        assert await count_pending(database, table) == 0
        # reads as a text and as a list of texts
        changed = SQL("update {t} set {c} = '{{Changed}}' where id = (select min(id) from {t})")
        assert await database.execute(changed.format(t=name, c=Identifier(column))) == 1
        assert await count_pending(database, table) == 1, column
    await database.close()


@pytest.mark.parametrize("poisoned", [{3}, {0, 5, 8}, set(range(9))])
async def test_rows_that_the_model_does_not_take_do_not_stop_the_rest(
    database: Database, model: Model, poisoned: set[int]
) -> None:
    await add_matters(database, *(f"{'poison' if number in poisoned else 'matter'} {number}" for number in range(9)))
    done = await embed_pending(database, model, MATTERS)
    assert done.failed == [f"m{number:02}" for number in sorted(poisoned)]
    assert done.rows == 9 - len(poisoned)
    assert await count_pending(database, MATTERS) == len(poisoned)
    assert set(model.embedded.values()) <= {1}


async def test_a_text_refused_often_enough_is_left_alone_until_it_changes(database: Database, model: Model) -> None:
    await add_matters(database, "poison", "matter")
    for _ in range(2):
        assert await count_pending(database, MATTERS, refusals_max=2)
        assert (await embed_pending(database, model, MATTERS, refusals_max=2)).failed == ["m00"]
    calls = model.calls
    assert await count_pending(database, MATTERS, refusals_max=2) == 0
    assert (await embed_pending(database, model, MATTERS, refusals_max=2)).failed == []
    assert model.calls == calls
    assert await count_pending(database, MATTERS) == 1
    assert (await embed_pending(database, model, MATTERS)).failed == ["m00"]

    await database.execute("update matters set title = 'harmless' where id = 'm00'")
    assert (await embed_pending(database, model, MATTERS, refusals_max=2)).rows == 1


async def test_a_database_remembers_its_model_and_refuses_another(database: Database, model: Model) -> None:
    await remember_model(database, model)
    await remember_model(database, model)
    other = Model(dimensions=512)
    with pytest.raises(ConfigurationError, match=r"five-words \(384 dimensions\).*five-words \(512\)"):
        await remember_model(database, other)
    other.dimensions, other.name = 384, "another"
    with pytest.raises(ConfigurationError, match="another"):
        await remember_model(database, other)


async def test_of_two_models_that_come_at_once_one_is_refused(database: Database) -> None:
    models = [Model(384), Model(512)]
    outcomes = await asyncio.gather(*(remember_model(database, model) for model in models), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome] == [ConfigurationError]
