"""How Postgres reads tables for a statement, for tests that an index is used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Reads:
    """The indexes that a statement uses, in any way, and the tables that it reads completely."""

    indexes: frozenset[str]
    whole: frozenset[str]


def reads(
    connection: Connection, of: str, query: LiteralString, parameters: Sequence[Any] | Mapping[str, Any]
) -> Reads:
    """How `query`, and every statement in the functions it calls, reads the tables whose names start with `of`.

    These tables are analysed first: a plan from older statistics proves nothing.
    """
    tables = connection.execute(
        "select relname from pg_class where relkind = 'r' and starts_with(relname, %s)", [of]
    ).fetchall()
    connection.execute(SQL("analyze {}").format(SQL(", ").join(Identifier(name) for (name,) in tables)))
    plan = plans(connection, query, parameters)
    return Reads(
        frozenset(re.findall(rf"(?:Index (?:Only )?Scan(?: Backward)? using|Bitmap Index Scan on) ({of}\w*)", plan)),
        frozenset(re.findall(rf"Seq Scan on ({of}\w*)", plan)),
    )


def plans(connection: Connection, query: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> str:
    """The plans of `query` and of every statement in the functions it calls, including its triggers'."""
    notices: list[str] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        notices.append(diagnostic.message_primary or "")

    connection.execute("load 'auto_explain'")
    for name, value in [
        ("log_min_duration", "0"),
        ("log_nested_statements", "on"),
        ("log_level", "notice"),
    ]:
        connection.execute("select set_config(%s, %s, false)", [f"auto_explain.{name}", value])
    connection.add_notice_handler(note)
    connection.execute(query, parameters)
    connection.remove_notice_handler(note)
    connection.execute("select set_config('auto_explain.log_min_duration', '-1', false)")
    return "\n".join(notices)
