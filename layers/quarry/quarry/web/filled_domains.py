"""Which domains hold data: what a deployment offers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from psycopg.sql import SQL, Composed, Identifier, Literal

from quarry.postgres.pool import Database

DOMAINS_KEPT_SECONDS = 60.0


DomainTables = Callable[[], Mapping[str, tuple[str, ...]]]
"""Tells the tables of each domain. Knowing them takes an import of what they are: it is asked when they are looked into."""


class FilledDomains:
    """The domains that hold data, looked up once a minute; one does when one of its tables holds a row."""

    def __init__(self, domain_tables: DomainTables) -> None:
        self._domain_tables = domain_tables
        self._found: WeakKeyDictionary[Database, tuple[float, list[str]]] = WeakKeyDictionary()

    async def of(self, database: Database) -> list[str]:
        found_at, domains = self._found.get(database, (float("-inf"), []))
        if time.monotonic() - found_at >= DOMAINS_KEPT_SECONDS:
            domains = await filled_domains(database, self._domain_tables())
            self._found[database] = time.monotonic(), domains
        return domains


async def filled_domains(database: Database, tables: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The domains that hold data, of those with these tables. Raises DatabaseUnavailable."""
    return sorted(row["domain"] for row in await database.rows(_query(tables)))


def _query(tables: Mapping[str, tuple[str, ...]]) -> Composed:
    return SQL(" union all ").join(
        SQL("select {} as domain where {}").format(
            Literal(domain),
            SQL(" or ").join(SQL("exists (select from {})").format(Identifier(table)) for table in names),
        )
        for domain, names in tables.items()
    )
