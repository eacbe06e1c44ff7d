"""Saved conversations. Turns that quote a record forgotten within the last day are left out."""

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
    Conversation,
    ConversationChange,
    ConversationEntry,
    NewConversation,
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


NO_SUCH = gettext_noop("There is no such conversation, or it is not yours.")

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
        raise NotFound(NO_SUCH)
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
        raise NotFound(NO_SUCH)
    return ConversationEntry(**in_utc(row))


async def delete_conversation(database: Database, user_id: str, id: uuid.UUID) -> None:
    """Deletes a conversation. Raises NotFound."""
    if not await database.execute("delete from conversations where id = %s and user_id = %s", [id, user_id]):
        raise NotFound(NO_SUCH)


def in_utc(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its timestamps in UTC."""
    return {
        name: value.astimezone(datetime.UTC) if isinstance(value, datetime.datetime) else value
        for name, value in row.items()
    }


def _as_json(turns: Sequence[Turn]) -> str:
    return json.dumps([turn.model_dump() for turn in turns])
