"""Faults of tables that are not ours, as opposed to a database that does not answer."""

from __future__ import annotations

from collections.abc import Awaitable

from psycopg import Error as PostgresError

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable, QuarryError

_NOT_ANSWERING = ("08", "53", "57P")
"""Beginnings of the error codes of a server that is gone, full, or going down."""

_IN_PASSING = ("25", "40", "55", "57", "58")
"""Beginnings of the codes of what another moment may mend: a conflict, a lock, a statement that took too long."""

UNREADABLE = (DatabaseUnavailable, ConfigurationError, PostgresError)
"""What reading a table that is not ours may raise, whatever is wrong with it or with the database."""


def lasting_fault(error: Exception) -> PostgresError | None:
    """What Postgres found wrong with a source and will find wrong again; None where the fault may be another."""
    cause = error.__cause__ if isinstance(error, QuarryError) else error
    if not isinstance(cause, PostgresError) or cause.sqlstate is None:
        return None
    return None if cause.sqlstate.startswith(_NOT_ANSWERING + _IN_PASSING) else cause


async def lasting_fault_of(work: Awaitable[object], no_fault: tuple[type[QuarryError], ...]) -> PostgresError | None:
    """The lasting fault that some work meets; None where it meets none, or raises one of `no_fault`, whatever caused that. Other
    errors are raised.
    """
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
    """What Postgres says is wrong with a source; None where it is the database that does not answer."""
    cause = error.__cause__ if isinstance(error, QuarryError) else error
    if not isinstance(cause, PostgresError) or cause.sqlstate is None or cause.sqlstate.startswith(_NOT_ANSWERING):
        return None
    return cause.diag.message_primary or type(cause).__name__
