"""The database of a command: DATABASE_URL, or else the embedded Postgres, migrated before use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quarry.platform.settings import Settings
from quarry.postgres.migrate import migrate
from quarry.services.services import Services, build_services, database_address, read_database_url

if TYPE_CHECKING:
    from quarry.local.embedded_postgres import EmbeddedPostgres
    from quarry.postgres.pool import Address


@dataclass(frozen=True)
class LocalDatabase:
    """A database that answers, and the settings that name it. `server` is None unless it is the embedded one; `address` gives
    the URL of one whose password changes.
    """

    settings: Settings
    url: str
    server: EmbeddedPostgres | None = None
    address: Address | None = None

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
        return build_services(self.settings, self.server.url if self.server else self.address or self.url)

    @contextmanager
    def supervised(self) -> Iterator[None]:
        """Restart the embedded server whenever it has stopped, until the end of the block."""
        if self.server is None:
            yield
            return
        from quarry.local.embedded_postgres import supervised

        with supervised(self.server):
            yield


@contextmanager
def open_database() -> Iterator[LocalDatabase]:
    """The database, migrated. An embedded server is shared with other processes on the same directory.

    Raises ConfigurationError, DatabaseUnavailable and EmbeddedPostgresError.
    """
    settings = Settings.from_environment()
    with _found_database(settings) as database:
        migrate(database.url, embedding_dimensions=settings.embedding_dimensions, schema=settings.database_schema)
        yield database


@contextmanager
def database_url(settings: Settings) -> Iterator[str]:
    """The URL of the database, without migrating it; an embedded server runs at least until the end of the block."""
    with _found_database(settings) as database:
        yield database.url


@contextmanager
def _found_database(settings: Settings) -> Iterator[LocalDatabase]:
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
