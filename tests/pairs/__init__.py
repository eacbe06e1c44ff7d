"""Databases of several trades, and questions about them with their answers."""

from __future__ import annotations

from pathlib import Path

DATABASES = Path(__file__).with_name("databases")


def database_sql(name: str) -> str:
    """The SQL that makes a database."""
    return (DATABASES / f"{name}.sql").read_text(encoding="utf-8")
