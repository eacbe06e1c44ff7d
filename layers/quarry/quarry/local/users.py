"""Data about users and records: `quarry credits`, `quarry export user` and `quarry forget`."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import LiteralString

from psycopg import errors
from psycopg.sql import SQL, Identifier
from rich.text import Text

from quarry.catalog import FORGETTABLE
from quarry.collections.apply import read_collections
from quarry.collections.collection import Collection
from quarry.collections.names import nearest
from quarry.collections.relations import literal
from quarry.local.database import LocalDatabase
from quarry.local.output import quantity, write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.people.access import balance_of, grant, latest_entries
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
_DELETIONS: tuple[LiteralString, ...] = (
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
        for statement in (*forgettable.also, *_OF_WORDS, *_DELETIONS):
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
        for deletion in (*_OF_WORDS, *_DELETIONS):
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
    source = literal(collection.table_sql)
    visibility = await (await connection.execute(SQL(f"select sees_all_rows({source}::regclass) as seen"))).fetchone()
    if not (visibility and visibility["seen"]):
        raise Conflict(
            f"Policies hide rows of {'.'.join(collection.source)} from this role, so it cannot see whether the row was deleted."
        )
    query = SQL(f"select from {collection.source_sql} t where {collection.has_key(literal(id), 't')} limit 1")
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


ENTRIES_MAX = 20


async def show_credits(database: LocalDatabase, user_id: str, *, as_json: bool) -> None:
    """Print a user's balance and the latest entries of their ledger."""
    async with database.services() as services, services.database.transaction() as connection:
        balance = await balance_of(connection, services.settings, user_id)
        entries = await latest_entries(connection, user_id, ENTRIES_MAX)
    if as_json:
        write_json({"user": user_id, "balance": balance, "entries": [asdict(entry) for entry in entries]})
        return
    print(_balance(user_id, balance))
    if not entries:
        print("No credits yet: the first search opens the account.")
        return
    rows = []
    for each in entries:
        amount = Text(f"{each.amount:+,}", "green" if each.amount > 0 else "")
        rows.append((f"{each.created_at.astimezone(datetime.UTC):%Y-%m-%d %H:%M}", amount, each.reason, each.reference))
    print()
    write_table(make_console(), ("booked (UTC)", "credits ", "reason", "for"), rows)


async def grant_credits(database: LocalDatabase, user_id: str, credits: int, *, as_json: bool) -> None:
    """Give a user credits, and print the new balance."""
    async with database.services() as services:
        balance = await grant(services.database, services.settings, user_id, credits)
    print(json.dumps({"user": user_id, "balance": balance}) if as_json else _balance(user_id, balance))


def _balance(user_id: str, balance: int) -> str:
    return f"{printable(user_id)} has {quantity(balance, 'credit')}"


EXPORTED: Mapping[str, LiteralString] = {
    "runs": """select r.id::text, r.domain, r.query, r.request, r.status, r.end_reason, r.started_at,
        r.helpful, r.feedback_reason, r.feedback_at,
        array(select jsonb_build_object('type', x.result_type, 'id', x.result_id)
          from search_run_results x where x.run_id = r.id order by x.rank) as results
      from search_runs r where r.caller = %(user)s order by r.started_at""",
    "answers": """select id, query, answer, sources, suggested_followups, confidence, citations, created_at, expires_at
      from answer_cache where owner = %(user)s order by created_at""",
    "people_searches": """select s.id::text, s.query_text as query, s.parsed_constraints as constraints, s.filters,
        s.fallback_tier, s.created_at, s.expires_at,
        array(select jsonb_build_object(
            'person_id', x.person_id, 'rank', x.rank, 'score', x.score, 'why_matched', x.extra -> 'why_matched')
          from people_search_results x where x.search_id = s.id order by x.rank) as results
      from people_searches s where s.user_id = %(user)s order by s.created_at""",
    "contact_unlocks": """select person_id, search_id::text, unlocked_at from contact_unlocks
      where user_id = %(user)s order by unlocked_at""",
    "credits": """select amount, reason, reference, created_at from credit_ledger
      where user_id = %(user)s order by entry_number""",
    "conversations": """select id::text, domain, title, turns, created_at, updated_at from conversations
      where user_id = %(user)s order by created_at""",
    "saved_searches": """select s.id::text, s.domain, s.name, s.query, s.parameters, s.created_at, s.opened_at,
        array(select jsonb_build_object('type', x.result_type, 'id', x.result_id)
          from saved_search_results x where x.search_id = s.id order by x.shown_at, x.result_type, x.result_id) as shown
      from saved_searches s where s.user_id = %(user)s order by s.created_at""",
    "idempotency_keys": """select endpoint, key, response::jsonb as response, expires_at from idempotency_keys
      where caller = %(user)s order by expires_at""",
    "streams": """select s.run_id::text as id, s.started_at,
        array(select e.event::jsonb from run_events e where e.run_id = s.run_id order by e.number) as events
      from run_streams s where s.caller = %(user)s order by s.started_at""",
}
"""What Quarry stores about a user, by its name in the export."""


async def export_user(database: LocalDatabase, user: str) -> None:
    """Print what Quarry stores about a user. Raises NotFound if there is nothing."""
    async with database.services() as services, services.database.transaction() as connection:
        data = {
            name: await (await connection.execute(statement, {"user": user})).fetchall()
            for name, statement in EXPORTED.items()
        }
    if not any(data.values()):
        raise NotFound(f"Nothing is stored about a user {user!r}.")
    write_json({"user": user, **data})


async def forget_record(database: LocalDatabase, kind: str, id: str, *, as_json: bool) -> None:
    """Forget a record, and print how many rows were deleted or changed. Raises NotFound for an unknown kind, and as `forget`."""
    async with database.services() as services:
        if kind in FORGETTABLE:
            domain, forgettable = FORGETTABLE[kind]
            forgotten = await forget(services.database, forgettable, domain, id)
        else:
            collections = await read_collections(services.database)
            if kind not in collections:
                kinds = [*FORGETTABLE, *collections]
                raise NotFound(f"There is no record type {kind!r}{nearest(kind, kinds)}: {', '.join(kinds)}")
            forgotten = await forget_row(services.database, collections[kind], id)
    if as_json:
        write_json(asdict(forgotten))
        return
    rows = ", ".join(f"{count:,} of {table}" for table, count in sorted(forgotten.rows.items()))
    print(f"Forgotten. Rows deleted or changed: {rows}")
