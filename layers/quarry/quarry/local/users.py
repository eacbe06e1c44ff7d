"""Data about users and records: `quarry credits`, `quarry export user` and `quarry forget`."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import LiteralString

from rich.text import Text

from quarry.catalog import FORGETTABLE
from quarry.collections.names import nearest
from quarry.collections.upkeep import read_collections
from quarry.local.database import LocalDatabase
from quarry.local.telling import write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.people.access import balance_of, grant, latest_entries
from quarry.platform.errors import NotFound
from quarry.services.forgetting import forget, forget_row

ENTRIES_SHOWN = 20


async def show_credits(database: LocalDatabase, user_id: str, *, as_json: bool) -> None:
    """Print a user's balance and the latest entries of their ledger."""
    async with database.services() as services, services.database.transaction() as connection:
        balance = await balance_of(connection, services.settings, user_id)
        entries = await latest_entries(connection, user_id, ENTRIES_SHOWN)
    if as_json:
        write_json({"user": user_id, "balance": balance, "entries": [asdict(entry) for entry in entries]})
        return
    print(_balance(user_id, balance))
    if not entries:
        print("No credits yet: the first search opens the account.")
        return
    rows = [
        (
            f"{entry.created_at.astimezone(datetime.UTC):%Y-%m-%d %H:%M}",
            _amount(entry.amount),
            entry.reason,
            entry.reference,
        )
        for entry in entries
    ]
    print()
    write_table(make_console(), ("booked (UTC)", "credits ", "reason", "for"), rows)


async def grant_credits(database: LocalDatabase, user_id: str, credits: int, *, as_json: bool) -> None:
    """Give a user credits, and print the new balance."""
    async with database.services() as services:
        balance = await grant(services.database, services.settings, user_id, credits)
    print(json.dumps({"user": user_id, "balance": balance}) if as_json else _balance(user_id, balance))


def _balance(user_id: str, balance: int) -> str:
    return f"{printable(user_id)} has {balance:,} credit{'' if balance == 1 else 's'}"


def _amount(amount: int) -> Text:
    return Text(f"{amount:+,}", "green" if amount > 0 else "")


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
        kept = {
            name: await (await connection.execute(statement, {"user": user})).fetchall()
            for name, statement in EXPORTED.items()
        }
    if not any(kept.values()):
        raise NotFound(f"Nothing is stored about a user {user!r}.")
    write_json({"user": user, **kept})


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
