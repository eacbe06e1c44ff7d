"""Keeps collections up to date with their sources: takes changed keys from the queue and reads their rows again.

A fault in one collection, such as a dropped column or a missing right, is stored with it and does not hold up the others. Its
queue is kept and processed once the fault is fixed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from psycopg import sql
from psycopg.errors import Error as PostgresError

from quarry.collections.apply import STORED, collection_of
from quarry.collections.collection import Collection, with_owners
from quarry.collections.declaration_parts import Referred
from quarry.collections.facets import embedded_table, facet_source
from quarry.collections.functions import BATCH_KEYS
from quarry.collections.names import table_name
from quarry.platform.errors import QuarryError
from quarry.platform.tables import EmbeddedTable
from quarry.postgres.connections import fault_of_source
from quarry.postgres.pool import Connection, Database
from quarry.retrieval.values import CountedPart, refresh
from quarry.schema.source import identifier

SEARCH_KEYS = 50
"""How many queued keys a search processes first."""
COMPARE_SECONDS = 600.0
"""How long comparing a collection with its source may take."""
BATCH_SECONDS = 60.0
INDEX_SECONDS = 3_600.0
"""How long indexing the vectors of a table may take, once after its first fill."""
COMPARED_EVERY_SECONDS = 86_400.0
SWEEP_SECONDS = 600.0
POLL_SECONDS = 30.0
POLL_OVERLAP_SECONDS = 300
"""How far back a polled source is read again: rows may be committed later than they were written."""

_WAITING = """
select c.id,
  exists (select from collection_changes q where q.collection = c.id and q.key is not null) as has_changes,
  exists (select from collection_changes q where q.collection = c.id and q.key is null and q.problem is null)
    as asks_to_compare,
  exists (select from collection_changes q where q.collection = c.id and q.problem is not null) as has_noted_problem,
  c.problem,
  extract(epoch from now() - c.reconciled_at)::float8 as compared_before,
  extract(epoch from now() - c.polled_to)::float8 as polled_before
from collections c where c.id = any(%s) order by c.id
"""

_CHANGED = """
select c.id from collections c
where c.id = any(%s) and c.problem is null
  and exists (select from collection_changes q where q.collection = c.id and q.key is not null)
"""

_RENAMED = """
select distinct e.collection
from unnest(%s::int[], %s::text[], %s::text[], %s::text[], %s::text[]) e (collection, rows, facet, relation, name)
join pg_attribute a on a.attrelid = to_regclass(e.relation) and a.attname = e.name
join pg_type t on t.oid = a.atttypid
join pg_type l on l.oid = case when t.typcategory = 'A' then t.typelem else t.oid end and l.typtype = 'e'
where exists (
  select from facet_values f where f.table_name = e.rows and f.facet = e.facet group by f.value
  having sum(f.row_count) > 0 and not exists (select from pg_enum n where n.enumtypid = l.oid and n.enumlabel = f.value))
"""
"""The collections that know a value which its enumeration no longer has: no row is written when a value is renamed."""

logger = logging.getLogger(__name__)


@dataclass
class Refreshed:
    """What was done for one collection: the number of keys whose rows were read again, and the problem that stopped it."""

    keys: int = 0
    problem: str | None = None


class _Waiting(NamedTuple):
    """What is due for a collection. `compared_before` and `polled_before` are in seconds.

    `problem` is the fault stored last. `has_noted_problem`: a trigger could not queue its keys.
    """

    id: int
    has_changes: bool
    asks_to_compare: bool
    has_noted_problem: bool
    problem: str | None
    compared_before: float | None
    polled_before: float | None

    def must_compare(self, collection: Collection) -> bool:
        """Whether a comparison is requested or overdue. A source without triggers is compared more often."""
        often = SWEEP_SECONDS if collection.declaration.sync == "sweep" else COMPARED_EVERY_SECONDS
        return self.asks_to_compare or self.compared_before is None or self.compared_before > often

    def must_poll(self, collection: Collection) -> bool:
        """Whether it is polled, and polling is due."""
        is_polled = not isinstance(collection.declaration.sync, str)
        return is_polled and (self.polled_before is None or self.polled_before > POLL_SECONDS)


def embedded_tables(collections: Iterable[Collection]) -> list[EmbeddedTable]:
    """How the texts of these collections are embedded, where they have any."""
    return [embedded_table(each) for each in collections if each.declaration.embedded]


async def read_collections(database: Database) -> dict[str, Collection]:
    """The collections in the database as callers read them, by name."""
    return with_owners({row["name"]: collection_of(row) for row in await database.rows(STORED)})


async def keep_in_step(
    database: Database,
    collections: Iterable[Collection],
    *,
    rows_max: int = 0,
    keep_going: Callable[[], bool] = lambda: True,
    on_progress: Callable[[Collection, int], None] = lambda collection, keys: None,
) -> dict[str, Refreshed]:
    """Process what is due for these collections while `keep_going` returns true, and return what was done for each.

    Collections that are not searched need nothing. What would go over `rows_max` waits.
    """
    by_id = {each.id: each for each in collections if each.declaration.is_searched}
    done: dict[str, Refreshed] = {}
    for row in await database.rows(_WAITING, [list(by_id)]) if by_id else []:
        waiting, collection = _Waiting(**row), by_id[row["id"]]
        if not keep_going():
            break
        due = waiting.must_compare(collection) or waiting.must_poll(collection)
        if due or waiting.has_changes or waiting.has_noted_problem:
            done[collection.name] = await _work_off(database, collection, waiting, rows_max, keep_going, on_progress)
    return done


async def take_renamed(database: Database, collections: Iterable[Collection]) -> list[str]:
    """Count the values again where those of an enumeration were renamed, queue a comparison, and return the collections' names.

    Raises DatabaseUnavailable where values cannot be counted.
    """
    by_id = {each.id: each for each in collections if each.declaration.is_searched}
    columns = [*zip(*(column for each in by_id.values() for column in _columns_of_values(each)), strict=True)]
    rows = await database.rows(_RENAMED, [[*each] for each in columns]) if columns else []
    renamed = [by_id[row["collection"]] for row in rows]
    await refresh(database, (CountedPart("values", each.rows) for each in renamed), timeout_seconds=COMPARE_SECONDS)
    for each in renamed:  # the words of its rows may hold the old value
        await database.execute("insert into collection_changes (collection) values (%s)", [each.id])
    return [each.name for each in renamed]


def _columns_of_values(collection: Collection) -> Iterator[tuple[int, str, str, str, str]]:
    """The columns, by their tables in SQL, whose values are known: those of listed facets in one column."""
    declaration = collection.declaration
    for each in facet_source(collection).listed:
        facet = declaration.facets.get(each.name)
        if facet is None or facet.through or facet.expression or isinstance(facet.title, Referred):
            continue
        [name, *_] = facet.columns_as(each.name)
        if facet.related:
            yield collection.id, collection.rows, each.name, _in_sql(declaration.related[facet.related].of), name
        elif facet.of:
            yield collection.id, collection.rows, each.name, _in_sql(facet.of), facet.title or ""
        else:
            yield collection.id, collection.rows, each.name, collection.table_sql, name


def _in_sql(table: str) -> str:
    return identifier(*table_name(table))


async def take_a_few(database: Database, collections: Iterable[Collection], rows_max: int = 0) -> None:
    """Read the rows of a few queued keys before a search, in case nothing else does at the moment.

    A row that cannot be read is left to `keep_in_step`, which reports why; a collection with a stored problem is skipped.
    """
    by_id = {each.id: each for each in collections}
    rows = await database.rows(_CHANGED, [list(by_id)]) if by_id else []
    for collection in [by_id[row["id"]] for row in rows]:
        try:
            await refresh_rows(database, collection, SEARCH_KEYS, rows_max)
        except (PostgresError, QuarryError) as error:
            if fault_of_source(error) is None:
                raise


async def compare(database: Database, collection: Collection) -> int:
    """Queue every row that differs from the source, and return how many. Finds whatever was missed.

    Raises PostgresError where the source cannot be read, or policies hide rows of it.
    """
    async with database.transaction() as connection:
        await _take_time(connection, COMPARE_SECONDS)
        queued = await _number(connection, sql.SQL("select {}()").format(_function("queue_differences", collection)))
        await connection.execute("update collections set reconciled_at = now() where id = %s", [collection.id])
    return queued or 0


async def poll(database: Database, collection: Collection) -> int:
    """Queue the rows that changed in the source since it was last polled, and return how many."""
    async with database.transaction() as connection:
        await _take_time(connection, COMPARE_SECONDS)
        cursor = await connection.execute(
            "select polled_to - make_interval(secs => %s) as since from collections where id = %s for update",
            [POLL_OVERLAP_SECONDS, collection.id],
        )
        row = await cursor.fetchone()
        queued = await _number(
            connection,
            sql.SQL("select {}({})").format(
                _function("queue_differences", collection), sql.Literal(row["since"] if row else None)
            ),
        )
        await connection.execute("update collections set polled_to = now() where id = %s", [collection.id])
    return queued or 0


async def _work_off(
    database: Database,
    collection: Collection,
    waiting: _Waiting,
    rows_max: int,
    keep_going: Callable[[], bool],
    on_progress: Callable[[Collection, int], None],
) -> Refreshed:
    done = Refreshed()
    try:
        if waiting.must_compare(collection):
            await compare(database, collection)
        if waiting.must_poll(collection):
            await poll(database, collection)
        keys: int | None = None
        while keep_going() and (keys := await refresh_rows(database, collection, rows_max=rows_max)):
            done.keys += keys
            on_progress(collection, keys)
        if keys == 0 and collection.declaration.vectors is not None:
            await _index_windows(database, collection)
        if waiting.problem is not None or waiting.has_noted_problem:
            await _forget_problem(database, collection)
    except (PostgresError, QuarryError) as error:
        done.problem = fault_of_source(error)
        if done.problem is None:
            raise
        if done.problem != waiting.problem:
            logger.warning("%s is not in step: %s", collection.name, type(error).__name__)
            await database.execute("update collections set problem = %s where id = %s", [done.problem, collection.id])
    return done


async def refresh_rows(
    database: Database, collection: Collection, keys: int = BATCH_KEYS, rows_max: int = 0
) -> int | None:
    """Read the rows of this many queued keys again. Returns how many there were; None while another process does it.

    Raises Forbidden, and reads none of them, if there would be more than `rows_max`; 0: any number.
    """
    async with database.transaction() as connection:
        await _take_time(connection, BATCH_SECONDS)
        done = await _number(
            connection, sql.SQL("select {}({})").format(_function("refresh_rows", collection), sql.Literal(keys))
        )
        if rows_max and done:
            await connection.execute("select check_rows(%s)", [rows_max])
    return done


async def _index_windows(database: Database, collection: Collection) -> None:
    """Index the vectors that were copied first, if they are not yet."""
    async with database.transaction() as connection:
        await _take_time(connection, INDEX_SECONDS)
        await connection.execute(sql.SQL("select {}()").format(_function("index_windows", collection)))


async def _forget_problem(database: Database, collection: Collection) -> None:
    """Clear the problem, and request a comparison for what triggers could not queue."""
    async with database.transaction() as connection:
        await connection.execute("update collections set problem = null where id = %s", [collection.id])
        await connection.execute(
            "with told as (delete from collection_changes where collection = %s and problem is not null returning collection)"
            " insert into collection_changes (collection) select distinct collection from told",
            [collection.id],
        )


def _function(name: str, collection: Collection) -> sql.Identifier:
    return sql.Identifier(f"{name}_{collection.id}")


async def _take_time(connection: Connection, seconds: float) -> None:
    await connection.execute(sql.SQL("set local statement_timeout = {}").format(sql.Literal(int(seconds * 1000))))


async def _number(connection: Connection, query: sql.Composed) -> int | None:
    row = await (await connection.execute(query)).fetchone()
    return next(iter(row.values())) if row else None
