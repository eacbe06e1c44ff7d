"""Whether the fields of a declared table can be read: each is tried on a few rows before it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from psycopg.errors import Error as PostgresError
from psycopg.errors import QueryCanceled
from psycopg.sql import SQL

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.facets import DATE
from quarry.postgres.schema import SyncConnection, is_installed
from quarry.schema.source import Source

ROWS_READ = 20
"""How many rows are read."""
_NO_FUNCTION = "does not exist"
READ_SECONDS = 5
"""The time limit of reading them. A slower view is not judged."""


def unreadable_fields(connection: SyncConnection, schema: str, source: Source) -> dict[str, str]:
    """Postgres' reason for each field of a source that cannot be read. Empty where its rows cannot be read at all.

    `schema` is Quarry's. Before a database is migrated, fields that need a function of Quarry are not judged.
    """
    own = {name: field.sql("r") for name, field in source.fields.items() if field.related is None}
    if not own or _problem(connection, source, [*own.values()]) is None or _problem(connection, source, ()) is not None:
        return {}
    found = {name: _problem(connection, source, [sql]) for name, sql in own.items()}
    is_migrated = is_installed(connection, schema)
    return {
        name: problem for name, problem in found.items() if problem and (is_migrated or _NO_FUNCTION not in problem)
    }


def _problem(connection: SyncConnection, source: Source, fields: Sequence[LiteralString]) -> str | None:
    shown = SQL(", ").join(map(SQL, fields or ("1",)))
    read = SQL("select {} from {} r limit {}").format(shown, SQL(source.rows), ROWS_READ)
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(SQL("set local statement_timeout = {}").format(READ_SECONDS * 1000))
            connection.execute(read)
    except QueryCanceled:
        return None
    except PostgresError as error:
        return error.diag.message_primary or error.__class__.__name__
    return None


def columns_of_field(declared: CollectionDeclaration, name: str) -> tuple[str, ...]:
    """The columns of its own table that a field is read from."""
    facet = declared.facets.get(name)
    if facet is not None:
        return facet.used_columns or (name,)
    return (declared.date,) if name == DATE and declared.date else (name,)
