"""`quarry serve` and `quarry demo`: the whole API on one port."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import shlex
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from quarry.api import everything
from quarry.domains import import_what_answers
from quarry.local.connections import BoundedConnection, TellingConnections
from quarry.local.data import load_samples
from quarry.local.database import LocalDatabase, open_database
from quarry.local.logs import configure_logging
from quarry.local.served_address import noted
from quarry.local.tenants import migrate_all
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import ConfigurationError, ModelUnavailable
from quarry.platform.telemetry import in_words
from quarry.services.collections import keep
from quarry.services.services import Services
from quarry.web.admission import is_loopback
from quarry.web.app import create_app

DRAIN_SECONDS = 1
"""How long open streams may continue after the server was asked to stop."""

SWITCH_SECONDS = 0.0005
"""How long a thread keeps the interpreter while others wait. An embedding releases it about a hundred times, and on a busy server
would wait up to Python's default of 5 ms for it each time. Measured: eight concurrent searches have 10 % more throughput.
"""

METRICS_SECONDS = 60.0
"""How often metrics are logged, if any were counted."""

SAMPLE_QUESTION = "Why did the council decide to keep the old elm in Quill Square?"
SAMPLE_WORDS = "bridge weight limit"

logger = logging.getLogger(__name__)


def serve(host: str, port: int, *, open_page: bool = False) -> None:
    """Serve until Ctrl-C or SIGTERM. Raises ConfigurationError if the port is not available, and as `open_database`."""
    with _bound_socket(host, port) as listener, open_database() as database:
        if database.settings.tenant_claim is not None:
            settings = database.settings
            migrate_all(database.url, settings.database_schema, settings.embedding_dimensions, None)
        address = _address(host, listener)
        _run(database, host, listener, _greeting(f"Quarry serves on {address}; Ctrl-C ends it.", address, open_page))


def demo(host: str, port: int, *, open_page: bool = False) -> None:
    """Migrate, load the sample data if it is missing, serve, and print what to try. Raises as `serve`."""
    with _bound_socket(host, port) as listener, open_database() as database:
        load_samples(database)
        address = _address(host, listener)
        _run(database, host, listener, _greeting(_things_to_try(address), address, open_page))


def _greeting(text: str, address: str, open_page: bool) -> Callable[[], None]:
    """What to do once the server answers."""

    def greet() -> None:
        print(text, flush=True)
        if open_page:
            # in a thread: a text browser would block the server
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

    return greet


def _run(database: LocalDatabase, host: str, listener: socket.socket, on_started: Callable[[], None]) -> None:
    configure_logging(database.settings.log_level)
    if not is_loopback(host):
        logger.warning(
            "anyone who can reach %s can act as any user, because a local server has no sign-in. Add this machine's names to "
            "QUARRY_ALLOWED_HOSTS: other names get a 421",
            host,
        )
    # the app closes the services when it ends
    services = database.build_services()
    app = create_app(services, everything.ROUTERS, documented=everything.ROUTERS)
    # now: with the first request it would block the event loop
    import_what_answers()
    sys.setswitchinterval(SWITCH_SECONDS)
    # what exists now stays: collecting it would block the event loop for about 70 ms each time
    gc.freeze()
    config = uvicorn.Config(
        TellingConnections(app),
        http=BoundedConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    try:
        with database.supervised(), noted(database.settings.quarry_data_dir, _address(host, listener)):
            _Server(config, services, on_started).run(sockets=[listener])
    except OSError as error:
        raise _no_port(error, *listener.getsockname()[:2]) from error


class _Server(uvicorn.Server):
    """Calls `on_started` once it serves; then loads the local embedding model, keeps collections in step and logs metrics. Ending
    it by a signal is no failure.
    """

    def __init__(self, config: uvicorn.Config, services: Services, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._services = services
        self._on_started = on_started
        self._beside: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()
        work = (_warm(self._services), keep(self._services), _log_metrics(self._services))
        self._beside = [asyncio.create_task(each) for each in work]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait a while for requests to end, then cancel them, and close the services only when all have ended."""
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)
        for server in self.servers:
            server.close()
        running = set(self.server_state.tasks)
        if running:
            _, running = await asyncio.wait(running, timeout=DRAIN_SECONDS)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=DRAIN_SECONDS)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # not the base class's, which would raise the signal again before the embedded Postgres is released
        self.force_exit = self.should_exit
        self.should_exit = True


async def _warm(services: Services) -> None:
    """Load the local model before the first question needs it."""
    if isinstance(services.embeddings, LocalEmbedding):
        try:
            await asyncio.to_thread(services.embeddings.load)
        except ModelUnavailable as error:
            logger.warning("%s", error.message)


async def _log_metrics(services: Services) -> None:
    """Log the metrics at intervals."""
    while True:
        await asyncio.sleep(METRICS_SECONDS)
        if counts := services.metrics.take():
            logger.info("counted: %s", in_words(counts))


def _bound_socket(host: str, port: int) -> socket.socket:
    """A socket bound to the address but not listening yet: early clients are refused instead of kept waiting."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise _no_port(error, host, port) from error
    return listener


def _no_port(error: OSError, host: str, port: int) -> ConfigurationError:
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(f"port {port} is in use: quarry serve --port {port + 1 if port < 65535 else 8080}")
    return ConfigurationError(f"cannot serve on {host}, port {port}: {error.strerror or error}")


def _address(host: str, listener: socket.socket) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- compared, not bound
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listener.getsockname()[1]}"


def _things_to_try(address: str) -> str:
    question, words = shlex.quote(f"q={SAMPLE_QUESTION}"), shlex.quote(f"q={SAMPLE_WORDS}")
    return f"""
Quarry serves on {address}: open it in a browser. Ctrl-C ends it. In another terminal:

  a question, answered from the city's records with its sources, as it is written
    curl -N --get {address}/records/ask --data-urlencode {question}
    {_own_command()} ask records {shlex.quote(SAMPLE_QUESTION)}

  one ranked list of records
    curl --get {address}/records/search --data-urlencode {words}
"""


def _own_command() -> str:
    """How to call this program from the current folder."""
    program = Path(sys.argv[0])
    try:
        return str(program.absolute().relative_to(Path.cwd()))
    except ValueError:
        return program.name
