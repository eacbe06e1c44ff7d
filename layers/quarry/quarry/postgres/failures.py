"""Errors of psycopg, translated into ours."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg import Error as PostgresError
from psycopg_pool import PoolTimeout

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable, Forbidden, QuarryError
from quarry.postgres.rds import untrusted

NOT_MIGRATED = "The database lacks a table or function: run `quarry migrate`."

POOLED_UNAWARES = "A connection pooler mixes up prepared statements: set DATABASE_POOLED=true."

MISSING_SCHEMA = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedColumn)

QUOTA_REACHED = "QT001"
"""The code of what `check_rows` raises."""

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
    psycopg.errors.LockNotAvailable: "The database is being changed; try again shortly.",
    psycopg.errors.ReadOnlySqlTransaction: "The database is read-only at the moment; try again shortly.",
    psycopg.errors.DiskFull: "The disk of the database is full; try again when there is space.",
}


def translate(error: Exception) -> QuarryError | None:
    """Our error for one of psycopg's, or None if it is a bug of ours."""
    if isinstance(error, MISSING_SCHEMA):
        return ConfigurationError(NOT_MIGRATED)
    if isinstance(error, _MIXED_UP_STATEMENTS):
        return ConfigurationError(POOLED_UNAWARES)
    if isinstance(error, psycopg.Error) and error.sqlstate == QUOTA_REACHED:
        return Forbidden(error.diag.message_primary or "")
    if isinstance(error, psycopg.OperationalError) and (ours := untrusted(error)):
        return ours
    if isinstance(error, _UNAVAILABLE):
        return DatabaseUnavailable(_REASONS.get(type(error)))
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Translate psycopg's errors of the block."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        ours = translate(error)
        if ours is None:
            raise
        raise ours from error


_NOT_ANSWERING = ("08", "53", "57P")
"""Beginnings of the error codes of a server that is gone, full, or going down."""

_IN_PASSING = ("25", "40", "55", "57", "58")
"""Beginnings of the codes of transient errors: a conflict, a lock, a statement that took too long."""

UNREADABLE = (DatabaseUnavailable, ConfigurationError, PostgresError)
"""All errors of reading a table that is not ours."""


def lasting_fault(error: Exception) -> PostgresError | None:
    """Postgres' error about a source if it will occur again; else None."""
    cause = error.__cause__ if isinstance(error, QuarryError) else error
    if not isinstance(cause, PostgresError) or cause.sqlstate is None:
        return None
    return None if cause.sqlstate.startswith(_NOT_ANSWERING + _IN_PASSING) else cause


async def lasting_fault_of(work: Awaitable[object], no_fault: tuple[type[QuarryError], ...]) -> PostgresError | None:
    """The lasting fault that `work` meets; None if there is none, or it raises one of `no_fault`. Other errors are raised."""
    try:
        await work
    except no_fault:
        return None
    except (PostgresError, QuarryError) as error:
        fault = lasting_fault(error)
        if fault is None:
            raise
        return fault
    return None


def fault_of_source(error: Exception) -> str | None:
    """Postgres' message about a source; None if the database does not answer."""
    cause = error.__cause__ if isinstance(error, QuarryError) else error
    if not isinstance(cause, PostgresError) or cause.sqlstate is None or cause.sqlstate.startswith(_NOT_ANSWERING):
        return None
    return cause.diag.message_primary or type(cause).__name__
