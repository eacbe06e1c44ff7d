"""The one door to Postgres: a pool opened on first use, and psycopg's errors turned into ours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, Self

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Composed
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from quarry.core.errors import ConfigurationError, DatabaseUnavailable, QuarryError
from quarry.core.secrets import Secret

Parameters = Mapping[str, Any] | Sequence[Any]
Query = LiteralString | SQL | Composed
Connection = psycopg.AsyncConnection[DictRow]
Address = str | Secret | Callable[[], str]
"""The URL of a database, or what tells it."""

CONNECT_TIMEOUT_SECONDS = 3
IDLE_SECONDS = 300

NOT_MIGRATED = "The database lacks a table or function: run `quarry migrate`."
MISSING_SCHEMA = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedColumn)

logger = logging.getLogger(__name__)


def translate(error: Exception) -> QuarryError | None:
    """Our error for one of psycopg's, or None where it is a fault in our own code."""
    if isinstance(error, psycopg.errors.QueryCanceled):
        return DatabaseUnavailable("The database took too long; try again, or ask for less.")
    if isinstance(error, MISSING_SCHEMA):
        return ConfigurationError(NOT_MIGRATED)
    if isinstance(
        error, PoolTimeout | psycopg.OperationalError | psycopg.InterfaceError | psycopg.errors.ReadOnlySqlTransaction
    ):
        return DatabaseUnavailable()
    return None


class Database:
    """Postgres for one process. Nothing connects before the first query.

    A secret is read for each new connection, and anew when Postgres does not accept the password that it held. A function
    is asked for each new connection, too: a server that was started again may be on another port.

    Every method raises DatabaseUnavailable when Postgres does not answer, ConfigurationError when it was not migrated.
    """

    def __init__(self, url: Address, *, pool_size: int, timeout_seconds: float, pooled: bool = False) -> None:
        self._url = url
        self._pool_size = pool_size
        self._timeout_seconds = timeout_seconds
        self._pooled = pooled
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection in autocommit mode, given back at the end."""
        try:
            pool = await self._open_pool()
            async with pool.connection() as connection:
                yield connection
        except (psycopg.Error, PoolTimeout) as error:
            translated = translate(error)
            if translated is None:
                raise
            raise translated from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction: committed at the end, rolled back by an exception."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    async def rows(self, query: Query, parameters: Parameters | None = None) -> list[DictRow]:
        """All rows of one statement."""
        async with self.connection() as connection:
            cursor = await connection.execute(query, parameters)
            return await cursor.fetchall()

    async def row(self, query: Query, parameters: Parameters | None = None) -> DictRow | None:
        """The first row of one statement, or None."""
        rows = await self.rows(query, parameters)
        return rows[0] if rows else None

    async def execute(self, query: Query, parameters: Parameters | None = None) -> int:
        """Run one statement; how many rows it touched."""
        async with self.connection() as connection:
            return (await connection.execute(query, parameters)).rowcount

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def _open_pool(self) -> AsyncConnectionPool[Connection]:
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    pool = self._make_pool()
                    await pool.open()
                    self._pool = pool
        return self._pool

    async def _conninfo(self) -> str:
        url = await self._url_now()
        if self._pooled:
            # A transaction pooler hands one server session to many clients and refuses start-up options.
            return url
        own = conninfo_to_dict(url).get("options") or ""
        return make_conninfo(url, options=f"{own} -c statement_timeout={int(self._timeout_seconds * 1000)}".strip())

    async def _url_now(self) -> str:
        if isinstance(self._url, Secret):
            return await self._url.read()
        return self._url if isinstance(self._url, str) else self._url()

    def _connection_class(self) -> type[Connection]:
        """Connections that outlive a rotated password."""
        if not isinstance(self._url, Secret):
            return Connection
        secret, conninfo_now = self._url, self._conninfo

        class RotatedConnection(psycopg.AsyncConnection[DictRow]):
            @classmethod
            async def connect(cls, conninfo: str = "", **options: Any) -> Self:
                try:
                    return await super().connect(conninfo, **options)
                except psycopg.OperationalError as error:
                    if not (error.pgconn and error.pgconn.used_password):
                        raise
                    logger.warning("the database refused the password; reading its secret anew")
                secret.forget()
                return await super().connect(await conninfo_now(), **options)

        return RotatedConnection

    def _make_pool(self) -> AsyncConnectionPool[Connection]:
        return AsyncConnectionPool(
            self._conninfo,
            connection_class=self._connection_class(),
            min_size=0,
            max_size=self._pool_size,
            max_idle=IDLE_SECONDS,
            timeout=CONNECT_TIMEOUT_SECONDS,
            # Give a failed connection up at once: the next request tries anew, so service is back when Postgres is.
            reconnect_timeout=0.5,
            check=AsyncConnectionPool.check_connection,
            open=False,
            name="quarry",
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "connect_timeout": CONNECT_TIMEOUT_SECONDS,
                "application_name": "quarry",
                "prepare_threshold": None if self._pooled else 5,
            },
        )
