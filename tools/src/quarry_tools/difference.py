"""Derived data, and how it can differ from its sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from psycopg.sql import SQL

from quarry.postgres.schema import SyncConnection


@dataclass(frozen=True)
class Difference:
    """A kind of deviation from the sources, which occurs `count` times."""

    table: str
    detail: str
    count: int


class Derived(Protocol):
    """One kind of derived data, of one table."""

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        """Yields the differences. Changes nothing."""

    def rebuild(self, connection: SyncConnection) -> None:
        """Rebuilds it. What needs a model is marked as waiting for it."""


def trusted(text: str) -> SQL:
    """SQL that Postgres or a file of ours wrote, not a caller."""
    return SQL(text)
