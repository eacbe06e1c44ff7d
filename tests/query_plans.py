"""How Postgres runs a statement, for tests that hold a search to its indexes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg

Connection = psycopg.Connection[Any]


def plans(connection: Connection, query: LiteralString, parameters: Sequence[Any]) -> str:
    """The plans of all statements that `query` runs, those inside functions included."""
    notices: list[str] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        notices.append(diagnostic.message_primary or "")

    connection.execute("load 'auto_explain'")
    for name, value in [("log_min_duration", "0"), ("log_nested_statements", "on"), ("log_level", "notice")]:
        connection.execute("select set_config(%s, %s, false)", [f"auto_explain.{name}", value])
    connection.add_notice_handler(note)
    connection.execute(query, parameters)
    connection.remove_notice_handler(note)
    connection.execute("select set_config('auto_explain.log_min_duration', '-1', false)")
    return "\n".join(notices)


def scans(plan: str) -> set[str]:
    """How a plan reads its tables: "Seq Scan on motions", "Index Scan using motions_pkey" …"""
    return set(re.findall(r"(?:Seq Scan on|Index (?:Only )?Scan using|Bitmap Index Scan on) \w+", plan))
