"""Keeping vectors in step with the texts they were made from.

Pending rows are claimed, embedded in a batch without an open transaction, and stored if their text is still the same.

A text counts as refused if the model fails on it but takes another one at the same moment. It stays pending, and is tried again
after all others.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from psycopg import Error as PostgresError
from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.models.interface import EmbeddingModel
from quarry.platform.errors import ConfigurationError, ModelError, QuarryError
from quarry.platform.off_loop import leased
from quarry.platform.tables import COLLECTION_WINDOWS, EmbeddedTable
from quarry.postgres.connections import fault_of_source
from quarry.postgres.pool import Connection, Database, Query, half_vector


class Backlog(NamedTuple):
    """The number of pending rows of a table. `since` is when there were last none, or the first check; None without a check."""

    rows: int
    since: datetime.datetime | None


def pending(*, stale: bool = True) -> Composable:
    """The condition that a row is pending: it has no vectors, or with `stale` those of an older text."""
    # the first condition is the partial index's own
    changed = SQL("embedded_hash is distinct from content_hash")
    return changed if stale else SQL("{} and embedded_hash is null").format(changed)


def never_refused() -> Composable:
    """The condition that the model has not refused a row's text."""
    return SQL("refused_hash is distinct from content_hash")


def may_be_tried_again(refusals_max: int | None) -> Composable:
    """The condition that the model has refused a row's text, but fewer than `refusals_max` times."""
    refused = SQL("refused_hash = content_hash")
    return refused if refusals_max is None else SQL("{} and refusals < {}").format(refused, Literal(refusals_max))


async def count_pending(
    database: Database, table: EmbeddedTable, *, stale: bool = True, refusals_max: int | None = None
) -> int:
    """How many rows are pending: those without vectors, and with `stale` those whose text has changed.

    With `refusals_max`, texts refused that often do not count.
    """
    row = await database.row(
        SQL("select count(*) as pending from {} where {}").format(
            Identifier(table.name), _waiting(stale=stale, refusals_max=refusals_max)
        )
    )
    return int(row["pending"]) if row else 0


async def note_progress(database: Database, table: EmbeddedTable, *, refusals_max: int | None = None) -> None:
    """Record the time if no row of `table` is pending, or if nothing was recorded before."""
    await database.execute(
        SQL(
            "insert into embedding_progress (table_name, completed_at) values (%s, now())"
            " on conflict (table_name) do update set completed_at = excluded.completed_at"
            " where not exists (select from {} where {})"
        ).format(Identifier(table.name), _waiting(refusals_max=refusals_max)),
        [table.name],
    )


async def read_backlog(
    database: Database, tables: Iterable[EmbeddedTable], *, refusals_max: int | None = None
) -> dict[str, Backlog]:
    """The backlog of each of `tables` with pending rows."""
    backlog: dict[str, Backlog] = {}
    for table in tables:
        if rows := await count_pending(database, table, refusals_max=refusals_max):
            noted = await database.row(
                "select completed_at from embedding_progress where table_name = %s", [table.name]
            )
            backlog[table.name] = Backlog(rows, noted["completed_at"].astimezone(datetime.UTC) if noted else None)
    return backlog


def _waiting(*, stale: bool = True, refusals_max: int | None = None) -> Composable:
    if refusals_max is None:
        return pending(stale=stale)
    return SQL("{} and ({} or {})").format(pending(stale=stale), never_refused(), may_be_tried_again(refusals_max))


LEASE_SECONDS = 30.0
RENEWAL_SECONDS = 10.0

_TAKE = """
with pending as materialized (
  select t.id from {table} t
  where {condition} and not t.id = any(%(excluded)s) and not exists (
    select from embedding_claims c where c.table_name = %(table)s and c.record_id = t.id and c.claimed_until > now())
  order by t.id limit {limit}
), taken as (
  insert into embedding_claims as c (table_name, record_id, claim, claimed_until)
  select %(table)s, w.id, %(claim)s, now() + make_interval(secs => %(lease)s) from pending w order by w.id
  on conflict (table_name, record_id) do update set claim = excluded.claim, claimed_until = excluded.claimed_until
    where c.claimed_until <= now()
  returning c.record_id
)
select t.record_id as taken from pending w left join taken t on t.record_id = w.id
"""

_RENEW = """
update embedding_claims set claimed_until = now() + make_interval(secs => %(lease)s)
where table_name = %(table)s and claim = %(claim)s
"""

_RELEASE = "delete from embedding_claims where table_name = %(table)s and claim = %(claim)s"

# A row that is being written stays pending: waiting for it while holding locks on others could deadlock.
_SETTLE = """
with own as (
  delete from embedding_claims where table_name = %(table)s and claim = %(claim)s returning record_id
), unchanged as (
  select t.id from {table} t
  join own on own.record_id = t.id
  join unnest(%(ids)s::text[], %(hashes)s::text[]) v (id, hash) on v.id = t.id and v.hash = t.content_hash
  for no key update of t skip locked
)
update {table} t set embedded_hash = t.content_hash from unchanged u where t.id = u.id returning t.id
"""


class Claim:
    """One worker's claim on rows of one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table
        self._id = uuid.uuid4()

    async def take(
        self, connection: Connection, condition: Composable, *, excluded: Sequence[str], limit: int
    ) -> list[str] | None:
        """Claim up to `limit` rows `t` for which `condition` holds, in order of id, without `excluded` ones and those claimed by
        others.

        None if there are none; an empty list if other workers were faster.
        """
        statement = SQL(_TAKE).format(table=Identifier(self._table), condition=condition, limit=Literal(limit))
        cursor = await connection.execute(statement, self._parameters(excluded=list(excluded), lease=LEASE_SECONDS))
        rows = await cursor.fetchall()
        return [row["taken"] for row in rows if row["taken"] is not None] if rows else None

    def lease(self) -> AbstractAsyncContextManager[None]:
        """Hold the claim until the end of the block, and release it if the block raises."""
        return leased(partial(self._execute, _RENEW), partial(self._execute, _RELEASE), seconds=RENEWAL_SECONDS)

    async def settle(self, connection: Connection, ids: Sequence[str], hashes: Sequence[str]) -> list[str]:
        """Release the claim and mark rows as embedded, by ids and hashes of their texts.

        Returns the ids whose vectors must be stored in the same transaction: still claimed, with unchanged text.
        """
        cursor = await connection.execute(
            SQL(_SETTLE).format(table=Identifier(self._table)), self._parameters(ids=list(ids), hashes=list(hashes))
        )
        return [row["id"] for row in await cursor.fetchall()]

    async def _execute(self, statement: Query) -> None:
        await self._database.execute(statement, self._parameters(lease=LEASE_SECONDS))

    def _parameters(self, **others: Any) -> dict[str, Any]:
        return {"table": self._table, "claim": self._id, **others}


BATCH_ROWS = 32
PAGES_AT_ONCE = 1_000
"""How many pages one statement changes when all rows of a table change: 8 MB."""

HARMLESS_TEXT = "Is anybody there?"
"""A text that any working model embeds."""

logger = logging.getLogger(__name__)


@dataclass
class Embedded:
    """The result of a run: rows embedded, ids of refused rows, and why texts in other tables cannot be read."""

    rows: int = 0
    failed: list[str] = field(default_factory=list)
    problem: str | None = None


async def probe(model: EmbeddingModel) -> None:
    """Check that the model works. Raises ModelUnavailable."""
    await model.embed([HARMLESS_TEXT])


async def make_ready(database: Database, model: EmbeddingModel) -> None:
    """Check that the model works, then record it in the database. In this order: without vectors nothing is recorded.

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
    """The problem and its solution if a model other than `model` was recorded; else None."""
    if recorded is None or (recorded["name"], recorded["dimensions"]) == (model.name, model.dimensions):
        return None
    return (
        f"This database was embedded with {recorded['name']} ({recorded['dimensions']} dimensions), but the settings name "
        f"{model.name} ({model.dimensions}): restore them, or run `quarry embed --all` to embed everything again."
    )


async def embed_tables(
    database: Database,
    model: EmbeddingModel,
    tables: Iterable[EmbeddedTable],
    *,
    refusals_max: int,
    keep_going: Callable[[], bool],
) -> dict[str, Embedded]:
    """Embed pending rows of all `tables` while `keep_going` returns true, without texts refused `refusals_max` times.

    The model is not called if nothing is pending. Raises as `embed_pending` does, and ConfigurationError when the
    database was embedded with another model.
    """
    waiting: list[EmbeddedTable] = []
    for table in tables:
        await note_progress(database, table, refusals_max=refusals_max)
        if await count_pending(database, table, refusals_max=refusals_max):
            waiting.append(table)
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
    pending and reported. Rows refused in earlier runs come last. Where texts stand in a table that is not ours and cannot be
    read, `problem` says so, and its rows stay pending. Raises ModelUnavailable when the model takes nothing at all; the batches
    before are kept.
    """
    done = Embedded()
    try:
        await _embed_all(database, model, table, done, stale, refusals_max, keep_going, on_progress)
    except (PostgresError, QuarryError) as error:
        done.problem = fault_of_source(error) if table.expressions else None
        if done.problem is None:
            raise
    return done


async def _embed_all(
    database: Database,
    model: EmbeddingModel,
    table: EmbeddedTable,
    done: Embedded,
    stale: bool,
    refusals_max: int | None,
    keep_going: Callable[[], bool],
    on_progress: Callable[[int], None],
) -> None:
    excluded = set[str]()
    for still_pending in (never_refused(), may_be_tried_again(refusals_max)):
        condition = SQL("{} and {}").format(pending(stale=stale), still_pending)
        while keep_going():
            claim = Claim(database, table.name)
            async with claim.lease():
                rows = await _claim(database, claim, table, condition, excluded)
                if rows is None:
                    break
                embedded, refused = await _embed_rows(model, table, rows, keep_going)
                stored = await _store(database, claim, table, embedded, refused)
            done.rows += stored
            done.failed += [row["id"] for row in refused]
            excluded |= {*done.failed}
            on_progress(stored + len(refused))
    await note_progress(database, table, refusals_max=refusals_max)


async def forget_vectors(database: Database, tables: Sequence[EmbeddedTable], model: EmbeddingModel) -> None:
    """Drop all vectors, and change the columns to the dimensions of `model`."""
    async with database.transaction() as connection:
        # rewriting a large table takes longer than a search may
        await connection.execute("set local statement_timeout = 0")
        # so that what is being embedded now is not stored
        await connection.execute("delete from embedding_claims")
        for table in tables:
            await connection.execute(SQL("truncate {}").format(Identifier(table.embeddings)))
            await _forget_marks(connection, table)
        for declared in dict.fromkeys(
            (*(table.declared_in or table.embeddings for table in tables), COLLECTION_WINDOWS)
        ):
            await connection.execute(
                SQL("alter table {} alter column embedding type halfvec({})").format(
                    Identifier(declared), Literal(model.dimensions)
                )
            )
        await connection.execute("delete from embedding_model")


async def _forget_marks(connection: Connection, table: EmbeddedTable) -> None:
    """Mark all rows of `table` as not embedded, a range of pages at a time: if an update sets no column that a generated column
    depends on, Postgres 18 keeps kilobytes for each row until the statement ends."""
    forget = SQL(
        "update {} set embedded_hash = null, refused_hash = null, refusals = 0"
        " where (embedded_hash is not null or refused_hash is not null)"
    ).format(Identifier(table.name))
    parts = await connection.execute(
        SQL(
            "select format('(%%s,0)', n) as first, format('(%%s,0)', n + %(pages)s) as next"
            " from generate_series(0, pg_relation_size({}) / current_setting('block_size')::int, %(pages)s) n"
        ).format(Literal(Identifier(table.name).as_string())),
        {"pages": PAGES_AT_ONCE},
    )
    for part in await parts.fetchall():
        await connection.execute(forget + SQL(" and ctid >= %(first)s::tid and ctid < %(next)s::tid"), part)
    await connection.execute(forget)  # rows that changed meanwhile are on other pages


async def _claim(
    database: Database, claim: Claim, table: EmbeddedTable, condition: Composable, excluded: set[str]
) -> list[DictRow] | None:
    """The claimed rows as they are now; None if there are none. Rows that are being written become `excluded`."""
    async with database.transaction() as connection:
        ids = await claim.take(connection, condition, excluded=list(excluded), limit=BATCH_ROWS)
        if ids is None:
            return None
        cursor = await connection.execute(
            SQL(
                "select id, content_hash, {} from {} t where id = any(%s) and {} order by id for no key update skip locked"
            ).format(SQL(", ").join(_text_columns(table)), Identifier(table.name), condition),
            [ids],
        )
        rows = await cursor.fetchall()
    excluded |= {*ids} - {row["id"] for row in rows}
    return rows


def _text_columns(table: EmbeddedTable) -> Iterator[Composable]:
    for column in table.text_columns:
        expression = table.expressions.get(column)
        yield SQL("{} as {}").format(SQL(expression), Identifier(column)) if expression else Identifier(column)


class _EmbeddedRow(NamedTuple):
    id: str
    content_hash: str
    vectors: list[tuple[str, int, list[float]]]
    """Embedding type, number of the window within its text, vector."""


async def _embed_rows(
    model: EmbeddingModel, table: EmbeddedTable, rows: list[DictRow], keep_going: Callable[[], bool]
) -> tuple[list[_EmbeddedRow], list[DictRow]]:
    """The rows that were embedded, and those that the model refuses; rows that ran out of time are in neither."""
    embedded: list[_EmbeddedRow] = []
    refused: list[DictRow] = []
    waiting = [rows] if rows else []
    while waiting:
        group = waiting.pop()
        try:
            embedded += await _embed_together(model, table, group)
        except ModelError as error:
            # raises if the model fails, and not only this text
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
    texts = [window for of_row in windows for _, _, window in of_row]
    vectors = iter(await model.embed(texts) if texts else [])
    return [
        _EmbeddedRow(row["id"], row["content_hash"], [(type_, number, next(vectors)) for type_, number, _ in of_row])
        for row, of_row in zip(rows, windows, strict=True)
    ]


async def _store(
    database: Database, claim: Claim, table: EmbeddedTable, embedded: list[_EmbeddedRow], refused: list[DictRow]
) -> int:
    """Store vectors; return how many rows. Rows whose text changed since they were claimed are not stored."""
    async with database.transaction() as connection:
        ids = await claim.settle(connection, [row.id for row in embedded], [row.content_hash for row in embedded])
        await connection.execute(
            SQL("delete from {} where record_id = any(%s)").format(Identifier(table.embeddings)), [ids]
        )
        await _copy_vectors(connection, table, [row for row in embedded if row.id in {*ids}])
        await _note_refusals(connection, table, refused)
    return len(ids)


async def _copy_vectors(connection: Connection, table: EmbeddedTable, rows: list[_EmbeddedRow]) -> None:
    columns = {"record_id": "text", "embedding_type": "text", "window_number": "int2", "embedding": "halfvec"}
    if not table.embedding_types:
        del columns["embedding_type"]
    statement = SQL("copy {} ({}) from stdin (format binary)").format(
        Identifier(table.embeddings), SQL(", ").join(map(Identifier, columns))
    )
    async with connection.cursor().copy(statement) as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            for type_, number, vector in row.vectors:
                typed = (type_,) if table.embedding_types else ()
                await copy.write_row((row.id, *typed, number, half_vector(vector)))


async def _note_refusals(connection: Connection, table: EmbeddedTable, rows: list[DictRow]) -> None:
    await connection.execute(
        SQL(
            "update {} t set refused_hash = v.hash,"
            " refusals = case when refused_hash = v.hash then least(refusals + 1, 100) else 1 end"
            " from unnest(%s::text[], %s::text[]) v (id, hash) where t.id = v.id"
        ).format(Identifier(table.name)),
        [[row["id"] for row in rows], [row["content_hash"] for row in rows]],
    )
