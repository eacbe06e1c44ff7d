"""Vectors to and from Postgres: in binary, as pgvector's own types.

A connection can adapt them once it knows the type's oid in its database, whatever schema the extension is in. A new connection
reads it with its first message, to which HALFVEC_TYPE is appended.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from pgvector import HalfVector
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import AsyncCursor, BaseConnection, DataError
from psycopg.abc import Buffer
from psycopg.rows import DictRow
from psycopg.sql import SQL
from psycopg.types import TypeInfo
from psycopg.types.array import ListBinaryDumper
from psycopg.types.datetime import DateBinaryLoader, DateLoader

HALFVEC_TYPE = SQL(
    """;
select t.oid, t.typarray as array_oid
from pg_extension e
join pg_depend d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid
join pg_type t on d.classid = 'pg_type'::regclass and t.oid = d.objid and t.typname = 'halfvec'
where e.extname = 'vector'
"""
)


class HalfVectors(list[HalfVector | None]):
    """A parameter of type halfvec[]. A plain list would be sent as text."""


def half_vector(vector: Sequence[float] | None) -> HalfVector | None:
    """A parameter of type halfvec."""
    return None if vector is None else HalfVector(list(vector))


def half_vectors(vectors: Sequence[Sequence[float] | None]) -> HalfVectors | None:
    """A parameter of type halfvec[]; null if `vectors` has none, since its type would be unknown."""
    return HalfVectors(map(half_vector, vectors)) if any(vector is not None for vector in vectors) else None


def array_of_texts(texts: Sequence[str]) -> str:
    """A parameter of type text[], as Postgres writes it: for thousands of texts psycopg takes thirty times as long to."""
    quoted = "\0".join(texts).replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
    return f'{{"{quoted}"}}' if texts else "{}"


def knows_vectors(connection: BaseConnection[Any]) -> bool:
    """Whether `learn_vectors` has found the type on this connection."""
    return connection.adapters.types.get("halfvec") is not None


async def learn_vectors(connection: BaseConnection[Any], cursor: AsyncCursor[DictRow]) -> None:
    """Read the answer to HALFVEC_TYPE, the last result in `cursor`. Without the extension this does nothing."""
    while cursor.nextset():
        pass
    if found := await cursor.fetchone():
        register_halfvec_info(connection, TypeInfo("halfvec", found["oid"], found["array_oid"]))
        connection.adapters.register_dumper(HalfVectors, ListBinaryDumper)


class _Date(DateLoader):
    def load(self, data: Buffer) -> datetime.date | None:  # type: ignore[override]
        try:
            return super().load(data)
        except DataError:
            return None


class _BinaryDate(DateBinaryLoader):
    def load(self, data: Buffer) -> datetime.date | None:  # type: ignore[override]
        try:
            return super().load(data)
        except DataError:
            return None


def know_dates(connection: BaseConnection[Any]) -> None:
    """Read dates that Python cannot represent as None: one such row must not fail all others."""
    connection.adapters.register_loader("date", _Date)
    connection.adapters.register_loader("date", _BinaryDate)
