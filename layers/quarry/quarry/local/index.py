"""`quarry index`: whether what search reads is still what the data says, and making it anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict

from quarry import catalog
from quarry.core.postgres.migrate import connect
from quarry.core.postgres.schema import SyncConnection
from quarry.local.data import embed_waiting
from quarry.local.database import LocalDatabase
from quarry.local.derived import Statistics, derived_of
from quarry.local.difference import Derived, Difference
from quarry.local.terminal import make_console, progress_bar, write_table


def verify(database: LocalDatabase, table: str | None, *, as_json: bool) -> bool:
    """Tell every difference; whether there is none. Raises DatabaseUnavailable."""
    differences = _differences(database, derived_of(table))
    _report(differences, as_json=as_json)
    return not differences


def rebuild(database: LocalDatabase, table: str | None, *, as_json: bool) -> bool:
    """Make all anew, then tell what differs still; whether nothing does. Vectors are made only where they are not as they should.

    Raises DatabaseUnavailable, ConfigurationError when the vectors are another model's.
    """
    derived = derived_of(table)
    statistics = [each for each in derived if isinstance(each, Statistics)]
    _rebuild(database, [each for each in derived if not isinstance(each, Statistics)])
    asyncio.run(_embed(database, [name for name in catalog.EMBEDDED if table in (None, name)]))
    # of the new vectors too
    _rebuild(database, statistics)
    return verify(database, table, as_json=as_json)


def _rebuild(database: LocalDatabase, derived: Sequence[Derived]) -> None:
    with progress_bar("rebuilding", len(derived)) as bar, _connected(database) as connection:
        for each in derived:
            each.rebuild(connection)
            bar.advance(1)


def _differences(database: LocalDatabase, derived: Sequence[Derived]) -> list[Difference]:
    found: list[Difference] = []
    with progress_bar("verifying", len(derived)) as bar, _connected(database) as connection:
        for each in derived:
            found += each.verify(connection)
            bar.advance(1)
    return found


def _connected(database: LocalDatabase) -> AbstractContextManager[SyncConnection]:
    return connect(database.url, database.settings.database_schema)


async def _embed(database: LocalDatabase, names: Sequence[str]) -> None:
    """Embed what waits. Of a model that fails, what it was to make stays a difference."""
    async with database.services() as services:
        await embed_waiting(services, [catalog.EMBEDDED[name] for name in names])


def _report(differences: Sequence[Difference], *, as_json: bool) -> None:
    if as_json:
        told = {"ok": not differences, "differences": [asdict(each) for each in differences]}
        print(json.dumps(told, ensure_ascii=False, indent=2))
    elif differences:
        rows = [(each.table, f"{each.count:,}", each.detail) for each in differences]
        write_table(make_console(), ("table", "count ", "what differs"), rows)
    else:
        print("nothing differs")
