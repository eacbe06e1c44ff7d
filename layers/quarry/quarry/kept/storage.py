"""Conversations that a user saves, and searches, with which of their results are new since they were last opened.

Turns that quote a record forgotten within the last day are left out. The server does not run a saved search: the client that
opens it sends the current results.
"""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Sequence
from typing import Any

from psycopg.sql import SQL, Identifier

from quarry.kept.contract import (
    CONVERSATIONS_MAX,
    NAME_MAX_CHARACTERS,
    SEARCHES_MAX,
    Conversation,
    ConversationChange,
    ConversationEntry,
    NewConversation,
    NewSavedSearch,
    Opened,
    ResultKey,
    SavedSearch,
    Turn,
)
from quarry.language.messages import gettext_noop
from quarry.platform.errors import Forbidden, NotFound
from quarry.platform.tables import KEEP
from quarry.platform.text import shorten
from quarry.postgres.pool import Connection, Database


async def take_room(connection: Connection, table: str, user_id: str, most: int) -> None:
    """Checks that the user has fewer than `most` rows in a table, even with concurrent inserts. Raises Forbidden."""
    await connection.execute("select pg_advisory_xact_lock(hashtextextended(%s, 7305114))", [f"{table} {user_id}"])
    cursor = await connection.execute(
        SQL("select count(*) >= %s as is_full from {} where user_id = %s").format(Identifier(table)), [most, user_id]
    )
    row = await cursor.fetchone()
    if row and row["is_full"]:
        raise Forbidden(f"You keep {most} of these already; delete one first.")


NO_SUCH_CONVERSATION = gettext_noop("There is no such conversation, or it is not yours.")

_ENTRY = SQL("id::text, domain, title, jsonb_array_length(turns) as turn_count, created_at, updated_at")
_WHOLE = SQL("{}, turns").format(_ENTRY)


async def list_conversations(database: Database, user_id: str) -> list[ConversationEntry]:
    """A user's conversations, latest first."""
    query = SQL("select {} from conversations where user_id = %s order by updated_at desc, id").format(_ENTRY)
    return [ConversationEntry(**in_utc(row)) for row in await database.rows(query, [user_id])]


async def keep_conversation(database: Database, user_id: str, new: NewConversation) -> Conversation:
    """Saves a conversation. Raises Forbidden if the user already has the maximum number."""
    title = new.title or shorten(new.turns[0].question, NAME_MAX_CHARACTERS)
    async with database.transaction() as connection:
        await connection.execute(KEEP)
        await take_room(connection, "conversations", user_id, CONVERSATIONS_MAX)
        cursor = await connection.execute(
            SQL(
                """insert into conversations (id, user_id, domain, title, turns)
                   values (%(id)s, %(user)s, %(domain)s, %(title)s, without_forgotten(%(turns)s, %(domain)s)) returning {}"""
            ).format(_WHOLE),
            {"id": uuid.uuid4(), "user": user_id, "domain": new.domain, "title": title, "turns": _as_json(new.turns)},
        )
        row = await cursor.fetchone()
    assert row is not None
    return Conversation(**in_utc(row))


async def read_conversation(database: Database, user_id: str, id: uuid.UUID) -> Conversation:
    """Returns a whole conversation of the user. Raises NotFound."""
    row = await database.row(
        SQL("select {} from conversations where id = %s and user_id = %s").format(_WHOLE), [id, user_id]
    )
    if row is None:
        raise NotFound(NO_SUCH_CONVERSATION)
    return Conversation(**in_utc(row))


async def change_conversation(
    database: Database, user_id: str, id: uuid.UUID, change: ConversationChange
) -> ConversationEntry:
    """Changes the title or the turns. A new title alone does not move it in the list. Raises NotFound."""
    async with database.transaction() as connection:
        await connection.execute(KEEP)
        cursor = await connection.execute(
            SQL(
                """update conversations set title = coalesce(%(title)s, title),
                     turns = coalesce(without_forgotten(%(turns)s, domain), turns),
                     updated_at = case when %(turns)s::jsonb is null then updated_at else now() end
                   where id = %(id)s and user_id = %(user)s returning {}"""
            ).format(_ENTRY),
            {
                "title": change.title,
                "turns": None if change.turns is None else _as_json(change.turns),
                "id": id,
                "user": user_id,
            },
        )
        row = await cursor.fetchone()
    if row is None:
        raise NotFound(NO_SUCH_CONVERSATION)
    return ConversationEntry(**in_utc(row))


async def delete_conversation(database: Database, user_id: str, id: uuid.UUID) -> None:
    """Deletes a conversation. Raises NotFound."""
    if not await database.execute("delete from conversations where id = %s and user_id = %s", [id, user_id]):
        raise NotFound(NO_SUCH_CONVERSATION)


def in_utc(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its timestamps in UTC."""
    return {
        name: value.astimezone(datetime.UTC) if isinstance(value, datetime.datetime) else value
        for name, value in row.items()
    }


def _as_json(turns: Sequence[Turn]) -> str:
    return json.dumps([turn.model_dump() for turn in turns])


SHOWN_MAX = 1000
"""How many of the latest shown results a search remembers."""
NO_SUCH_SEARCH = gettext_noop("There is no such saved search, or it is not yours.")

_FIELDS = SQL("id::text, domain, name, query, parameters, created_at, opened_at")

# of several openings at once, each result is new to one
_SHOW = """
insert into saved_search_results as s (search_id, result_type, result_id)
select %s, g.type, g.id from (select distinct type, id from unnest(%s::text[], %s::text[]) r (type, id) order by type, id) g
where not was_forgotten(g.type, g.id)
on conflict (search_id, result_type, result_id) do update set shown_at = excluded.shown_at
returning result_type, result_id, xmax = 0 as is_new
"""
_TRIM = """
delete from saved_search_results where search_id = %(id)s and (result_type, result_id) in (
  select result_type, result_id from saved_search_results where search_id = %(id)s
  order by shown_at desc, result_type, result_id offset %(most)s)
"""


async def list_searches(database: Database, user_id: str) -> list[SavedSearch]:
    """A user's searches, latest first."""
    query = SQL("select {} from saved_searches where user_id = %s order by created_at desc, id").format(_FIELDS)
    return [SavedSearch(**in_utc(row)) for row in await database.rows(query, [user_id])]


async def save_search(database: Database, user_id: str, new: NewSavedSearch) -> SavedSearch:
    """Saves a search with its current results. Raises Forbidden if the user already has the maximum number."""
    id, name = uuid.uuid4(), new.name or shorten(new.query, NAME_MAX_CHARACTERS)
    async with database.transaction() as connection:
        await connection.execute(KEEP)
        await take_room(connection, "saved_searches", user_id, SEARCHES_MAX)
        cursor = await connection.execute(
            SQL(
                """insert into saved_searches (id, user_id, domain, name, query, parameters)
                   values (%s, %s, %s, %s, %s, %s) returning {}"""
            ).format(_FIELDS),
            [id, user_id, new.domain, name, new.query, json.dumps(new.parameters)],
        )
        row = await cursor.fetchone()
        await _show(connection, id, new.results)
    assert row is not None
    return SavedSearch(**in_utc(row))


async def rename_search(database: Database, user_id: str, id: uuid.UUID, name: str) -> SavedSearch:
    """Renames a search. Raises NotFound."""
    row = await database.row(
        SQL("update saved_searches set name = %s where id = %s and user_id = %s returning {}").format(_FIELDS),
        [name, id, user_id],
    )
    if row is None:
        raise NotFound(NO_SUCH_SEARCH)
    return SavedSearch(**in_utc(row))


async def open_search(database: Database, user_id: str, id: uuid.UUID, results: Sequence[ResultKey]) -> Opened:
    """Returns the results that the search has not shown before, and records them as shown. Raises NotFound."""
    async with database.transaction() as connection:
        await connection.execute(KEEP)
        cursor = await connection.execute(
            """update saved_searches s set opened_at = now()
               from (select id, opened_at from saved_searches where id = %s and user_id = %s for update) before
               where s.id = before.id returning before.opened_at as opened_before""",
            [id, user_id],
        )
        row = await cursor.fetchone()
        if row is None:
            raise NotFound(NO_SUCH_SEARCH)
        new = await _show(connection, id, results)
        await connection.execute(_TRIM, {"id": id, "most": SHOWN_MAX})
    keys = {(result.type, result.id): result for result in results}
    return Opened(new=[result for key, result in keys.items() if key in new], **in_utc(row))


async def delete_search(database: Database, user_id: str, id: uuid.UUID) -> None:
    """Deletes a search. Raises NotFound."""
    if not await database.execute("delete from saved_searches where id = %s and user_id = %s", [id, user_id]):
        raise NotFound(NO_SUCH_SEARCH)


async def _show(connection: Connection, id: uuid.UUID, results: Sequence[ResultKey]) -> set[tuple[str, str]]:
    """Records that a search has shown these results, and returns the new ones."""
    cursor = await connection.execute(_SHOW, [id, [each.type for each in results], [each.id for each in results]])
    return {(row["result_type"], row["result_id"]) async for row in cursor if row["is_new"]}
