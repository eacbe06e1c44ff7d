"""`quarry index`: verifies that derived search data matches the data, and rebuilds it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from itertools import chain

from quarry import catalog
from quarry.collections.apply import stored_collections
from quarry.collections.upkeep import embedded_tables, read_collections
from quarry.local.cli.command import WrongUsage
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
    """Prints every difference. Returns whether there is none. `table`: a loadable table or a collection; None: all.

    Raises WrongUsage, DatabaseUnavailable.
    """
    differences = _differences(database, _derived(database, table))
    _report(differences, as_json=as_json)
    return not differences


def rebuild(database: LocalDatabase, table: str | None, *, as_json: bool) -> bool:
    """Rebuilds everything, then prints remaining differences. Returns whether there are none. Vectors are only rebuilt if they
    differ.

    Raises WrongUsage, DatabaseUnavailable, ConfigurationError if the vectors are another model's.
    """
    derived = _derived(database, table)
    _rebuild(database, [each for each in derived if not is_statistics(each)])
    asyncio.run(_embed(database, table))
    # also for the new vectors
    _rebuild(database, [each for each in derived if is_statistics(each)])
    return verify(database, table, as_json=as_json)


def _derived(database: LocalDatabase, table: str | None) -> list[Derived]:
    """The derived data of all tables and collections, or of the one named."""
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
    """Embeds waiting rows. If the model fails, they remain differences."""
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
