"""`quarry credits`: what a user has, and giving them more."""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict

from rich.text import Text

from quarry.local.database import LocalDatabase
from quarry.local.telling import write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.people.access import balance_of, grant, latest_entries

ENTRIES_SHOWN = 20


async def show_credits(database: LocalDatabase, user_id: str, *, as_json: bool) -> None:
    """A user's balance and the latest entries of their ledger."""
    async with database.services() as services, services.database.transaction() as connection:
        balance = await balance_of(connection, services.settings, user_id)
        entries = await latest_entries(connection, user_id, ENTRIES_SHOWN)
    if as_json:
        write_json({"user": user_id, "balance": balance, "entries": [asdict(entry) for entry in entries]})
        return
    print(_balance(user_id, balance))
    if not entries:
        print("Nothing was booked yet: the first search opens the account.")
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
    """Give a user credits, and say how many they have now."""
    async with database.services() as services:
        balance = await grant(services.database, services.settings, user_id, credits)
    print(json.dumps({"user": user_id, "balance": balance}) if as_json else _balance(user_id, balance))


def _balance(user_id: str, balance: int) -> str:
    return f"{printable(user_id)} has {balance:,} credit{'' if balance == 1 else 's'}"


def _amount(amount: int) -> Text:
    return Text(f"{amount:+,}", "green" if amount > 0 else "")
