"""Calling a SQL function by name, arguments by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg.rows import DictRow
from psycopg.sql import SQL, Composed, Identifier, Placeholder

from quarry.postgres.pool import Database


def function_call(name: str, arguments: Sequence[str]) -> Composed:
    """`name(argument => %(argument)s, …)`; names are quoted as identifiers."""
    given = SQL(", ").join(
        SQL("{} => {}").format(Identifier(argument), Placeholder(argument)) for argument in arguments
    )
    return SQL("{}({})").format(Identifier(name), given)


async def call(database: Database, name: str, **arguments: Any) -> list[DictRow]:
    """The rows of `select * from name(argument => value, …)`."""
    return await database.rows(SQL("select * from {}").format(function_call(name, list(arguments))), arguments)
