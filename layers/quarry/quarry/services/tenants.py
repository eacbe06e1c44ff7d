"""Tenants of one installation: each has a schema of its own, and services of its own over the same connections.

A request's tenant is what its verified claim TENANT_CLAIM says, and nothing else of the request. Whatever a process remembers is
part of the services, so that no tenant meets what was remembered for another.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quarry.platform.errors import Forbidden
from quarry.services.memory import Memory
from quarry.streaming.runs import RunStore

if TYPE_CHECKING:
    from quarry.postgres.pool import Database
    from quarry.services.services import Caller, Services

KNOWN_SECONDS = 5.0
"""How long a tenant's schema is remembered: the longest that a removed tenant is still served."""
REMEMBERED_MAX = 200
"""How many tenants a process remembers values for; those not asked for longest read theirs again."""

NO_TENANT = Forbidden("Your account belongs to no tenant of this service; ask its operator to add you to one.")


@dataclass(frozen=True)
class Tenant:
    """A tenant as the installation knows it. `version` tells a tenant that was removed and added again from the former one."""

    schema: str
    version: str


class Tenants:
    """The services of each tenant that this process has served. `claim` is the claim that names the tenant."""

    def __init__(self, claim: str) -> None:
        self._claim = claim
        self._services: OrderedDict[Tenant, Services] = OrderedDict()

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
        tenant = await installation.memory.read(
            f"tenant {name}", lambda: find_tenant(installation.database, name), seconds=KNOWN_SECONDS
        )
        if tenant is None:
            raise NO_TENANT
        services = self.of(tenant, installation)
        self._services.move_to_end(tenant)
        if len(self._services) > REMEMBERED_MAX:
            # what it still writes goes on; only what it remembers is given up
            longest_ago = [*self._services][-REMEMBERED_MAX - 1]
            self._services[longest_ago].memory.forget()
        return services

    def of(self, tenant: Tenant, installation: Services) -> Services:
        """The services for a tenant, for work that nobody waits for."""
        services = self._services.get(tenant)
        if services is None:
            services = self._services[tenant] = within(installation, tenant.schema)
            self._services.move_to_end(tenant, last=False)
        return services


async def find_tenant(database: Database, name: str) -> Tenant | None:
    """The tenant of this name; None if there is none. Raises DatabaseUnavailable."""
    row = await database.row("select schema_name, added_at::text as version from tenants where name = %s", [name])
    return None if row is None else Tenant(row["schema_name"], row["version"])


async def everyone(services: Services) -> list[Services]:
    """The services of the installation and of each tenant, in another order each time, so that it is not always the same one that
    time runs out for. Raises DatabaseUnavailable.
    """
    if services.tenants is None:
        return [services]
    rows = await services.database.rows("select schema_name, added_at::text as version from tenants")
    tenants = [services.tenants.of(Tenant(row["schema_name"], row["version"]), services) for row in rows]
    random.shuffle(tenants)
    return [services, *tenants]


def within(services: Services, schema: str) -> Services:
    """The same services on another schema, with nothing remembered. Models, connections and metrics are shared."""
    database = services.database.within(schema)
    reader = database if services.reader is services.database else services.reader.within(schema)
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
