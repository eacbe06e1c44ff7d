"""Deletes expired rows in bounded batches. `for update skip locked` lets two cleanups share the work, and leaves rows that a
reader has locked for the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psycopg.sql import SQL, Identifier

from quarry.platform.tables import ExpiringTable
from quarry.postgres.pool import Database

BATCH_ROWS = 1000


CORE_EXPIRING = (
    ExpiringTable("rate_windows", "rate_windows", "window_start < now() - interval '5 minutes'"),
    ExpiringTable("idempotency_keys", "idempotency_keys", "expires_at <= now()"),
    ExpiringTable("embedding_claims", "embedding_claims", "claimed_until <= now()"),
    ExpiringTable("search_runs", "runs", "started_at < now() - make_interval(days => %(run_log_days)s)"),
)


async def delete_expired(
    database: Database,
    tables: Sequence[ExpiringTable],
    *,
    run_log_days: int,
    keep_going: Callable[[], bool] = lambda: True,
) -> dict[str, int]:
    """Deletes the expired rows of each table in batches, while `keep_going` returns true. Returns the number per table."""
    deleted = dict.fromkeys((table.label for table in tables), 0)
    for table in tables:
        statement = SQL(
            "delete from {table} where ctid = any(array("
            "select ctid from {table} where {expired} limit {batch} for update skip locked))"
        ).format(table=Identifier(table.table), expired=SQL(table.expired), batch=BATCH_ROWS)
        while keep_going():
            count = await database.execute(statement, {"run_log_days": run_log_days})
            deleted[table.label] += count
            if count < BATCH_ROWS:
                break
    return deleted
