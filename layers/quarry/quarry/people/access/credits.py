"""Credits: an account for each user, and the ledger of all that was ever booked on it.

A balance and the entry that changes it are written by one statement, so the balance is always the ledger's sum, and the
database refuses one below zero.
"""

from __future__ import annotations

import datetime
import uuid
from dataclasses import dataclass
from typing import Literal

from quarry.platform.errors import PaymentRequired
from quarry.platform.settings import Settings
from quarry.postgres.pool import Connection, Database
from quarry.services.services import LOCAL_USER

SEARCH_PRICE = 1
UNLOCK_PRICE = 1
LOCAL_USER_CREDITS = 100
GRANT_MAX = 1_000_000

NOT_ENOUGH = "You have no credits left."

Reason = Literal["initial", "grant", "search", "unlock"]


@dataclass(frozen=True)
class LedgerEntry:
    """One booking. `amount` is below zero where credits were spent; `reference` is the search, person or grant it was for."""

    amount: int
    reason: Reason
    reference: str
    created_at: datetime.datetime


def opening_balance(settings: Settings, user_id: str) -> int:
    """The credits that a user begins with."""
    is_local_user = settings.identity == "local" and user_id == LOCAL_USER
    return LOCAL_USER_CREDITS if is_local_user else settings.initial_credits


async def balance_of(connection: Connection, settings: Settings, user_id: str) -> int:
    """The user's credits; what they will begin with where they have no account yet."""
    cursor = await connection.execute("select balance from credit_accounts where user_id = %s", [user_id])
    row = await cursor.fetchone()
    return opening_balance(settings, user_id) if row is None else int(row["balance"])


async def open_account(connection: Connection, settings: Settings, user_id: str) -> int:
    """The balance of the user's account, which is opened where there is none."""
    # what another call has opened since this statement began, it does not see: then it is asked again
    while True:
        cursor = await connection.execute(
            """with known as (
                 select balance from credit_accounts where user_id = %(user_id)s
               ), opened as (
                 insert into credit_accounts (user_id, balance)
                 select %(user_id)s, %(opening)s where not exists (select from known)
                 on conflict do nothing
                 returning balance
               ), entry as (
                 insert into credit_ledger (user_id, amount, reason, reference)
                 select %(user_id)s, balance, 'initial', %(user_id)s from opened where balance > 0
               )
               select balance from known union all select balance from opened""",
            {"user_id": user_id, "opening": opening_balance(settings, user_id)},
        )
        if row := await cursor.fetchone():
            return int(row["balance"])


async def spend(connection: Connection, user_id: str, credits: int, reason: Reason, reference: str) -> int:
    """Book `credits` off an account that is open; the new balance. Raises PaymentRequired where there are too few."""
    balance = await _book(connection, user_id, -credits, reason, reference)
    if balance is None:
        raise PaymentRequired(NOT_ENOUGH)
    return balance


async def grant(database: Database, settings: Settings, user_id: str, credits: int) -> int:
    """Give a user `credits`, 1 to GRANT_MAX; the new balance."""
    async with database.transaction() as connection:
        await open_account(connection, settings, user_id)
        balance = await _book(connection, user_id, credits, "grant", str(uuid.uuid4()))
    assert balance is not None
    return balance


async def _book(connection: Connection, user_id: str, amount: int, reason: Reason, reference: str) -> int | None:
    """The balance after a booking; None where it would be below zero, or there is no account, and nothing was booked."""
    cursor = await connection.execute(
        """with account as (
             update credit_accounts set balance = balance + %(amount)s
             where user_id = %(user_id)s and balance + %(amount)s >= 0
             returning balance
           ), entry as (
             insert into credit_ledger (user_id, amount, reason, reference)
             select %(user_id)s, %(amount)s, %(reason)s, %(reference)s from account
           )
           select balance from account""",
        {"user_id": user_id, "amount": amount, "reason": reason, "reference": reference},
    )
    row = await cursor.fetchone()
    return None if row is None else int(row["balance"])


async def latest_entries(connection: Connection, user_id: str, limit: int) -> list[LedgerEntry]:
    """The last bookings on a user's account, newest first."""
    cursor = await connection.execute(
        """select amount, reason, reference, created_at from credit_ledger
           where user_id = %s order by entry_number desc limit %s""",
        [user_id, limit],
    )
    return [LedgerEntry(**row) async for row in cursor]
