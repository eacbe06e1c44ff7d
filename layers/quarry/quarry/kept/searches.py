"""Searches that a user saves, and which of their results are new since they were last opened.

The server does not run a saved search: the client that opens it sends the current results.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence

from psycopg.sql import SQL

from quarry.kept.contract import NAME_MAX_CHARACTERS, SEARCHES_MAX, NewSavedSearch, Opened, ResultKey, SavedSearch
from quarry.kept.conversations import in_utc, take_room
from quarry.language.messages import gettext_noop
from quarry.platform.errors import NotFound
from quarry.platform.tables import KEEP
from quarry.platform.text import shorten
from quarry.postgres.pool import Connection, Database

SHOWN_MAX = 1000
"""How many of the latest shown results a search remembers."""
NO_SUCH = gettext_noop("There is no such saved search, or it is not yours.")

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
        raise NotFound(NO_SUCH)
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
            raise NotFound(NO_SUCH)
        new = await _show(connection, id, results)
        await connection.execute(_TRIM, {"id": id, "most": SHOWN_MAX})
    keys = {(result.type, result.id): result for result in results}
    return Opened(new=[result for key, result in keys.items() if key in new], **in_utc(row))


async def delete_search(database: Database, user_id: str, id: uuid.UUID) -> None:
    """Deletes a search. Raises NotFound."""
    if not await database.execute("delete from saved_searches where id = %s and user_id = %s", [id, user_id]):
        raise NotFound(NO_SUCH)


async def _show(connection: Connection, id: uuid.UUID, results: Sequence[ResultKey]) -> set[tuple[str, str]]:
    """Records that a search has shown these results, and returns the new ones."""
    cursor = await connection.execute(_SHOW, [id, [each.type for each in results], [each.id for each in results]])
    return {(row["result_type"], row["result_id"]) async for row in cursor if row["is_new"]}
