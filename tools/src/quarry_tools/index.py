"""`quarry index`: whether what search reads is still what the data says, and making it anew."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from itertools import chain

from quarry import catalog
from quarry.collections.apply import stored_collections
from quarry.collections.upkeep import embedded_tables, read_collections
from quarry.local.cli.parsing import WrongUsage
from quarry.local.data import embed_waiting
from quarry.local.database import LocalDatabase
from quarry.local.telling import write_json
from quarry.local.terminal import make_console, progress_bar, write_table
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry_tools.derived import derived_of
from quarry_tools.derived_collections import derived_of_collection, is_statistics
from quarry_tools.difference import Derived, Difference


def verify(database: LocalDatabase, table: str | None, *, as_json: bool) -> bool:
    """Tell every difference; whether there is none. `table`: one that files are loaded into, or a collection; None: all.

    Raises WrongUsage, DatabaseUnavailable.
    """
    differences = _differences(database, _derived(database, table))
    _report(differences, as_json=as_json)
    return not differences


def rebuild(database: LocalDatabase, table: str | None, *, as_json: bool) -> bool:
    """Make all anew, then tell what differs still; whether nothing does. Vectors are made only where they are not as they should.

    Raises WrongUsage, DatabaseUnavailable, ConfigurationError when the vectors are another model's.
    """
    derived = _derived(database, table)
    _rebuild(database, [each for each in derived if not is_statistics(each)])
    asyncio.run(_embed(database, table))
    # of the new vectors too
    _rebuild(database, [each for each in derived if is_statistics(each)])
    return verify(database, table, as_json=as_json)


def _derived(database: LocalDatabase, table: str | None) -> list[Derived]:
    """What is derived of all tables and collections, or of those of one name."""
    with _connected(database) as connection:
        collections = stored_collections(connection)
    if table is not None and table not in catalog.LOADABLE and table not in collections:
        raise WrongUsage(f"there is no table {table!r}, but {', '.join((*catalog.LOADABLE, *collections))}")
    own = derived_of(table) if table is None or table in catalog.LOADABLE else []
    chosen = [each for name, each in collections.items() if table in (None, name)]
    return [*own, *chain.from_iterable(map(derived_of_collection, chosen))]


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


async def _embed(database: LocalDatabase, table: str | None) -> None:
    """Embed what waits. Of a model that fails, what it was to make stays a difference."""
    async with database.services() as services:
        collections = [
            each for name, each in (await read_collections(services.database)).items() if table in (None, name)
        ]
        own = [each for name, each in catalog.EMBEDDED.items() if table in (None, name)]
        await embed_waiting(services, [*own, *embedded_tables(collections)])


def _report(differences: Sequence[Difference], *, as_json: bool) -> None:
    if as_json:
        told = {"ok": not differences, "differences": [asdict(each) for each in differences]}
        write_json(told)
    elif differences:
        rows = [(each.table, f"{each.count:,}", each.detail) for each in differences]
        write_table(make_console(), ("table", "count ", "what differs"), rows)
    else:
        print("nothing differs")
