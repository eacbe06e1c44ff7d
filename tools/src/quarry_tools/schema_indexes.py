"""The indexes that a database should have according to its schema, and those it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from psycopg.sql import SQL, Composed, Identifier

from quarry.postgres.migrate import sql_directory
from quarry.postgres.schema import SyncConnection
from quarry_tools.difference import Difference, trusted


@dataclass(frozen=True)
class Index:
    """An index that a database should have. `rest` is the part of its statement after the table."""

    name: str
    table: str
    is_unique: bool
    rest: str

    def create(self) -> Composed:
        kind = SQL("create unique index" if self.is_unique else "create index")
        return SQL("{} concurrently {} on {} {}").format(
            kind, Identifier(self.name), Identifier(self.table), trusted(self.rest)
        )


_INDEX = re.compile(r"^CREATE (UNIQUE )?INDEX (\w+) ON (?:\w+\.)?(\w+) (USING .*);$", re.MULTILINE)
_LEFT_OVER = re.compile(r"_cc(?:new|old)\d*$")
_SCHEMA = re.compile(r"\b(?:public|quarry)\.")


def expected_indexes() -> list[Index]:
    """The indexes in `schema.sql`, in order, without those of partitioned tables, which contain nothing themselves.

    Raises ConfigurationError if the file is missing.
    """
    text = (sql_directory() / "schema.sql").read_text(encoding="utf-8")
    # the search path includes the schemas of our tables and of the extensions
    return [
        Index(name, table, bool(unique), _SCHEMA.sub("", rest)) for unique, name, table, rest in _INDEX.findall(text)
    ]


@dataclass(frozen=True)
class Indexes:
    """The indexes of a table, compared with the schema. An index is invalid if building it was interrupted."""

    table: str

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        for index in self._missing(connection):
            yield Difference(self.table, f"index {index.name} is missing", 1)
        for name in self._invalid(connection):
            yield Difference(self.table, f"index {name} is invalid", 1)

    def rebuild(self, connection: SyncConnection) -> None:
        for name in self._invalid(connection):
            # the remains of an interrupted index build are useless
            statement = "drop index concurrently {}" if _LEFT_OVER.search(name) else "reindex index concurrently {}"
            connection.execute(SQL(statement).format(Identifier(name)))
        for index in self._missing(connection):
            connection.execute(index.create())
        connection.execute(SQL("reindex table concurrently {}").format(Identifier(self.table)))

    def _missing(self, connection: SyncConnection) -> list[Index]:
        found = self._of_table(connection)
        return [index for index in expected_indexes() if index.table == self.table and index.name not in found]

    def _invalid(self, connection: SyncConnection) -> list[str]:
        return [name for name, is_valid in self._of_table(connection).items() if not is_valid]

    def _of_table(self, connection: SyncConnection) -> dict[str, bool]:
        """Whether each index of the table is valid, by name."""
        return dict(
            connection.execute(
                "select c.relname, i.indisvalid and i.indisready from pg_index i join pg_class c on c.oid = i.indexrelid"
                " where i.indrelid = %s::regclass order by 1",
                [self.table],
            ).fetchall()
        )
