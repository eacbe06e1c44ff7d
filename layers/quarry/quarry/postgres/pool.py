"""The connection pool, opened on first use, and the translation of psycopg's errors and values.

Each transaction begins with a message that sets its timeouts and search path, and checks the connection. Nothing is set for the
session: behind a transaction pooler the next transaction may be another client's.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, LiteralString, Self, TypeVar, get_args

import psycopg
from pgvector import HalfVector
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import AsyncCursor, BaseConnection, DataError
from psycopg.abc import Buffer
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Composable, Composed, Identifier, Placeholder
from psycopg.sql import Literal as LiteralValue
from psycopg.types import TypeInfo
from psycopg.types.array import ListBinaryDumper
from psycopg.types.datetime import DateBinaryLoader, DateLoader
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.platform.secrets import Secret
from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.platform.telemetry import span
from quarry.postgres.connections import Address, address_at_node, checked, translated, untrusted
from quarry.postgres.schema import has_extensions, search_path_query

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
    if row := await cursor.fetchone():
        register_halfvec_info(connection, TypeInfo("halfvec", row["oid"], row["array_oid"]))
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


Parameters = Mapping[str, Any] | Sequence[Any]
Query = LiteralString | SQL | Composed
Connection = psycopg.AsyncConnection[DictRow]
T = TypeVar("T")
CONNECT_TIMEOUT_SECONDS = 3
IDLE_SECONDS = 300

SetAside = Literal["reserve", "background", "probe"]
"""The purposes of reserved connections; see the properties of Database."""

# Background work waits no longer for a locked table or a busy server.
_SOON = {"lock_timeout": "1s", "statement_timeout": "2s"}

# A server that disappeared is noticed within half a minute.
_KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}

_BEGIN = """
begin;
set local statement_timeout = {statement_ms};
set local lock_timeout = {lock_ms};
set local idle_in_transaction_session_timeout = {statement_ms}
"""

WAKING = "The database was paused and is waking; try again shortly."


logger = logging.getLogger(__name__)


class Database:
    """Postgres for one process. Nothing connects before the first query.

    Statements and idle transactions end after `timeout_seconds`, waits for locks after half of it. `url` may be a function or a
    secret, which each new connection reads; a secret is read again if its password is refused. `pooled` means that there is a
    transaction pooler, so that statements are not prepared. `schema` has Quarry's tables. `wake_seconds` is how long a paused
    database takes to answer. `sets_aside` adds a connection for each purpose of SetAside.

    Every method raises DatabaseUnavailable if Postgres does not answer, and ConfigurationError if it was not migrated or cannot
    prove its identity.
    """

    _keepalive: ClassVar[Mapping[str, int]] = _KEEPALIVE
    _set_aside: Mapping[SetAside, Database] = MappingProxyType({})

    def __init__(
        self,
        url: Address,
        *,
        pool_size: int,
        timeout_seconds: float,
        schema: str = DEFAULT_SCHEMA,
        pooled: bool = False,
        sets_aside: bool = False,
        wake_seconds: float = 0.0,
    ) -> None:
        self.schema = schema
        self._url = url
        self._pool_size = pool_size
        self._pooled = pooled
        self._begin_message = SQL(_BEGIN).format(
            statement_ms=max(1, int(timeout_seconds * 1000)), lock_ms=max(1, int(timeout_seconds * 500))
        )
        self._is_located = False
        self._like_this = partial(
            Database, timeout_seconds=timeout_seconds, schema=schema, pooled=pooled, wake_seconds=wake_seconds
        )
        if sets_aside:
            self._set_aside = {purpose: self._like_this(url, pool_size=1) for purpose in get_args(SetAside)}
        self._wake_seconds = wake_seconds
        self._asleep_since: float | None = None
        self._in_use = 0
        self._refused: ConfigurationError | None = None
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()

    @property
    def reserve(self) -> Database:
        """The same database over a reserved connection, for small work that must not wait behind searches: the page and shared
        answers. Without reserved connections, this database; the same holds for the next two.
        """
        return self.set_aside("reserve")

    @property
    def background(self) -> Database:
        """A reserved connection for background writes: runs and their events. It waits one second for a lock and two for a
        statement.
        """
        return self.set_aside("background").acting(_SOON)

    @property
    def probe(self) -> Database:
        """A reserved connection for health checks."""
        return self.set_aside("probe")

    def set_aside(self, purpose: SetAside) -> Database:
        """The same database over the connection that is reserved for this; this database if there is none."""
        return self._set_aside.get(purpose, self)

    def acting(self, settings: Mapping[str, str]) -> Database:
        """The same database over the same connections, with these settings in each transaction."""
        return _ActingDatabase(self, settings, self.schema)

    def within(self, schema: str) -> Database:
        """Another schema of the same database over the same connections: each transaction begins with its search path."""
        return _ActingDatabase(self, {}, schema)

    def at(self, node: str) -> Database:
        """The database of this name at another server, with connections of its own."""
        address = address_at_node(self._url, node)
        return self._like_this(address, pool_size=self._pool_size, sets_aside=bool(self._set_aside))

    @asynccontextmanager
    async def transaction(self, statement: Query | None = None) -> AsyncIterator[Connection]:
        """A connection in a transaction, which is committed at the end and rolled back by an exception. `statement` names it in
        traces. Longer work first changes its timeout by `set local`.
        """
        span_name = "transaction" if statement is None else partial(statement_name, statement)
        with (
            translated(),
            span(span_name, {"db.system.name": "postgresql", "db.namespace": self.schema}, kind="client"),
        ):
            async with self._connection() as connection:
                try:
                    yield connection
                except psycopg.errors.ReadOnlySqlTransaction:
                    # this session stays with a server that has become a standby; a new one finds the primary
                    await connection.close()
                    raise

    async def read(self, work: Callable[[Connection], Awaitable[T]], statement: Query | None = None) -> T:
        """The result of `work`, which reads in one transaction. With a replica it may run again from the start. `statement` is as
        in `transaction`.
        """
        async with self.transaction(statement) as connection:
            return await work(connection)

    async def rows(self, query: Query, parameters: Parameters | None = None) -> list[DictRow]:
        """All rows of one statement."""

        async def ask(connection: Connection) -> list[DictRow]:
            return await (await connection.execute(query, parameters)).fetchall()

        return await self.read(ask, query)

    async def call(self, function: str, **arguments: Any) -> list[DictRow]:
        """The rows of `select * from function(argument => value, …)`."""
        argument_list = SQL(", ").join(
            SQL("{} => {}").format(Identifier(name), Placeholder(name)) for name in arguments
        )
        return await self.rows(SQL("select * from {}({})").format(Identifier(function), argument_list), arguments)

    async def row(self, query: Query, parameters: Parameters | None = None) -> DictRow | None:
        """The first row of one statement, or None."""
        rows = await self.rows(query, parameters)
        return rows[0] if rows else None

    async def execute(self, query: Query, parameters: Parameters | None = None) -> int:
        """Run one statement; return how many rows it touched."""
        async with self.transaction(query) as connection:
            return (await connection.execute(query, parameters)).rowcount

    async def wake(self) -> None:
        """Wait for a paused database, up to twice as long as it usually takes: for work that no user waits for."""
        until = time.monotonic() + 2 * self._wake_seconds
        while True:
            try:
                await self.row("select 1 as one")
            except DatabaseUnavailable:  # after CONNECT_TIMEOUT_SECONDS
                if time.monotonic() >= until:
                    raise
            else:
                return

    async def close(self) -> None:
        for database in self._set_aside.values():
            await database.close()
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    @property
    def _patience_seconds(self) -> float:
        """How long to wait for a connection."""
        return CONNECT_TIMEOUT_SECONDS

    @property
    def _is_full(self) -> bool:
        """Whether all connections are in use."""
        return self._in_use >= self._pool_size

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        pool = await self._open_pool()
        requested_at = time.monotonic()
        try:
            async with pool.connection() as connection:
                self._asleep_since = self._refused = None
                self._in_use += 1
                try:
                    yield connection
                finally:
                    self._in_use -= 1
        except PoolTimeout as error:
            if self._refused is not None:
                raise self._refused from error
            # if connections are in use, the pool may just be full, and the database is awake
            if self._wake_seconds and not self._in_use:
                raise self._waking(requested_at) from error
            raise

    def _waking(self, requested_at: float) -> DatabaseUnavailable:
        """The error for a paused database that was asked at `requested_at`, with the remaining time until it is awake."""
        if self._asleep_since is None or requested_at - self._asleep_since > 4 * self._wake_seconds:  # an earlier pause
            self._asleep_since = requested_at
        rest = self._asleep_since + self._wake_seconds - time.monotonic()
        return DatabaseUnavailable(WAKING, retry_after_seconds=math.ceil(rest)) if rest > 0 else DatabaseUnavailable()

    async def _open_pool(self) -> AsyncConnectionPool[Connection]:
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    if isinstance(self._url, Secret):
                        await self._url.prepare()
                    pool = self._make_pool()
                    await pool.open()
                    self._pool = pool
        return self._pool

    async def _conninfo(self) -> str:
        with self._remember_refusals():
            if isinstance(self._url, Secret):
                return checked(await self._url.read())
            return checked(self._url if isinstance(self._url, str) else self._url())

    @contextmanager
    def _remember_refusals(self) -> Iterator[None]:
        """Keep errors that a retry would not fix for the waiting caller: the pool only logs them, and tries again."""
        try:
            yield
        except psycopg.OperationalError as error:
            self._refused = untrusted(error)
            raise
        except ConfigurationError as error:
            self._refused = error
            raise

    async def _begin(self, connection: Connection) -> None:
        try:
            # a pooler whose servers are all busy makes its clients wait here
            async with asyncio.timeout(self._patience_seconds):
                await self._send_begin(connection)
        except asyncio.CancelledError:
            # the caller has left: the pool would roll back as well, but with a warning
            with suppress(psycopg.Error):
                await connection.rollback()
            raise
        except psycopg.OperationalError:
            # a restarted server has broken all connections: trying them one by one would take longer than a request waits
            if connection.broken and self._pool is not None:
                await self._pool.drain()
            raise

    async def _send_begin(self, connection: Connection) -> None:
        """Send the first message of a transaction. The schemas of extensions are read once, since that is slow."""
        if knows_vectors(connection):
            await connection.execute(self._begin_message)
        else:
            await learn_vectors(connection, await connection.execute(self._begin_message + HALFVEC_TYPE))
        if self._is_located:
            return
        row = await (await connection.execute(search_path_query(self.schema))).fetchone()
        assert row is not None
        locate = SQL("set local search_path = " + row["search_path"])  # each name quoted by Postgres
        await connection.execute(locate)
        if has_extensions(row["search_path"]) and not self._is_located:  # by another connection
            self._begin_message += SQL(";\n") + locate
            self._is_located = True

    def _connection_class(self) -> type[Connection]:
        """A class of connections that reads a rotated password again, and keeps the reason of a refusal."""
        secret, conninfo_now, remember_refusals = self._url, self._conninfo, self._remember_refusals

        class OwnConnection(psycopg.AsyncConnection[DictRow]):
            @classmethod
            async def connect(cls, conninfo: str = "", **options: Any) -> Self:
                connection = await cls._connected(conninfo, **options)
                know_dates(connection)
                return connection

            @classmethod
            async def _connected(cls, conninfo: str, **options: Any) -> Self:
                with remember_refusals():
                    try:
                        return await super().connect(conninfo, **options)
                    except psycopg.OperationalError as error:
                        if not (isinstance(secret, Secret) and error.pgconn and error.pgconn.used_password):
                            raise
                        logger.warning("the database refused the password; reading its secret again")
                    secret.forget()
                    return await super().connect(await conninfo_now(), **options)

        return OwnConnection

    def _make_pool(self) -> AsyncConnectionPool[Connection]:
        return AsyncConnectionPool(
            self._conninfo,
            connection_class=self._connection_class(),
            min_size=0,
            max_size=self._pool_size,
            max_idle=IDLE_SECONDS,
            timeout=self._patience_seconds,
            # Give up a failed connection at once: the next request tries again, so service resumes with Postgres.
            reconnect_timeout=0.5,
            check=self._begin,
            open=False,
            name="quarry",
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "connect_timeout": CONNECT_TIMEOUT_SECONDS,
                "application_name": "quarry",
                "prepare_threshold": None if self._pooled else 5,
            }
            | dict(self._keepalive),
        )


class _ActingDatabase(Database):
    """A database whose transactions begin with settings, which policies can read, or in another schema than that of `base`."""

    def __init__(
        self, base: Database, settings: Mapping[str, str], schema: str, search_path: Composed | None = None
    ) -> None:
        self.schema = schema
        self._base = base
        self._settings = settings
        self._search_path = search_path
        self._set_aside = {purpose: each.within(schema) for purpose, each in base._set_aside.items()}

    def acting(self, settings: Mapping[str, str]) -> Database:
        return _ActingDatabase(self._base, {**self._settings, **settings}, self.schema, self._search_path)

    def within(self, schema: str) -> Database:
        return _ActingDatabase(self._base, self._settings, schema)

    async def wake(self) -> None:
        await self._base.wake()

    @asynccontextmanager
    async def transaction(self, statement: Query | None = None) -> AsyncIterator[Connection]:
        async with self._base.transaction(statement) as connection:
            await self._act(connection)
            yield connection

    async def read(self, work: Callable[[Connection], Awaitable[T]], statement: Query | None = None) -> T:
        async def act_and_work(connection: Connection) -> T:
            await self._act(connection)
            return await work(connection)

        return await self._base.read(act_and_work, statement)

    async def _act(self, connection: Connection) -> None:
        # `set local` and not `set_config`: a distributed Postgres passes it on to its workers
        statements = [
            SQL("set local {} = {}").format(Identifier(*name.split(".")), LiteralValue(value))
            for name, value in self._settings.items()
        ]
        if self.schema != self._base.schema:
            if self._search_path is None:
                row = await (await connection.execute(search_path_query(self.schema))).fetchone()
                assert row is not None
                # each name quoted by Postgres
                self._search_path = SQL("set local search_path = {}").format(SQL(row["search_path"]))
            statements.append(self._search_path)  # last, so that no setting replaces it
        if statements:
            await connection.execute(SQL(";").join(statements), prepare=False)

    async def close(self) -> None:
        await self._base.close()


_VERB = re.compile(r"\s*(\w+)")
_TARGET = re.compile(r"\b(?:from|into|update)\s+([a-z_][\w.]*)")


def statement_name(query: str | Composable) -> str:
    """The verb and the first table or function of a statement: `select search_people`."""
    text = query if isinstance(query, str) else "".join(_words(query))
    matches = (pattern.search(text) for pattern in (_VERB, _TARGET))
    return " ".join(match[1] for match in matches if match)


def _words(query: Composable) -> Iterator[str]:
    match query:
        case Composed():
            for part in query:
                yield from _words(part)
        case SQL():
            yield query.as_string()
        case Identifier():
            yield query.as_string().replace('"', "")
        case _:
            yield "?"
