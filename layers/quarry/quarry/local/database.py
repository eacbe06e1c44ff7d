"""The database of a command: DATABASE_URL, or else the embedded Postgres, migrated before use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from quarry.core.postgres.migrate import migrate
from quarry.core.services import Services, build_services
from quarry.core.settings import Settings


@dataclass(frozen=True)
class LocalDatabase:
    """A database that answers, and the settings it was found by."""

    settings: Settings
    url: str

    @asynccontextmanager
    async def services(self) -> AsyncIterator[Services]:
        """The services on this database, closed at the end."""
        services = build_services(self.settings, self.url)
        try:
            yield services
        finally:
            await services.close()


@contextmanager
def open_database() -> Iterator[LocalDatabase]:
    """The database, migrated. An embedded server is shared with whoever runs on the same directory.

    Raises ConfigurationError, DatabaseUnavailable and EmbeddedPostgresError.
    """
    settings = Settings.from_environment()
    with database_url(settings) as url:
        migrate(url, embedding_dimensions=settings.embedding_dimensions)
        yield LocalDatabase(settings, url)


@contextmanager
def database_url(settings: Settings) -> Iterator[str]:
    """The URL of the database as it stands; an embedded server runs at least until the end of the block."""
    if settings.database_url:
        yield settings.database_url.get_secret_value()
        return
    from quarry.local.embedded_postgres import EmbeddedPostgres

    server = EmbeddedPostgres(embedded_directory(settings))
    try:
        yield server.start()
    finally:
        server.release()


def embedded_directory(settings: Settings) -> Path:
    return settings.quarry_data_dir / "postgres"
