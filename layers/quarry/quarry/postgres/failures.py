"""Errors of psycopg as the service reports them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolTimeout

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable, QuarryError
from quarry.postgres.certificates import untrusted

NOT_MIGRATED = "The database lacks a table or function: run `quarry migrate`."


POOLED_UNAWARES = "A pooler stands before the database, and mixes prepared statements up: set DATABASE_POOLED=true."


MISSING_SCHEMA = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedColumn)


_MIXED_UP_STATEMENTS = (psycopg.errors.DuplicatePreparedStatement, psycopg.errors.InvalidSqlStatementName)


_UNAVAILABLE = (
    PoolTimeout,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.TransactionTimeout,
)


_REASONS: Mapping[type[Exception], str] = {
    psycopg.errors.QueryCanceled: "The database took too long; try again, or ask for less.",
    psycopg.errors.LockNotAvailable: "What this needs in the database is being changed; try again shortly.",
    psycopg.errors.ReadOnlySqlTransaction: "The database takes no changes at the moment; try again shortly.",
    psycopg.errors.DiskFull: "The database has no room left on its disk; try again when there is.",
}


def translate(error: Exception) -> QuarryError | None:
    """Our error for one of psycopg's, or None where it is a fault in our own code."""
    if isinstance(error, MISSING_SCHEMA):
        return ConfigurationError(NOT_MIGRATED)
    if isinstance(error, _MIXED_UP_STATEMENTS):
        return ConfigurationError(POOLED_UNAWARES)
    if isinstance(error, psycopg.OperationalError) and (ours := untrusted(error)):
        return ours
    if isinstance(error, _UNAVAILABLE):
        reason = _REASONS.get(type(error))
        return DatabaseUnavailable(reason) if reason else DatabaseUnavailable()
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Errors of psycopg leave the block as `translate` has them."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        ours = translate(error)
        if ours is None:
            raise
        raise ours from error
