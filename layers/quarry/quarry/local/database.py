"""The database of a command: DATABASE_URL, or else the embedded Postgres, migrated before use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quarry.local.output import selected_tenant
from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import Settings
from quarry.postgres.connections import address_at_node, at_node
from quarry.postgres.migrate import connect, migrate
from quarry.postgres.schema import SyncConnection
from quarry.postgres.tenants import TenantRow, migrate_tenants, read_tenant, release_of
from quarry.services.services import Services, build_services, database_address, read_database_url
from quarry.services.tenants import Quotas

if TYPE_CHECKING:
    from quarry.local.embedded_postgres import EmbeddedPostgres
    from quarry.postgres.connections import Address
import os
import shutil
import subprocess
from collections.abc import Sequence

from psycopg.conninfo import conninfo_to_dict, make_conninfo


@dataclass(frozen=True)
class LocalDatabase:
    """A database that answers, and the settings that name it. `server` is None unless it is the embedded one; `address` gives
    the URL of one whose password changes. With `tenant`, the settings name the tenant's schema.
    """

    settings: Settings
    url: str
    server: EmbeddedPostgres | None = None
    address: Address | None = None
    tenant: TenantRow | None = None

    @asynccontextmanager
    async def services(self) -> AsyncIterator[Services]:
        """The services on this database, closed at the end."""
        services = self.build_services()
        try:
            yield services
        finally:
            await services.close()

    def build_services(self) -> Services:
        """The services on this database. They find an embedded server again after it was restarted on another port."""
        services = build_services(self.settings, self.server.url if self.server else self.address or self.url)
        return replace(services, quotas=quotas_of(self.tenant, self.settings)) if self.tenant else services

    @property
    def rows_max(self) -> int:
        """How many rows may be held; 0: any number."""
        return quotas_of(self.tenant, self.settings).rows if self.tenant else 0

    def program(self, name: str, version: str = "") -> str:
        """The path of a program of the Postgres client. Raises ConfigurationError where it is not installed."""
        program = self.server.program(name) if self.server else shutil.which(name)
        if program is None:
            raise ConfigurationError(f"{name} is not installed: install the Postgres client{version}")
        return program

    def connect(self) -> AbstractContextManager[SyncConnection]:
        """A connection of its own."""
        return connect(self.url, self.settings.database_schema)

    @contextmanager
    def supervised(self) -> Iterator[None]:
        """Restart the embedded server whenever it has stopped, until the end of the block."""
        if self.server is None:
            yield
            return
        from quarry.local.embedded_postgres import supervised

        with supervised(self.server):
            yield


def quotas_of(tenant: TenantRow, settings: Settings) -> Quotas:
    """The quotas that hold for a tenant."""
    return Quotas.of(settings, tenant.requests_per_minute, tenant.rows_max, tenant.credits_max)


@contextmanager
def open_database() -> Iterator[LocalDatabase]:
    """The database, migrated; with `--tenant`, in the tenant's schema. An embedded server is shared with other processes on the
    same directory.

    Raises ConfigurationError, DatabaseUnavailable, EmbeddedPostgresError, and NotFound for an unknown tenant.
    """
    settings = Settings.from_environment()
    with _database_of(settings) as database:
        migrate(database.url, embedding_dimensions=settings.embedding_dimensions, schema=settings.database_schema)
        name = selected_tenant.get()
        yield database if name is None else _of_tenant(database, name)


def _of_tenant(database: LocalDatabase, name: str) -> LocalDatabase:
    """The database with the settings of a tenant, which is migrated if it is behind."""
    settings = database.settings
    own_schema, dimensions = settings.database_schema, settings.embedding_dimensions
    with connect(database.url, own_schema) as connection:
        tenant = read_tenant(connection, name)
    if tenant.release != release_of():
        [result] = migrate_tenants(database.url, own_schema=own_schema, embedding_dimensions=dimensions, names=[name])
        if result.problem:
            raise ConfigurationError(f"The tenant {name} was not migrated: {result.problem}")
    own = settings.model_copy(update={"database_schema": tenant.schema_name, "tenant_claim": None})
    if tenant.node is None:
        return replace(database, settings=own, tenant=tenant)
    # its replica, if any, is of the installation's own server
    own = own.model_copy(update={"database_reader_url": None})
    address = address_at_node(database.address or database.url, tenant.node)
    return LocalDatabase(own, at_node(database.url, tenant.node), address=address, tenant=tenant)


@contextmanager
def database_url(settings: Settings) -> Iterator[str]:
    """The URL of the database, without migrating it; an embedded server runs at least until the end of the block."""
    with _database_of(settings) as database:
        yield database.url


@contextmanager
def _database_of(settings: Settings) -> Iterator[LocalDatabase]:
    if settings.names_database:
        yield LocalDatabase(settings, read_database_url(settings), address=database_address(settings))
        return
    from quarry.local.embedded_postgres import EmbeddedPostgres

    server = EmbeddedPostgres(embedded_directory(settings))
    try:
        yield LocalDatabase(settings, server.start(), server)
    finally:
        server.release()


def embedded_directory(settings: Settings) -> Path:
    return settings.quarry_data_dir / "postgres"


def open_psql(database: LocalDatabase, arguments: Sequence[str]) -> bool:
    """Run psql with these arguments until it ends; False if it failed. Raises ConfigurationError where there is no psql."""
    conninfo, environment = for_program(database.url)
    command = [database.program("psql"), conninfo, *arguments]
    return subprocess.run(command, env=environment, check=False).returncode == 0


def for_program(url: str) -> tuple[str, dict[str, str]]:
    """A database's address for a program, and its environment with the password, which stays out of the list of processes."""
    parameters = conninfo_to_dict(url)
    password = parameters.pop("password", None)
    return make_conninfo("", **parameters), os.environ | ({"PGPASSWORD": str(password)} if password else {})
