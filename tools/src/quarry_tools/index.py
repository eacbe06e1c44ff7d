"""`quarry index`: verifies that derived search data matches the data, and rebuilds it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain

import psycopg
from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry import catalog
from quarry.collections.apply import read_collections, stored_collections
from quarry.collections.collection import Collection
from quarry.collections.facets import embedded_table
from quarry.collections.upkeep import BATCH_KEYS, VALUES_AS_TEXT, embedded_tables
from quarry.local.cli.command import WrongUsage
from quarry.local.data import embed_waiting
from quarry.local.database import LocalDatabase
from quarry.local.output import write_json
from quarry.local.terminal import make_console, progress_bar, write_table
from quarry.postgres.schema import SyncConnection
from quarry_tools.derived import (
    Derived,
    Difference,
    Indexes,
    Statistics,
    Values,
    Vectors,
    Words,
    counts,
    derived_of,
    differences_of,
    trusted,
)


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
    with database.connect() as connection:
        collections = stored_collections(connection)
    if table is not None and table not in catalog.LOADABLE and table not in collections:
        raise WrongUsage(f"there is no table {table!r}, but {', '.join((*catalog.LOADABLE, *collections))}")
    own = derived_of(table) if table is None or table in catalog.LOADABLE else []
    selected = [each for name, each in collections.items() if table in (None, name)]
    return [*own, *chain.from_iterable(map(derived_of_collection, selected))]


def _rebuild(database: LocalDatabase, derived: Sequence[Derived]) -> None:
    with progress_bar("rebuilding", len(derived)) as bar, database.connect() as connection:
        for each in derived:
            each.rebuild(connection)
            bar.advance(1)


def _differences(database: LocalDatabase, derived: Sequence[Derived]) -> list[Difference]:
    differences: list[Difference] = []
    with progress_bar("verifying", len(derived)) as bar, database.connect() as connection:
        for each in derived:
            differences += each.verify(connection)
            bar.advance(1)
    return differences


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
        report = {"ok": not differences, "differences": [asdict(each) for each in differences]}
        write_json(report)
    elif differences:
        rows = [(each.table, f"{each.count:,}", each.detail) for each in differences]
        write_table(make_console(), ("table", "count ", "what differs"), rows)
    else:
        print("nothing differs")


_BUSY_SECONDS = 0.1

_DIFFERING = """
select distinct q.key from collection_changes q
where q.collection = {number} and q.key is not null and q.at = now() and not exists (
  select from collection_changes e where e.collection = {number} and e.key = q.key and e.at < now())
"""
"""The keys that the comparison found in this transaction, without those that were recorded before and wait to be read."""

_DIFFERENCES = """
select count(*) filter (where r.id is null) as missing,
  count(*) filter (where r.id is not null and {is_there}) as outdated,
  count(*) filter (where r.id is not null and not {is_there}) as gone,
  (select count(*) from {rows} r join {source} x on {has_key}
   where r.row_hash = {row_hash} and r.text_search is distinct from {document}) as spoilt
from ({differing}) d left join {rows} r on r.id = d.key
"""

_SPOILT = """
update {rows} r set row_hash = '' from {source} x
where {has_key} and r.row_hash = {row_hash} and r.text_search is distinct from {document}
"""


def derived_of_collection(collection: Collection) -> list[Derived]:
    """All data derived from a collection; dependencies come first. For one that is only differences_of, its values."""
    if not collection.declaration.is_searched:
        return [_OfCollection(collection.name, Values(collection.rows, is_exact=False))]
    embedded = [embedded_table(collection)] if collection.declaration.embedded else []
    tables = (collection.rows, collection.windows)
    parts: list[Derived] = [
        SideRows(collection), Values(collection.rows, is_exact=False), Words(collection.rows), *map(Vectors, embedded),
        *map(Indexes, tables), *map(Statistics, tables),
    ]  # fmt: skip
    # one difference is enough for a missing source
    return [_OfCollection(collection.name, each) for each in (parts if all(collection.source) else parts[:1])]


def is_statistics(derived: Derived) -> bool:
    """Whether it is Postgres' statistics of a table, which are gathered last."""
    return isinstance(derived.derived if isinstance(derived, _OfCollection) else derived, Statistics)


@dataclass(frozen=True)
class _OfCollection:
    """The derived data of a collection, reported under the collection's name. An unreadable source is a difference."""

    name: str
    derived: Derived

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        try:
            for each in self.derived.verify(connection):
                yield replace(each, table=self.name)
        except psycopg.DatabaseError as error:
            if isinstance(error, psycopg.OperationalError):
                raise
            yield Difference(self.name, f"cannot be compared: {error.diag.message_primary}", 1)

    def rebuild(self, connection: SyncConnection) -> None:
        try:
            self.derived.rebuild(connection)
        except psycopg.OperationalError:
            raise
        except psycopg.DatabaseError:
            return  # remains a difference


@dataclass(frozen=True)
class SideRows:
    """The rows by which a collection's words are found, compared with its source. Waiting changes are no differences."""

    of: Collection

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        with connection.transaction(force_rollback=True):
            self._compare(connection)
            rows = counts(connection, SQL(_DIFFERENCES), self._parts())
        details = {
            "rows that are not searched": rows["missing"],
            "rows that are searched as they were": rows["outdated"] + rows["spoilt"],
            "rows that are gone and still searched": rows["gone"],
        }
        yield from differences_of(self.of.name, details, "{}")

    def rebuild(self, connection: SyncConnection) -> None:
        with connection.transaction():
            self._take_settings(connection)
            connection.execute(SQL(_SPOILT).format(**self._parts()))
            self._compare(connection)
        while (refreshed := self._call(connection, "refresh_rows", BATCH_KEYS)) != 0:
            if refreshed is None:  # another process is working on it
                time.sleep(_BUSY_SECONDS)

    def _compare(self, connection: SyncConnection) -> None:
        self._take_settings(connection)
        self._call(connection, "queue_differences", None)

    def _take_settings(self, connection: SyncConnection) -> None:
        for name, value in VALUES_AS_TEXT.items():
            connection.execute("select set_config(%s, %s, true)", [name, value])

    def _call(self, connection: SyncConnection, name: str, argument: int | None) -> int | None:
        function = Identifier(f"{name}_{self.of.id}")
        row = connection.execute(SQL("select {}({})").format(function, Literal(argument))).fetchone()
        assert row is not None
        return None if row[0] is None else int(row[0])

    def _parts(self) -> dict[str, Composable]:
        of = self.of
        number = Literal(of.id)
        return {
            "differing": SQL(_DIFFERING).format(number=number),
            "rows": Identifier(of.rows),
            "source": trusted(of.source_sql),
            "has_key": trusted(of.has_key("r.id")),
            "is_there": trusted(f"exists (select from {of.source_sql} x where {of.has_key('r.id')})"),
            "row_hash": trusted(of.row_hash),
            "document": trusted(of.document),
        }
