"""What is wrong with a table that is not ours, told from a database that does not answer."""

from __future__ import annotations

from psycopg import Error as PostgresError

from quarry.core.errors import QuarryError

_NOT_ANSWERING = ("08", "53", "57P")
"""Beginnings of the error codes of a server that is gone, full, or going down."""


def fault_of_source(error: Exception) -> str | None:
    """What Postgres says is wrong with a source; None where it is the database that does not answer."""
    cause = error.__cause__ if isinstance(error, QuarryError) else error
    if not isinstance(cause, PostgresError) or cause.sqlstate is None or cause.sqlstate.startswith(_NOT_ANSWERING):
        return None
    return cause.diag.message_primary or type(cause).__name__
