"""Something that is derived, and how it may differ from what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from psycopg.sql import SQL

from quarry.postgres.schema import SyncConnection


@dataclass(frozen=True)
class Difference:
    """Something that is not as its sources have it, `count` times."""

    table: str
    detail: str
    count: int


class Derived(Protocol):
    """One kind of what is derived, of one table."""

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        """What differs. Changes nothing."""

    def rebuild(self, connection: SyncConnection) -> None:
        """Make it anew. What only a model can make is marked as waiting for it."""


def trusted(text: str) -> SQL:
    """SQL that Postgres or a file of ours wrote, not a caller."""
    return SQL(text)
