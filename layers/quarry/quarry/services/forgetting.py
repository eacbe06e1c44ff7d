"""Forgets a record: deletes its row and everything made from it in one transaction. The audit line does not name it.

A writer that stores search results takes the lock `KEEP` first. So it either ends before forgetting starts, or begins after it
and checks `was_forgotten`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import errors
from psycopg.sql import SQL, Identifier

from quarry.collections.collection import Collection
from quarry.collections.uses import quoted
from quarry.platform.errors import Conflict, NotFound
from quarry.platform.tables import FORGET, Forgettable
from quarry.postgres.pool import Connection, Database

FORGET_SECONDS = 120
"""How long one statement may take: stored texts have no index by what they quote."""


@dataclass(frozen=True)
class Forgotten:
    """How many rows of each table were deleted or changed."""

    kind: str
    rows: Mapping[str, int]


# The order matters: the audit line comes first, since the functions that find and keep out forgotten records read it. Running
# streams are ended, so that they store nothing more.
_KEPT: tuple[LiteralString, ...] = (
    "insert into forgotten (kind, id_hash, domain, rows) values (%(kind)s, id_hash(%(id)s), %(domain)s, '{}')",
    """with quoting as (
         select distinct s.run_id, s.is_over from run_streams s join run_events e on e.run_id = s.run_id
         where strpos(e.event, %(quoted)s) > 0 and holds_forgotten(e.event::jsonb, s.domain)),
       ended as (update run_streams set cancelled_at = coalesce(cancelled_at, now())
         where run_id in (select run_id from quoting where not is_over)),
       gone as (delete from run_streams where run_id in (select run_id from quoting where is_over))
       delete from run_events where run_id in (select run_id from quoting)""",
    "delete from answer_cache where sources @> jsonb_build_array(jsonb_build_object('type', %(kind)s::text, 'id', %(id)s::text))",
    "delete from search_run_results where result_type = %(kind)s and result_id = %(id)s",
    """update search_runs set request = null
       where domain = %(domain)s and strpos(request::text, %(quoted)s) > 0""",
    "delete from saved_search_results where result_type = %(kind)s and result_id = %(id)s",
    """delete from saved_searches where domain = %(domain)s
       and holds_any_text(concat_ws(' ', name, query, parameters::text), %(texts)s)""",
    "delete from conversations where domain = %(domain)s and holds_any_text(title, %(texts)s)",
    """update conversations c set turns = (
         select coalesce(jsonb_agg(t.turn order by t.place), '[]')
         from jsonb_array_elements(without_forgotten(turns, domain)) with ordinality t (turn, place)
         where domain <> %(domain)s or not holds_any_text(t.turn::text, %(texts)s))
       where strpos(turns::text, %(quoted)s) > 0 and without_forgotten(turns, domain) <> turns
         or domain = %(domain)s and holds_any_text(turns::text, %(texts)s)""",
    "delete from conversations where turns = '[]'",
)

_OF_WORDS: tuple[LiteralString, ...] = (
    "delete from text_changes where of_table = %(table)s and id = %(id)s",
    """update lexeme_counts set best_rows = array_remove(best_rows, %(id)s)
       where of_table = %(table)s and %(id)s = any(best_rows)""",
)

# the counts of this transaction, and of earlier ones that are not in the statistics yet
_CHANGED_ROWS = """
select relname as "table", n_tup_del + n_tup_upd as rows from pg_stat_xact_user_tables
where schemaname = current_schema and relname not in ('facet_values', 'facet_words', 'lexeme_counts', 'text_changes')
"""

_REFERRING = """
select r.conrelid::regclass::text as "table", c.relname as name, a.attname as column, a.attnotnull as is_needed
from pg_constraint r join pg_class c on c.oid = r.conrelid
join pg_attribute a on a.attrelid = r.conrelid and a.attnum = r.conkey[1]
where r.contype = 'f' and r.confrelid = %s::regclass and r.confdeltype = 'a'
"""


async def forget(database: Database, forgettable: Forgettable, domain: str, id: str) -> Forgotten:
    """Forget a record of a built-in table. Raises NotFound if it does not exist and nothing is stored about it, and Conflict if
    other rows need it.
    """
    async with database.transaction() as connection:
        await _begin(connection)
        before = await _changed_rows(connection)
        texts = await _texts(connection, forgettable, id)
        await _let_go(connection, forgettable.table, id)
        await connection.execute(SQL("delete from {} where id = %s").format(Identifier(forgettable.table)), [id])
        parameters = _parameters(forgettable.kind, forgettable.table, domain, id, texts)
        for statement in (*forgettable.also, *_OF_WORDS, *_KEPT):
            await connection.execute(statement, parameters)
        return await _note(connection, forgettable.kind, id, before)


async def forget_row(database: Database, collection: Collection, id: str) -> Forgotten:
    """Forget everything about a deleted row of the owner's table. Raises Conflict if it still exists, and NotFound."""
    async with database.transaction() as connection:
        await _begin(connection)
        before = await _changed_rows(connection)
        if await _is_there(connection, collection, id):
            raise Conflict(
                f"This row of {collection.name} is still in your table {'.'.join(collection.source)}: delete it there, then "
                "forget it again."
            )
        for table, column in ((collection.windows, "record_id"), (collection.rows, "id")):
            statement = SQL("delete from {} where {} = %s").format(Identifier(table), Identifier(column))
            await connection.execute(statement, [id])
        await connection.execute(
            "delete from collection_changes where collection = %s and key = %s", [collection.id, id]
        )
        for deletion in (*_OF_WORDS, *_KEPT):
            await connection.execute(deletion, _parameters(collection.name, collection.rows, "records", id, []))
        return await _note(connection, collection.name, id, before)


async def _begin(connection: Connection) -> None:
    await connection.execute(SQL("set local statement_timeout = '{}s'").format(SQL(str(FORGET_SECONDS))))
    await connection.execute(SQL("set local lock_timeout = '{}s'").format(SQL(str(FORGET_SECONDS))))
    await connection.execute(FORGET)


async def _texts(connection: Connection, forgettable: Forgettable, id: str) -> list[str]:
    if forgettable.names is None:
        return []
    row = await (await connection.execute(forgettable.names, {"id": id})).fetchone()
    return [*row["texts"]] if row else []


async def _let_go(connection: Connection, table: str, id: str) -> None:
    """Remove references from other rows to this one."""
    for referring in await (await connection.execute(_REFERRING, [table])).fetchall():
        names = {"table": SQL(referring["table"]), "column": Identifier(referring["column"])}
        if not referring["is_needed"]:
            await connection.execute(
                SQL("update {table} set {column} = null where {column} = %s").format(**names), [id]
            )
            continue
        belonging = SQL("select from {table} where {column} = %s limit 1").format(**names)
        if (await connection.execute(belonging, [id])).rowcount:
            raise Conflict(f"Rows of {referring['name']} belong to this record: forget those first.")


async def _is_there(connection: Connection, collection: Collection, id: str) -> bool:
    """Whether the source has the row. Raises Conflict if this role cannot see it."""
    source = quoted(collection.table_sql)
    seen = await (await connection.execute(SQL(f"select sees_all_rows({source}::regclass) as seen"))).fetchone()
    if not (seen and seen["seen"]):
        raise Conflict(
            f"Policies hide rows of {'.'.join(collection.source)} from this role, so it cannot see whether the row was deleted."
        )
    query = SQL(f"select from {collection.source_sql} t where {collection.has_key(quoted(id), 't')} limit 1")
    try:
        async with connection.transaction():
            return (await connection.execute(query)).rowcount > 0
    except errors.DataError:
        return False  # not a valid key of this table


async def _changed_rows(connection: Connection) -> dict[str, int]:
    return {row["table"]: row["rows"] async for row in await connection.execute(_CHANGED_ROWS)}


async def _note(connection: Connection, kind: str, id: str, before: Mapping[str, int]) -> Forgotten:
    now = await _changed_rows(connection)
    rows = {table: count - before.get(table, 0) for table, count in now.items() if count > before.get(table, 0)}
    if not rows:
        raise NotFound(f"There is no {kind} {id!r}, and nothing is stored about it.")
    await connection.execute(
        "update forgotten set rows = %s where kind = %s and id_hash = id_hash(%s) and forgotten_at = now()",
        [json.dumps(rows), kind, id],
    )
    return Forgotten(kind, rows)


def _parameters(kind: str, table: str, domain: str, id: str, texts: list[str]) -> dict[str, object]:
    as_json = json.dumps(id, ensure_ascii=False)
    return {"kind": kind, "table": table, "domain": domain, "id": id, "quoted": as_json, "texts": texts}
