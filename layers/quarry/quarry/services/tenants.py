"""Tenants of one installation: each has a schema of its own, and services of its own over the same connections.

A request's tenant is what its verified claim TENANT_CLAIM says, and nothing else of the request. Whatever a process remembers is
part of the services, so that no tenant meets what was remembered for another.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import psycopg

from quarry.platform.errors import DatabaseUnavailable, Forbidden
from quarry.platform.settings import Settings
from quarry.postgres.pool import Connection, Database, Parameters, Query, SetAside, T
from quarry.streaming.runs import RunStore

if TYPE_CHECKING:
    from quarry.services.services import Caller, Services

VALUES_MAX = 10_000


class Memory:
    """Values by name. The reader of each says how old it may be."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[float, Any]] = {}

    async def read(self, name: str, load: Callable[[], Awaitable[T]], *, seconds: float) -> T:
        """The value of this name if it was read in the last `seconds`; else what `load` brings now. Raises what `load` raises."""
        now = time.monotonic()
        at, value = self._values.get(name, (-math.inf, None))
        if now - at < seconds:
            remembered: T = value
            return remembered
        value = await load()
        self.keep(name, value)
        return value

    def keep(self, name: str, value: object) -> None:
        """Remember a value under this name. If there are too many, the oldest is dropped."""
        self._values.pop(name, None)
        self._values[name] = (time.monotonic(), value)
        if len(self._values) > VALUES_MAX:
            del self._values[next(iter(self._values))]

    def forget(self) -> None:
        """Forget every value."""
        self._values.clear()

    def holds(self, name: str, *, seconds: float) -> bool:
        """Whether a value of this name was remembered in the last `seconds`."""
        return time.monotonic() - self._values.get(name, (-math.inf, None))[0] < seconds


KNOWN_SECONDS = 1.0
"""How long a tenant's place is remembered, and thus looked for there after it was removed or moved."""
REMEMBERED_MAX = 200
"""How many tenants a process remembers values for; it forgets those of the least recently used."""
MOVING_SECONDS = 3.0
"""How long a write that a move refuses is tried again. Longer than a move refuses writes and is not noticed."""
_PAUSE_SECONDS = 0.1

NO_TENANT = Forbidden("Your account belongs to no tenant of this service; ask its operator to add you to one.")


@dataclass(frozen=True)
class Tenant:
    """A tenant as the installation knows it. `version` tells a tenant that was removed and added again from the former one."""

    name: str
    schema: str
    version: str


class Quotas(NamedTuple):
    """What all users of a tenant may use together; 0: any amount. `rows` are those of the tables that files are loaded into, and
    those of its own tables that are searched; `credits` are those spent in all.
    """

    requests_per_minute: int
    rows: int
    credits: int

    @classmethod
    def of(cls, settings: Settings, *own: int | None) -> Quotas:
        """A tenant's quotas in the order here; None: that of the settings."""
        general = settings.tenant_requests_per_minute, settings.tenant_rows, settings.tenant_credits
        return cls(*(each if mine is None else mine for each, mine in zip(general, own, strict=True)))


class Tenants:
    """The services of each tenant that this process has served. `claim` is the claim that names the tenant."""

    def __init__(self, claim: str) -> None:
        self._claim = claim
        self._services: OrderedDict[Tenant, Services] = OrderedDict()
        self._nodes: dict[str, Database] = {}
        self._databases: dict[tuple[int, str], Database] = {}

    def __iter__(self) -> Iterator[Services]:
        return iter([*self._services.values()])

    def name_of(self, caller: Caller) -> str:
        """The caller's tenant; empty if the claim is missing."""
        return caller.claims.get(self._claim, "")

    async def services_of(self, caller: Caller, installation: Services) -> Services:
        """The services for the caller's tenant. Raises Forbidden if there is none, and DatabaseUnavailable."""
        name = self.name_of(caller)
        if not name or "\0" in name:
            raise NO_TENANT
        record = await _remembered(installation, name)
        if record is None:
            raise NO_TENANT
        services = self.of(record.tenant, record.quotas, installation)
        self._services.move_to_end(record.tenant)
        if len(self._services) > REMEMBERED_MAX:
            # what it still writes goes on; only what it remembers is given up
            longest_ago = [*self._services][-REMEMBERED_MAX - 1]
            self._services[longest_ago].memory.forget()
        return services

    def of(self, tenant: Tenant, quotas: Quotas, installation: Services) -> Services:
        """The services for a tenant, for work that nobody waits for."""
        services = self._services.get(tenant)
        if services is None:
            services = self._services[tenant] = self._services_on(tenant, installation)
            self._services.move_to_end(tenant, last=False)
        if services.quotas != quotas:
            services = self._services[tenant] = replace(services, quotas=quotas)
        return services

    async def close(self) -> None:
        """Close the connections to nodes."""
        for database in self._nodes.values():
            await database.close()

    def _services_on(self, tenant: Tenant, installation: Services) -> Services:
        def place(own: Database) -> Place:
            """Where the tenant is now; `own`: the database of the installation's server."""

            async def here() -> Database:
                record = await _remembered(installation, tenant.name)
                if record is None or record.tenant != tenant:
                    raise NO_TENANT
                return self._within(own if record.node is None else self._at(record.node, installation), tenant.schema)

            return here

        database = PlacedDatabase(tenant.schema, place(installation.database))
        if installation.reader is installation.database:
            return within(installation, tenant.schema, database, database)
        # what is at a node is read there, not from the replica
        return within(installation, tenant.schema, database, PlacedDatabase(tenant.schema, place(installation.reader)))

    def _at(self, node: str, installation: Services) -> Database:
        if node not in self._nodes:
            self._nodes[node] = installation.database.at(node)
        return self._nodes[node]

    def _within(self, database: Database, schema: str) -> Database:
        key = id(database), schema
        if key not in self._databases:
            self._databases[key] = database.within(schema)
        return self._databases[key]


class _TenantRecord(NamedTuple):
    """A tenant, the node that it is at, and its quotas."""

    tenant: Tenant
    node: str | None
    quotas: Quotas


_TENANTS = """
select name, schema_name, added_at::text as version, node, array[requests_per_minute, rows_max, credits_max] as quotas
from tenants
"""


async def _remembered(installation: Services, name: str) -> _TenantRecord | None:
    """The tenant as remembered for KNOWN_SECONDS."""

    async def find() -> _TenantRecord | None:
        row = await installation.database.row(f"{_TENANTS} where name = %s", [name])
        return None if row is None else _record_of(row, installation)

    return await installation.memory.read(f"tenant {name}", find, seconds=KNOWN_SECONDS)


async def everyone(services: Services) -> list[Services]:
    """The services of the installation and of each tenant, in another order each time, so that it is not always the same one that
    time runs out for. Raises DatabaseUnavailable.
    """
    if services.tenants is None:
        return [services]
    rows = [_record_of(row, services) for row in await services.database.rows(_TENANTS)]
    tenants = [services.tenants.of(each.tenant, each.quotas, services) for each in rows]
    random.shuffle(tenants)
    return [services, *tenants]


def _record_of(row: Mapping[str, Any], installation: Services) -> _TenantRecord:
    tenant = Tenant(row["name"], row["schema_name"], row["version"])
    return _TenantRecord(tenant, row["node"], Quotas.of(installation.settings, *row["quotas"]))


def within(services: Services, schema: str, database: Database, reader: Database) -> Services:
    """The same services on another schema, with nothing remembered. Models, connections and metrics are shared."""
    return replace(
        services,
        settings=services.settings.model_copy(update={"database_schema": schema}),
        database=database,
        reader=reader,
        queries=services.queries.on(reader),
        run_log=services.run_log.on(database),
        streams=services.streams.on(RunStore(database.background)),
        memory=Memory(),
        tenants=None,
    )


Place = Callable[[], Awaitable[Database]]
"""Where a tenant is now."""


class PlacedDatabase(Database):
    """The database that `place` gives, asked for each transaction. What a move refuses is tried again, unless it is the caller's
    own transaction: then DatabaseUnavailable is raised.
    """

    def __init__(self, schema: str, place: Place, *, sets_aside: bool = True) -> None:
        self.schema = schema
        self._place = place
        if sets_aside:
            self._set_aside = {
                purpose: PlacedDatabase(schema, _mapped(place, methodcaller("set_aside", purpose)), sets_aside=False)
                for purpose in get_args(SetAside)
            }

    def acting(self, settings: Mapping[str, str]) -> Database:
        return PlacedDatabase(self.schema, _mapped(self._place, lambda database: database.acting(settings)))

    def within(self, schema: str) -> Database:
        return PlacedDatabase(schema, _mapped(self._place, lambda database: database.within(schema)))

    @asynccontextmanager
    async def transaction(self, statement: Query | None = None) -> AsyncIterator[Connection]:
        async with (await self._place()).transaction(statement) as connection:
            yield connection

    async def read(self, work: Callable[[Connection], Awaitable[T]], statement: Query | None = None) -> T:
        return await self._tried(lambda database: database.read(work, statement))

    async def execute(self, query: Query, parameters: Parameters | None = None) -> int:
        return await self._tried(lambda database: database.execute(query, parameters))

    async def wake(self) -> None:
        await (await self._place()).wake()

    async def close(self) -> None:
        """Nothing: the connections belong to the servers."""

    async def _tried(self, work: Callable[[Database], Awaitable[T]]) -> T:
        until = time.monotonic() + MOVING_SECONDS
        while True:
            try:
                return await work(await self._place())
            except DatabaseUnavailable as error:
                # nothing of a refused transaction stays, so it can be repeated
                if not isinstance(error.__cause__, psycopg.errors.ReadOnlySqlTransaction) or time.monotonic() > until:
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)


def _mapped(place: Place, change: Callable[[Database], Database]) -> Place:
    async def changed() -> Database:
        return change(await place())

    return changed
