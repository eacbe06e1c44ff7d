"""Remembers which files a table was loaded from: where Quarry numbers the rows, loading a file twice would duplicate them."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from quarry.files.records import UnreadableFile
from quarry.postgres.schema import SyncConnection

TableName = tuple[str, str]


@dataclass
class LoadedFile:
    """A file: its name, the number of its rows, and a hash of them in order."""

    name: str
    rows: int = 0
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add(self, record: str) -> None:
        """Add a row, as JSON."""
        self.rows += 1
        self._hash.update(record.encode())
        self._hash.update(b"\n")

    @property
    def digest(self) -> bytes:
        return self._hash.digest()


def refuse_known(connection: SyncConnection, table: TableName, files: Sequence[LoadedFile]) -> None:
    """Refuse files that the table already holds, in this state or an earlier one. Raises UnreadableFile."""
    seen: dict[bytes, str] = {}
    for file in files:
        if file.digest in seen:
            raise UnreadableFile(f"{file.name}: holds the rows of {seen[file.digest]}: --append adds them twice")
        seen[file.digest] = file.name
        known = connection.execute(
            """select digest = %(digest)s, name, rows, loaded_at from loaded_files
               where (table_schema, table_name) = (%(schema)s, %(table)s) and (digest = %(digest)s or name = %(name)s)
               order by 1 desc, loaded_at desc limit 1""",
            {"digest": file.digest, "schema": table[0], "table": table[1], "name": file.name},
        ).fetchone()
        if known:
            raise UnreadableFile(_why(file.name, table, *known))


def _why(name: str, table: TableName, is_same: bool, before: str, rows: int, at: datetime.datetime) -> str:
    loaded = f"{name}: its {rows:,} rows were loaded into {table[1]} on {at.date()}"
    if is_same and before != name:
        loaded += f" from {before}"
    changed = "" if is_same else ", but its content has changed"
    return f"{loaded}{changed}: --append adds them again, --replace replaces all rows of {table[1]}"


def remember(connection: SyncConnection, table: TableName, files: Sequence[LoadedFile], *, alone: bool) -> None:
    """Record that the table holds these files, and no others if `alone`."""
    if alone:
        connection.execute("delete from loaded_files where (table_schema, table_name) = (%s, %s)", table)
    with connection.cursor() as cursor:
        cursor.executemany(
            """insert into loaded_files (table_schema, table_name, digest, name, rows) values (%s, %s, %s, %s, %s)
               on conflict (table_schema, table_name, digest) do update
               set name = excluded.name, rows = excluded.rows, loaded_at = excluded.loaded_at""",
            [(*table, file.digest, file.name, file.rows) for file in files],
        )
