"""Keeping vectors in step with the texts they were made from.

A row is pending while the hash of its text differs from the hash that its vectors were made from; a partial index holds just
those rows, so finding work costs nothing. Rows are claimed with `for update skip locked`: two workers never embed one row twice.

A text that the model does not take, though it takes another at the same moment, is refused: it stays pending, comes after all
others from then on, and does not keep them waiting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.core.errors import ConfigurationError, ModelError
from quarry.core.model.interface import EmbeddingModel
from quarry.core.postgres.call import vector_literal
from quarry.core.postgres.pool import Connection, Database

BATCH_ROWS = 32
TITLE_WORDS_MAX = 24
"""So many words of a title stand before a window: a window must still be read whole."""

HARMLESS_TEXT = "Is anybody there?"
"""What any model takes that works at all."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddedTable:
    """A table whose rows have vectors: those made of `text_columns`, in the order of importance, kept in `embeddings`.

    What `titles`, the first of these columns, say stands before each window of a long text.

    A table with `embedding_types` has vectors of several kinds for a row, each made of its own columns and kept under its
    name in the column `embedding_type`; a kind whose columns are empty has none.
    """

    name: str
    embeddings: str
    text_columns: tuple[str, ...]
    embedding_types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    titles: tuple[str, ...] = ()

    def texts(self, row: Mapping[str, Any]) -> dict[str, str]:
        """The texts of a row that are embedded, by embedding type; the only one is under "" where there are no types."""
        if not self.embedding_types:
            return {"": _joined(row, self.text_columns)}
        texts = {name: _joined(row, columns) for name, columns in self.embedding_types.items()}
        return {name: text for name, text in texts.items() if text}


    def windows(self, row: Mapping[str, Any], split: Callable[[str], list[str]]) -> list[tuple[str, int, str]]:
        """What of a row is embedded: embedding type, number and text of each window that `split` makes."""
        body = _joined(row, self.text_columns[len(self.titles) :])
        if self.titles and body:
            title = " ".join(_joined(row, self.titles).split()[:TITLE_WORDS_MAX])
            return [("", number, f"{title}\n{window}".strip()) for number, window in enumerate(split(body))]
        return [
            (type_, number, window)
            for type_, text in self.texts(row).items()
            for number, window in enumerate(split(text))
        ]


@dataclass
class Embedded:
    """What a run did: rows embedded, and ids of rows that the model would not take."""

    rows: int = 0
    failed: list[str] = field(default_factory=list)


def _joined(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    values = (row[column] for column in columns)
    return "\n".join(", ".join(value) if isinstance(value, list) else value for value in values if value)


async def probe(model: EmbeddingModel) -> None:
    """See that the model works. Raises ModelUnavailable."""
    await model.embed([HARMLESS_TEXT])


async def make_ready(database: Database, model: EmbeddingModel) -> None:
    """See that the model works, then have the database remember it. In this order: without vectors nothing is remembered.

    Raises ModelUnavailable, ConfigurationError.
    """
    await probe(model)
    await remember_model(database, model)


async def remember_model(database: Database, model: EmbeddingModel) -> None:
    """Record which model fills this database. Raises ConfigurationError when another one already did."""
    await database.execute(
        "insert into embedding_model (name, dimensions) values (%s, %s) on conflict do nothing",
        [model.name, model.dimensions],
    )
    await remembers_model(database, model)


async def remembers_model(database: Database, model: EmbeddingModel) -> bool:
    """Whether a model was recorded; raises ConfigurationError when it is not `model`."""
    recorded = await recorded_model(database)
    if problem := mismatch(recorded, model):
        raise ConfigurationError(problem)
    return recorded is not None


async def recorded_model(database: Database) -> DictRow | None:
    """Name and dimensions of the model that filled this database; None before the first vector."""
    return await database.row("select name, dimensions from embedding_model")


def mismatch(recorded: DictRow | None, model: EmbeddingModel) -> str | None:
    """What is wrong, and what to do, when another model than `model` was recorded; else None."""
    if recorded is None or (recorded["name"], recorded["dimensions"]) == (model.name, model.dimensions):
        return None
    return (
        f"This database was embedded with {recorded['name']} ({recorded['dimensions']} dimensions), the settings say "
        f"{model.name} ({model.dimensions}): set them back, or run `quarry embed --all` to embed everything anew."
    )


async def count_pending(
    database: Database, table: EmbeddedTable, *, stale: bool = True, refusals_max: int | None = None
) -> int:
    """How many rows wait to be embedded: those without vectors, and with `stale` those whose text has changed since.

    With `refusals_max`, those whose text was refused as often do not count.
    """
    row = await database.row(
        SQL("select count(*) as pending from {} where {} and ({} or {})").format(
            Identifier(table.name), _pending(stale), _never_refused(), _may_be_tried_again(refusals_max)
        )
    )
    return int(row["pending"]) if row else 0


async def embed_tables(
    database: Database,
    model: EmbeddingModel,
    tables: Iterable[EmbeddedTable],
    *,
    refusals_max: int,
    keep_going: Callable[[], bool],
) -> dict[str, Embedded]:
    """Embed what is pending in all `tables` while `keep_going` says so; texts refused `refusals_max` times are left alone.

    The model is not called where nothing is pending. Raises as `embed_pending` does, and ConfigurationError when the
    database was embedded with another model.
    """
    waiting = [table for table in tables if await count_pending(database, table, refusals_max=refusals_max)]
    if waiting:
        await make_ready(database, model)
    return {
        table.name: await embed_pending(database, model, table, refusals_max=refusals_max, keep_going=keep_going)
        for table in waiting
    }


async def embed_pending(
    database: Database,
    model: EmbeddingModel,
    table: EmbeddedTable,
    *,
    stale: bool = True,
    refusals_max: int | None = None,
    keep_going: Callable[[], bool] = lambda: True,
    on_progress: Callable[[int], None] = lambda rows: None,
) -> Embedded:
    """Embed the pending rows of one table, batch by batch, while `keep_going` says so.

    Where the model fails on several rows, they are tried in halves, down to the row that it does not take; that one is left
    pending and reported. Rows refused in earlier runs come last. Raises ModelUnavailable when the model takes nothing at all;
    the batches before are kept.
    """
    done = Embedded()
    for still_pending in (_never_refused(), _may_be_tried_again(refusals_max)):
        while keep_going():
            async with database.transaction() as connection:
                # it is the row locks that keep other workers off these rows while the model takes its time
                await connection.execute("set local idle_in_transaction_session_timeout = '15min'")
                wanted = SQL("{} and {}").format(_pending(stale), still_pending)
                rows = await _claim(connection, table, wanted, done.failed)
                if not rows:
                    break
                embedded, refused = await _embed_rows(model, table, rows, keep_going)
                await _store(connection, table, embedded)
                await _note_refusals(connection, table, refused)
            done.rows += len(embedded)
            done.failed += [row["id"] for row in refused]
            on_progress(len(embedded) + len(refused))
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
                SQL(
                    "update {} set embedded_hash = null, refused_hash = null, refusals = 0"
                    " where embedded_hash is not null or refused_hash is not null"
                ).format(Identifier(table.name))
            )
        await connection.execute("delete from embedding_model")


def _pending(stale: bool) -> Composable:
    # the first condition is the partial index's own
    changed = SQL("embedded_hash is distinct from content_hash")
    return changed if stale else SQL("{} and embedded_hash is null").format(changed)


def _never_refused() -> Composable:
    return SQL("refused_hash is distinct from content_hash")


def _may_be_tried_again(refusals_max: int | None) -> Composable:
    refused = SQL("refused_hash = content_hash")
    return refused if refusals_max is None else SQL("{} and refusals < {}").format(refused, Literal(refusals_max))


async def _claim(
    connection: Connection, table: EmbeddedTable, wanted: Composable, failed: Sequence[str]
) -> list[DictRow]:
    cursor = await connection.execute(
        SQL(
            "select id, content_hash, {} from {} where {} and not id = any(%s) order by id limit {} for update skip locked"
        ).format(
            SQL(", ").join(Identifier(column) for column in table.text_columns),
            Identifier(table.name),
            wanted,
            Literal(BATCH_ROWS),
        ),
        [list(failed)],
    )
    return await cursor.fetchall()


@dataclass(frozen=True)
class _EmbeddedRow:
    id: str
    content_hash: str
    vectors: list[tuple[str, int, list[float]]]
    """Embedding type, number of the window within its text, vector."""


async def _embed_rows(
    model: EmbeddingModel, table: EmbeddedTable, rows: list[DictRow], keep_going: Callable[[], bool]
) -> tuple[list[_EmbeddedRow], list[DictRow]]:
    """The rows that were embedded and those that the model refuses; what there is no time for is in neither."""
    embedded: list[_EmbeddedRow] = []
    refused: list[DictRow] = []
    waiting = [rows]
    while waiting:
        group = waiting.pop()
        try:
            embedded += await _embed_together(model, table, group)
        except ModelError as error:
            # raises where it is the model that fails, and not this text
            await probe(model)
            if len(group) > 1:
                half = len(group) // 2
                waiting += [group[half:], group[:half]]
            else:
                logger.warning("%s %s could not be embedded: %s", table.name, group[0]["id"], error.message)
                refused += group
        if not keep_going():
            break
    return embedded, refused


async def _embed_together(model: EmbeddingModel, table: EmbeddedTable, rows: list[DictRow]) -> list[_EmbeddedRow]:
    windows = [table.windows(row, model.windows) for row in rows]
    vectors = iter(await model.embed([window for of_row in windows for _, _, window in of_row]))
    return [
        _EmbeddedRow(row["id"], row["content_hash"], [(type_, number, next(vectors)) for type_, number, _ in of_row])
        for row, of_row in zip(rows, windows, strict=True)
    ]


async def _store(connection: Connection, table: EmbeddedTable, rows: list[_EmbeddedRow]) -> None:
    await connection.execute(
        SQL("delete from {} where record_id = any(%s)").format(Identifier(table.embeddings)), [[row.id for row in rows]]
    )
    flat = [(row.id, type_, number, vector_literal(vector)) for row in rows for type_, number, vector in row.vectors]
    typed = SQL("embedding_type, ") if table.embedding_types else SQL("")
    await connection.execute(
        SQL(
            "insert into {} (record_id, {}window_number, embedding)"
            " select r, {}w, e::halfvec from unnest(%s::text[], %s::text[], %s::int[], %s::text[]) v (r, embedding_type, w, e)"
        ).format(Identifier(table.embeddings), typed, typed),
        [[item[place] for item in flat] for place in range(4)],
    )
    await connection.execute(
        SQL(
            "update {} t set embedded_hash = v.hash from unnest(%s::text[], %s::text[]) v (id, hash) where t.id = v.id"
        ).format(Identifier(table.name)),
        [[row.id for row in rows], [row.content_hash for row in rows]],
    )


async def _note_refusals(connection: Connection, table: EmbeddedTable, rows: list[DictRow]) -> None:
    await connection.execute(
        SQL(
            "update {} t set refused_hash = v.hash,"
            " refusals = case when refused_hash = v.hash then least(refusals + 1, 100) else 1 end"
            " from unnest(%s::text[], %s::text[]) v (id, hash) where t.id = v.id"
        ).format(Identifier(table.name)),
        [[row["id"] for row in rows], [row["content_hash"] for row in rows]],
    )
