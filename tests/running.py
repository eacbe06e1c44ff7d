"""The real server on a free port of this machine, in a thread of the test's process; its database out of reach."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
import uvicorn
from psycopg.sql import SQL, Identifier
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.api.routers import EVERYTHING
from quarry.local.server import BoundedConnection, TellingConnections
from quarry.platform.settings import Settings
from quarry.services.services import Services, build_services
from quarry.web.app import create_app
from tests.waiting import PATIENCE_SECONDS, wait_until


def running_server(database_url: str, *, prefix: str = "", **environment: str) -> AbstractContextManager[str]:
    """Serve the whole API on `database_url`, below the path `prefix`; the server's address.

    `environment` holds settings by their variables.
    """
    services = build_services(Settings.from_environment({"DATABASE_URL": database_url} | environment))
    return serving(services, prefix=prefix)


def serving(services: Services, *, prefix: str = "") -> AbstractContextManager[str]:
    """Serve the whole API over these services, below the path `prefix`; the server's address."""
    return serving_app(_under(prefix, create_app(services, EVERYTHING, EVERYTHING)))


@contextmanager
def serving_app(app: ASGIApp, protocol: type[BoundedConnection] = BoundedConnection) -> Iterator[str]:
    """Serve `app`; the server's address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        # its own handlers would write into what pytest had captured when the server started, and has closed
        config = uvicorn.Config(
            TellingConnections(app), http=protocol, log_config=None, log_level="warning", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        wait_until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server ended while starting"
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)


def free_port() -> int:
    """A port of this machine on which nothing listens yet."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def outage(server_url: str, name: str) -> Iterator[None]:
    """The database breaks its connections and takes no new ones."""
    with psycopg.connect(server_url, autocommit=True) as server:
        server.execute(SQL("alter database {} allow_connections false").format(Identifier(name)))
        server.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
        try:
            yield
        finally:
            server.execute(SQL("alter database {} allow_connections true").format(Identifier(name)))


def _under(prefix: str, app: ASGIApp) -> ASGIApp:
    """The application as it is behind a front door that takes `prefix` off each path; it answers nothing elsewhere."""

    async def below(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            assert scope["path"].startswith(f"{prefix}/"), scope["path"]
            scope = {**scope, "path": scope["path"].removeprefix(prefix)}
        await app(scope, receive, send)

    return below
