"""Keeping vectors in step with the texts they were made from.

A row is pending while the hash of its text differs from the hash that its vectors were made from; a partial index holds just
those rows, so finding work costs nothing. Rows are claimed with `for update skip locked`: two workers never embed one row twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.core.errors import ConfigurationError, ModelError
from quarry.core.model.interface import EmbeddingModel
from quarry.core.postgres.call import vector_literal
from quarry.core.postgres.pool import Connection, Database

BATCH_ROWS = 32

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddedTable:
    """A table whose rows have vectors: those made of `text_columns`, in the order of importance, kept in `embeddings`."""

    name: str
    embeddings: str
    text_columns: tuple[str, ...]


@dataclass
class Embedded:
    """What a run did: rows embedded, and ids of rows that the model would not take."""

    rows: int = 0
    failed: list[str] | None = None


async def remember_model(database: Database, model: EmbeddingModel) -> None:
    """Record which model fills this database. Raises ConfigurationError when another one already did."""
    await database.execute(
        "insert into embedding_model (name, dimensions) values (%s, %s) on conflict do nothing",
        [model.name, model.dimensions],
    )
    row = await database.row("select name, dimensions from embedding_model")
    if row and (row["name"], row["dimensions"]) != (model.name, model.dimensions):
        raise ConfigurationError(mismatch_message(row, model))


def mismatch_message(recorded: DictRow, model: EmbeddingModel) -> str:
    return (
        f"This database was embedded with {recorded['name']} ({recorded['dimensions']} dimensions), the settings say "
        f"{model.name} ({model.dimensions}): set them back, or run `quarry embed --all` to embed everything anew."
    )


async def count_pending(database: Database, table: EmbeddedTable, *, stale: bool = True) -> int:
    """How many rows wait to be embedded: those without vectors, and with `stale` those whose text has changed since."""
    row = await database.row(
        SQL("select count(*) as pending from {} where {}").format(Identifier(table.name), _pending(stale))
    )
    return int(row["pending"]) if row else 0


async def embed_pending(
    database: Database,
    model: EmbeddingModel,
    table: EmbeddedTable,
    *,
    stale: bool = True,
    keep_going: Callable[[], bool] = lambda: True,
    on_progress: Callable[[int], None] = lambda rows: None,
) -> Embedded:
    """Embed the pending rows of one table, batch by batch, while `keep_going` says so.

    A batch is committed whole. Where the model fails on a batch, its rows are tried one by one, and a row that fails alone is
    left pending and reported. Raises ModelUnavailable when the model takes not one of a batch of several rows.
    """
    done = Embedded(failed=[])
    failed: list[str] = []
    while keep_going():
        async with database.transaction() as connection:
            rows = await _claim(connection, table, stale, failed)
            if not rows:
                break
            embedded, refused = await _embed_rows(model, table, rows)
            await _store(connection, table, embedded)
        failed += refused
        done.rows += len(embedded)
        on_progress(len(rows))
    done.failed = failed
    return done


async def forget_vectors(database: Database, tables: Sequence[EmbeddedTable], model: EmbeddingModel) -> None:
    """Drop all vectors and make room for those of `model`, whatever its dimensions."""
    async with database.transaction() as connection:
        # rewriting a large table takes longer than a search may
        await connection.execute("set local statement_timeout = 0")
        for table in tables:
            await connection.execute(SQL("truncate {}").format(Identifier(table.embeddings)))
            await connection.execute(
                SQL("alter table {} alter column embedding type halfvec({})").format(
                    Identifier(table.embeddings), Literal(model.dimensions)
                )
            )
            await connection.execute(
                SQL("update {} set embedded_hash = null where embedded_hash is not null").format(Identifier(table.name))
            )
        await connection.execute("delete from embedding_model")


def _pending(stale: bool) -> Composable:
    # the first condition is the partial index's own
    changed = SQL("embedded_hash is distinct from content_hash")
    return changed if stale else SQL("{} and embedded_hash is null").format(changed)


async def _claim(connection: Connection, table: EmbeddedTable, stale: bool, failed: list[str]) -> list[DictRow]:
    cursor = await connection.execute(
        SQL(
            "select id, content_hash, {} from {} where {} and not id = any(%s) order by id limit {} for update skip locked"
        ).format(
            SQL(", ").join(Identifier(column) for column in table.text_columns),
            Identifier(table.name),
            _pending(stale),
            Literal(BATCH_ROWS),
        ),
        [failed],
    )
    return await cursor.fetchall()


@dataclass(frozen=True)
class _EmbeddedRow:
    id: str
    content_hash: str
    vectors: list[list[float]]


async def _embed_rows(
    model: EmbeddingModel, table: EmbeddedTable, rows: list[DictRow]
) -> tuple[list[_EmbeddedRow], list[str]]:
    try:
        return await _embed_together(model, table, rows), []
    except ModelError:
        if len(rows) == 1:
            return [], [rows[0]["id"]]
    embedded: list[_EmbeddedRow] = []
    refused: list[str] = []
    for row in rows:
        try:
            embedded += await _embed_together(model, table, [row])
        except ModelError as error:
            logger.warning("%s %s could not be embedded: %s", table.name, row["id"], error.message)
            refused.append(row["id"])
            if not embedded and len(refused) == len(rows):
                raise
    return embedded, refused


async def _embed_together(model: EmbeddingModel, table: EmbeddedTable, rows: list[DictRow]) -> list[_EmbeddedRow]:
    windows = [model.windows("\n".join(row[column] for column in table.text_columns if row[column])) for row in rows]
    vectors = iter(await model.embed([window for of_row in windows for window in of_row]))
    return [
        _EmbeddedRow(row["id"], row["content_hash"], [next(vectors) for _ in of_row])
        for row, of_row in zip(rows, windows, strict=True)
    ]


async def _store(connection: Connection, table: EmbeddedTable, rows: list[_EmbeddedRow]) -> None:
    await connection.execute(
        SQL("delete from {} where record_id = any(%s)").format(Identifier(table.embeddings)), [[row.id for row in rows]]
    )
    flat = [(row.id, number, vector_literal(vector)) for row in rows for number, vector in enumerate(row.vectors)]
    await connection.execute(
        SQL(
            "insert into {} (record_id, window_number, embedding)"
            " select r, w, e::halfvec from unnest(%s::text[], %s::int[], %s::text[]) v (r, w, e)"
        ).format(Identifier(table.embeddings)),
        [[item[0] for item in flat], [item[1] for item in flat], [item[2] for item in flat]],
    )
    await connection.execute(
        SQL(
            "update {} t set embedded_hash = v.hash from unnest(%s::text[], %s::text[]) v (id, hash) where t.id = v.id"
        ).format(Identifier(table.name)),
        [[row.id for row in rows], [row.content_hash for row in rows]],
    )
