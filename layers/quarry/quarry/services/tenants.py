"""Tenants of one installation: each has a schema of its own, and services of its own over the same connections.

A request's tenant is what its verified claim TENANT_CLAIM says, and nothing else of the request. Whatever a process remembers is
part of the services, so that no tenant meets what was remembered for another.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from quarry.platform.errors import Forbidden
from quarry.platform.settings import Settings
from quarry.postgres.placed import Place, PlacedDatabase
from quarry.streaming.runs import RunStore

if TYPE_CHECKING:
    from quarry.postgres.pool import Database
    from quarry.services.services import Caller, Services
import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

VALUES_MAX = 10_000


class Memory:
    """Values by name. The reader of each says how old it may be."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[float, Any]] = {}

    async def read(self, name: str, read: Callable[[], Awaitable[T]], *, seconds: float) -> T:
        """The value of this name if it was read in the last `seconds`; else `read` it now. Raises what `read` raises."""
        now = time.monotonic()
        at, value = self._values.get(name, (-math.inf, None))
        if now - at < seconds:
            remembered: T = value
            return remembered
        value = await read()
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
"""How long it is remembered where a tenant is: the longest that one that was removed or moved is still looked for there."""
REMEMBERED_MAX = 200
"""How many tenants a process remembers values for; those not asked for longest read theirs again."""

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
        found = await _known(installation, name)
        if found is None:
            raise NO_TENANT
        services = self.of(found.tenant, found.quotas, installation)
        self._services.move_to_end(found.tenant)
        if len(self._services) > REMEMBERED_MAX:
            # what it still writes goes on; only what it remembers is given up
            longest_ago = [*self._services][-REMEMBERED_MAX - 1]
            self._services[longest_ago].memory.forget()
        return services

    def of(self, tenant: Tenant, quotas: Quotas, installation: Services) -> Services:
        """The services for a tenant, for work that nobody waits for."""
        services = self._services.get(tenant)
        if services is None:
            services = self._services[tenant] = self._made(tenant, installation)
            self._services.move_to_end(tenant, last=False)
        if services.quotas != quotas:
            services = self._services[tenant] = replace(services, quotas=quotas)
        return services

    async def close(self) -> None:
        """Close the connections to nodes."""
        for database in self._nodes.values():
            await database.close()

    def _made(self, tenant: Tenant, installation: Services) -> Services:
        def place(own: Database) -> Place:
            """Where the tenant is now; `own`: the database of the installation's server."""

            async def here() -> Database:
                found = await _known(installation, tenant.name)
                if found is None or found.tenant != tenant:
                    raise NO_TENANT
                return self._within(own if found.node is None else self._at(found.node, installation), tenant.schema)

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


class _Known(NamedTuple):
    """A tenant, the node that it is at, and its quotas."""

    tenant: Tenant
    node: str | None
    quotas: Quotas


_KNOWN = """
select name, schema_name, added_at::text as version, node, array[requests_per_minute, rows_max, credits_max] as quotas
from tenants
"""


async def _known(installation: Services, name: str) -> _Known | None:
    """The tenant as remembered for KNOWN_SECONDS."""

    async def find() -> _Known | None:
        row = await installation.database.row(f"{_KNOWN} where name = %s", [name])
        return None if row is None else _read(row, installation)

    return await installation.memory.read(f"tenant {name}", find, seconds=KNOWN_SECONDS)


async def everyone(services: Services) -> list[Services]:
    """The services of the installation and of each tenant, in another order each time, so that it is not always the same one that
    time runs out for. Raises DatabaseUnavailable.
    """
    if services.tenants is None:
        return [services]
    known = [_read(row, services) for row in await services.database.rows(_KNOWN)]
    tenants = [services.tenants.of(each.tenant, each.quotas, services) for each in known]
    random.shuffle(tenants)
    return [services, *tenants]


def _read(row: Mapping[str, Any], installation: Services) -> _Known:
    tenant = Tenant(row["name"], row["schema_name"], row["version"])
    return _Known(tenant, row["node"], Quotas.of(installation.settings, *row["quotas"]))


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
