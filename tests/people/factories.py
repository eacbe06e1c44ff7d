"""What tests of people make: users, stored searches, rows of a database."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

import psycopg
from starlette.testclient import TestClient

from quarry.platform.telemetry import CREDITS_SPENT
from quarry.postgres.migrate import connect
from quarry.services.services import Services


def as_user(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {user}"}


def somebody() -> str:
    """A user whom nobody else is."""
    return f"user-{uuid.uuid4()}"


def store_search(
    url: str, user: str, person_ids: Sequence[str], *, expires_in: str = "1 hour", credits: int = 10
) -> str:
    """The id of a search of this user's that found these people, and an account with `credits` where they have none."""
    search_id = str(uuid.uuid4())
    with psycopg.connect(url) as connection:
        opened = connection.execute(
            "insert into credit_accounts (user_id, balance) values (%s, %s) on conflict do nothing", [user, credits]
        )
        if opened.rowcount and credits:
            connection.execute(
                "insert into credit_ledger (user_id, amount, reason, reference) values (%s, %s, 'initial', %s)",
                [user, credits, user],
            )
        connection.execute(
            """insert into people_searches (id, user_id, query_text, parsed_constraints, filters, fallback_tier, expires_at)
               values (%s, %s, 'who', '{}', '{}', 0, now() + %s::interval)""",
            [search_id, user, expires_in],
        )
        for rank, person_id in enumerate(person_ids, start=1):
            extra = {"matched_parent_ids": [], "matched_child_ids": [], "why_matched": [f"Reason {rank}"]}
            connection.execute(
                "insert into people_search_results values (%s, %s, %s, 1.0, %s)",
                [search_id, person_id, rank, json.dumps(extra)],
            )
    return search_id


def rows(url: str, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connect(url) as connection:
        return connection.execute(query.encode(), parameters).fetchall()


def value(url: str, query: str, *parameters: Any) -> Any:
    """The one value of the one row of a query."""
    [(value,)] = rows(url, query, *parameters)
    return value


def ledger(url: str, user: str) -> list[int]:
    """What was booked on the user's account, in order; its sum is their balance. Nothing where there is no account."""
    amounts = [
        row[0] for row in rows(url, "select amount from credit_ledger where user_id = %s order by entry_number", user)
    ]
    balances = rows(url, "select balance from credit_accounts where user_id = %s", user)
    assert [(sum(amounts),)] == balances or amounts == balances == []
    return amounts


def counted_credits(client: TestClient) -> float:
    """What the application has counted as spent since this was asked last."""
    services: Services = client.app.state.services  # type: ignore[attr-defined]
    return sum(services.metrics.take().get(None, {}).get(CREDITS_SPENT, ()))
