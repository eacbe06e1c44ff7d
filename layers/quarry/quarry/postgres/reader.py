"""Reading from replicas: read-only work goes to a replica if it answers and is up to date, else to the writer.

Each connection checks the lag of its server at intervals, since one address may lead to several servers. A replica that is not
used is checked again in the background of a later request.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import psycopg
from psycopg_pool import PoolTimeout

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.postgres.connections import MISSING_SCHEMA
from quarry.postgres.pool import Connection, Database, Query, T

ReaderState = Literal["ok", "behind", "unavailable"]

PATIENCE_SECONDS = 1.0
"""How long to wait for a connection to a reader: less than to the writer, which can serve instead."""
CHECK_SECONDS = 2.0
"""How long the lag that a connection measured is valid."""
PAUSE_SECONDS = 5.0

# A streaming replica. If it has replayed all it received and still receives, it is up to date, however old the last change is.
BEHIND = """
select not pg_is_in_recovery() or (exists (select from pg_stat_wal_receiver)
    and pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()) as is_up_to_date,
  extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as age
"""
# Aurora's readers share the writer's storage. They lack these functions, and report the lag of their memory themselves.
_LAG_IN_AURORA = """
select coalesce(max(replica_lag_in_msec), 0)::float8 / 1000 as seconds
from aurora_replica_status() where server_id = aurora_db_instance_identifier()
"""

# A healthy replica can raise these: the writer answers this request, the replica the next one.
_IN_PASSING = (
    psycopg.errors.SerializationFailure,  # replay removed rows that the statement was reading
    psycopg.errors.DeadlockDetected,
    psycopg.errors.LockNotAvailable,
    *MISSING_SCHEMA,  # it may not have a recent migration yet
)

logger = logging.getLogger(__name__)


class _Behind(DatabaseUnavailable):
    """A replica lags too far behind."""


@dataclass
class _LastCheck:
    """The last check of a connection's server, by the monotonic clock."""

    checked_at: float = -math.inf
    up_to_date_at: float = -math.inf


def lag_seconds(age: float | None, up_to_date_at: float, now: float) -> float:
    """The lag of a replica that has not replayed everything: at most the age of the last transaction that it replayed, and the
    time since it was up to date. `age` is None if it has replayed none.
    """
    return max(0.0, min(math.inf if age is None else age, now - up_to_date_at))


class Replica(Database):
    """A replica of the database, or an address that leads to one of several. Also raises DatabaseUnavailable if the server is
    more than `lag_seconds` behind the writer.
    """

    # A server that disappeared is noticed sooner than the writer: there is another one.
    _keepalive = {"keepalives_idle": 2, "keepalives_interval": 1, "keepalives_count": 3, "tcp_user_timeout": 5_000}

    def __init__(self, *args: Any, lag_seconds: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lag_seconds = lag_seconds
        self._is_aurora = False
        self._checks: WeakKeyDictionary[Connection, _LastCheck] = WeakKeyDictionary()

    @property
    def is_full(self) -> bool:
        """Whether all its connections are in use."""
        return self._is_full

    def doubt(self) -> None:
        """Check the lag again on every connection."""
        for traits in self._checks.values():
            traits.checked_at = -math.inf

    @property
    def _patience_seconds(self) -> float:
        return PATIENCE_SECONDS

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        async with super()._connection() as connection:
            traits = self._checks.setdefault(connection, _LastCheck())
            if time.monotonic() - traits.checked_at >= CHECK_SECONDS:
                lag = await self._lag(connection, traits)
                if lag > self._lag_seconds:
                    # the next connection may lead to another server
                    await connection.close()
                    raise _Behind
                traits.checked_at = time.monotonic()
            yield connection

    async def _lag(self, connection: Connection, traits: _LastCheck) -> float:
        if not self._is_aurora:
            try:
                async with connection.transaction():  # a savepoint
                    row = await (await connection.execute(BEHIND)).fetchone()
            except psycopg.errors.FeatureNotSupported:
                self._is_aurora = True
        if self._is_aurora:
            row = await (await connection.execute(_LAG_IN_AURORA)).fetchone()
            assert row is not None
            return float(row["seconds"])
        assert row is not None
        now = time.monotonic()
        if row["is_up_to_date"]:
            traits.up_to_date_at = now
            return 0.0
        return lag_seconds(row["age"], traits.up_to_date_at, now)


class Reader(Database):
    """The database for work that only reads, and need not see the latest writes: `read`, `rows` and `row` go to the replica, and
    if that fails or lags, to the writer, as everything else does.
    """

    def __init__(self, writer: Database, replica: Replica) -> None:
        self.schema = writer.schema
        self._writer = writer
        self._replica = replica
        self._state: ReaderState = "ok"
        self._ask_again_at = math.inf
        self._asking: asyncio.Task[ReaderState] | None = None

    @asynccontextmanager
    async def transaction(self, statement: Query | None = None) -> AsyncIterator[Connection]:
        async with self._writer.transaction(statement) as connection:
            yield connection

    async def wake(self) -> None:
        await self._writer.wake()

    async def read(self, work: Callable[[Connection], Awaitable[T]], statement: Query | None = None) -> T:
        if self._state != "ok":
            if time.monotonic() >= self._ask_again_at and (self._asking is None or self._asking.done()):
                self._asking = asyncio.create_task(self.ask())
            return await self._writer.read(work, statement)
        try:
            return await self._replica.read(work, statement)
        except (DatabaseUnavailable, ConfigurationError) as error:
            if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
                raise  # the writer would take as long
            self._judge(error)
        return await self._writer.read(work, statement)

    async def ask(self) -> ReaderState:
        """Check whether the replica answers and is up to date, and use it from now on or not accordingly."""
        self._replica.doubt()
        try:
            await self._replica.row("select 1 as one")
        except (DatabaseUnavailable, ConfigurationError) as error:
            self._judge(error)
        else:
            if self._state != "ok":
                logger.info("searches go to the replica again")
            self._state = "ok"
        return self._state

    async def close(self) -> None:
        """Close the replica's connections; the writer stays as it is."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        await self._replica.close()

    def _judge(self, error: DatabaseUnavailable | ConfigurationError) -> None:
        """Stop using the replica for a while if it caused the error."""
        cause = error.__cause__
        if isinstance(cause, psycopg.errors.ReadOnlySqlTransaction):
            logger.error("a replica was asked to write", exc_info=error)
            return
        if isinstance(cause, _IN_PASSING) or (isinstance(cause, PoolTimeout) and self._replica.is_full):
            return
        state: ReaderState = "behind" if isinstance(error, _Behind) else "unavailable"
        if self._state != state:
            logger.warning("searches go to the writer: the replica is %s", state)
        self._state = state
        self._ask_again_at = time.monotonic() + PAUSE_SECONDS
