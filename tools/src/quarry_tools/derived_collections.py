"""Data derived from the owner's tables: the words and vectors of a collection, compared with its source."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import psycopg
from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.collections.collection import Collection
from quarry.collections.facets import embedded_table
from quarry.collections.functions import BATCH_KEYS, VALUES_AS_TEXT
from quarry.postgres.schema import SyncConnection
from quarry_tools.derived import Statistics, Values, Vectors, Words, counted, counts
from quarry_tools.difference import Derived, Difference, trusted
from quarry_tools.schema_indexes import Indexes

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
    """All data derived from a collection; dependencies come first. For one that is only counted, its values."""
    if not collection.declaration.is_searched:
        return [_Called(collection.name, Values(collection.rows, is_exact=False))]
    embedded = [embedded_table(collection)] if collection.declaration.embedded else []
    tables = (collection.rows, collection.windows)
    found: list[Derived] = [
        SideRows(collection), Values(collection.rows, is_exact=False), Words(collection.rows), *map(Vectors, embedded),
        *map(Indexes, tables), *map(Statistics, tables),
    ]  # fmt: skip
    # one difference is enough for a missing source
    return [_Called(collection.name, each) for each in (found if all(collection.source) else found[:1])]


def is_statistics(derived: Derived) -> bool:
    """Whether it is Postgres' statistics of a table, which are gathered last."""
    return isinstance(derived.derived if isinstance(derived, _Called) else derived, Statistics)


@dataclass(frozen=True)
class _Called:
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
            found = counts(connection, SQL(_DIFFERENCES), self._parts())
        told = {
            "rows that are not searched": found["missing"],
            "rows that are searched as they were": found["outdated"] + found["spoilt"],
            "rows that are gone and still searched": found["gone"],
        }
        yield from counted(self.of.name, told, "{}")

    def rebuild(self, connection: SyncConnection) -> None:
        with connection.transaction():
            self._take_settings(connection)
            connection.execute(SQL(_SPOILT).format(**self._parts()))
            self._compare(connection)
        while (taken := self._call(connection, "refresh_rows", BATCH_KEYS)) != 0:
            if taken is None:  # another process is working on it
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
