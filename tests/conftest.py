"""Shared fixtures: one embedded Postgres, a migrated template and a template with the sample data, cloned for each test.

If processes share the work, each has its own server, which starts as a copy of one with both templates.

Any connection to another machine fails: a test that needs the network is wrong.
"""

from __future__ import annotations

import asyncio
import fcntl
import functools
import gc
import hashlib
import itertools
import logging
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

# Before numpy is there: on cores that others use, the threads of OpenBLAS take 25 times the CPU, waiting for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import psycopg
import pytest
from hypothesis import settings
from psycopg.sql import SQL, Composed, Identifier
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from xdist.plugin import pytest_xdist_auto_num_workers as number_of_cores
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from quarry.api.routers import EVERYTHING
from quarry.local.data import load_sample
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models import local_embedding
from quarry.models.connections import OpenAIConnection
from quarry.models.local_embedding import LocalEmbedding, MiniLM, Pair
from quarry.models.openai_model import OpenAIChat
from quarry.platform.settings import Settings
from quarry.postgres import pool
from quarry.postgres.migrate import migrate
from quarry.postgres.pool import Database
from quarry.reader.learned import PairModel
from quarry.services.services import Services, build_services
from quarry.web.app import create_app
from tests.fakes.openai_server import FakeOpenAI
from tests.recorded import USED, compute_scores, recorded_scores

KEY = "sk-very-secret"
"""The key of every model that tests call; it must turn up nowhere."""

LONGEST = tuple(f"tests/{name}/" for name in ("page", "deployed", "functions", "api", "faults", "sql", "quality"))
"""The folders whose tests take longest by their nature: a browser, what is built for Lambda, schemathesis, faults, questions."""

BUILT = tuple(f"tests/deployed/test_{name}.py" for name in ("admin", "artifacts", "rehearsal", "sam_local"))
"""What needs the Lambda build."""

_LOAD, _MEANS = MiniLM.from_folder, MiniLM.means

_numbers = itertools.count()

_administering: dict[str, psycopg.Connection] = {}
"""By the address of its server."""

# A busy machine must not fail a property; speed is the benchmark's matter. The same examples in each run: to look for others, and
# more, --hypothesis-profile=search.
settings.register_profile("quarry", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("search", deadline=None, max_examples=200)
settings.load_profile("quarry")

# Fast rather than durable: nothing here outlives the test run.
_TEST_PARAMETERS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    # statistics are those that a test has made, whenever it runs
    "autovacuum": "off",
    "max_connections": "200",
    # a connection that was left while it was made keeps each `drop database` waiting so long
    "authentication_timeout": "10s",
    "max_wal_size": "256MB",
    # for the tests' own statements: the service finds its schema by itself, see tests/sql/test_own_schema.py
    "search_path": "quarry, public",
}

MIGRATED, SAMPLE = "migrated_template", "sample_template"

_MEMORY = Path("/dev/shm")
_MEMORY_MIN_BYTES = 4 << 30
"""Room for the servers of all test processes, and some more."""


class _Together(LoadFileScheduling):  # type: ignore[misc]
    """If processes share the work, the tests of a file stay together, and so do those that need the Lambda build. A process
    stays in a folder while it has work, and starts with an unused one: each process creates a folder's fixtures.
    """

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        self._folders: dict[Any, str] = {}
        """Where each process is."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(BUILT):
            return "tests/deployed/built"
        return str(super()._split_scope(nodeid))

    def _assign_work_unit(self, node: Any) -> None:
        own = self._folders.pop(node, None)

        def far(scope: str) -> tuple[bool, bool]:
            return _folder(scope) != own, _folder(scope) in self._folders.values()

        scope = min(self.workqueue, key=far)
        self.workqueue.move_to_end(scope, last=False)
        self._folders[node] = _folder(scope)
        super()._assign_work_unit(node)


def _folder(path: str) -> str:
    return "/".join(path.split("/")[:2])


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it starts in the background ignore Ctrl-C, and so would all commands that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More processes than cores: one works while others wait for something that hangs, dies or starts."""
    return int(number_of_cores(config)) * 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _Together:
    # in order, or what a package's tests share would be made again after another package's
    config.option.loadscopereorder = False
    return _Together(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starts with the longest folders, each in its own process, so that no process waits for another at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps thousands of collected tests out of garbage collection, which would take a quarter of the CPU of pure tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Fails on any connection to another machine."""
    connect = socket.socket.connect

    def connect_locally(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else "localhost"
        if not (host in ("localhost", "::1") or str(host).startswith("127.")):
            raise AssertionError(f"a test tried to reach {host}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect_locally)
        yield


@pytest.fixture(scope="session", autouse=True)
def each_text_read_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Load the local model once, and keep its outputs in pytest's cache: its code, its weights and the texts make them."""
    code = Path(local_embedding.__file__).read_bytes() + np.__version__.encode()
    cache, name = getattr(request.config, "cache", None), f"outputs-{hashlib.sha256(code).hexdigest()[:16]}"
    folder = cache.mkdir(name) if cache else tmp_path_factory.mktemp(name)

    def recalled(model: MiniLM, pairs: Sequence[Pair]) -> list[Any]:
        # adapters change each row of the weights
        weights = model._layers[0].queries_keys_values.weight[0].tobytes()
        file = folder / hashlib.sha256(repr(pairs).encode() + weights).hexdigest()
        if not file.exists():
            written = file.with_suffix(f".{threading.get_native_id()}")
            np.array(_MEANS(model, pairs), np.float32).tofile(written)
            written.rename(file)
        return [*np.fromfile(file, np.float32).reshape(len(pairs), -1)]

    USED.mkdir(parents=True, exist_ok=True)
    with (USED / f"{os.getpid()}").open("ab") as used, pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiniLM, "from_folder", functools.cache(_LOAD))
        patch.setattr(MiniLM, "means", recalled)
        patch.setattr(PairModel, "scores", recorded_scores(used))
        yield


@pytest.fixture
def nothing_kept_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the local model itself."""
    monkeypatch.setattr(MiniLM, "from_folder", _LOAD)
    monkeypatch.setattr(MiniLM, "means", _MEANS)
    monkeypatch.setattr(PairModel, "scores", compute_scores)


@pytest.fixture(scope="session", autouse=True)
def connections_are_waited_for() -> Iterator[None]:
    """A busy machine takes longer than a service should wait for a connection."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 12)
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits at most 0.3 seconds for a connection: for tests of a database that does not answer."""
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 0.3)


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Restores the root logger's level: a command sets it for its whole process."""
    level = logging.getLogger().level
    yield
    logging.getLogger().setLevel(level)


@pytest.fixture(scope="session", autouse=True)
def no_certificates() -> Iterator[None]:
    """Nothing here uses TLS: every HTTP client would spend 25 ms on reading the machine's certificates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
        yield


class _Prototype:
    """The cluster that all processes copy at their start: created once, in parallel, by the process that starts them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made = directory / "made"

    def begin(self) -> threading.Thread:
        """Make it in a thread. Whoever wants it waits, from now on."""
        thread = threading.Thread(target=self._make, args=[self._locked()])
        thread.start()
        return thread

    def copy_to(self, server: Path) -> None:
        """Copy it where a server has its programs and data, unless it could not be made: then the server begins with nothing."""
        with self._locked():
            if not self._made.exists():
                return
        server.mkdir(parents=True)
        [programs] = (self._directory / "postgres" / "server").glob("postgres-*")
        (server / programs.name).symlink_to(programs)
        # as the user that it belongs to
        subprocess.run(["cp", "-a", programs.parent / "cluster", server], check=True)
        # it names the port that the other ran on
        (server / "cluster" / "data" / "postmaster.opts").unlink()

    def _locked(self) -> IO[bytes]:
        file = (self._directory / "lock").open("ab")
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def _make(self, lock: IO[bytes]) -> None:
        with lock:
            with _server(self._directory) as url:
                _make_migrated(url)
                _make_sample(url)
            self._made.touch()


_prototypes = pytest.StashKey[tuple[tempfile.TemporaryDirectory[str], threading.Thread]]()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Starts what the processes share before they start."""
    if hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", None):
        return
    shutil.rmtree(USED, ignore_errors=True)
    directory = _directory()
    session.config.stash[_prototypes] = directory, _Prototype(Path(directory.name)).begin()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["prototype"] = node.config.stash[_prototypes][0].name


def pytest_unconfigure(config: pytest.Config) -> None:
    if made := config.stash.get(_prototypes, None):
        directory, thread = made
        thread.join()
        directory.cleanup()


@pytest.fixture(scope="session")
def server_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """An embedded Postgres for the whole run; the URL of its own database."""
    with _directory() as directory:
        if prototype := getattr(request.config, "workerinput", {}).get("prototype"):
            _Prototype(Path(prototype)).copy_to(Path(directory, "postgres", "server"))
        with _server(Path(directory)) as url, psycopg.connect(url, autocommit=True) as _administering[url]:
            yield url


@contextmanager
def _server(directory: Path) -> Iterator[str]:
    with EmbeddedPostgres(directory / "postgres", parameters=_TEST_PARAMETERS) as server:
        url = server.start()
        with psycopg.connect(url, autocommit=True) as connection:
            # a password is worth thousands of hashes to whoever must not guess it: 3 ms for each of thousands of connections
            connection.execute("set scram_iterations = 1")
            connection.execute(SQL("alter role quarry password {}").format(connection.info.password))
        yield url


def _directory() -> tempfile.TemporaryDirectory[str]:
    directory = tempfile.TemporaryDirectory(prefix="quarry-tests-", dir=directory_in_memory())
    # open to the user that the server runs as when the tests run as root
    Path(directory.name).chmod(0o755)
    return directory


def directory_in_memory() -> Path | None:
    """A directory in memory where programs may run, if there is room: cloning takes a tenth of the time there."""
    if not os.access(_MEMORY, os.W_OK):
        return None
    status = os.statvfs(_MEMORY)
    large_enough = status.f_bavail * status.f_frsize >= _MEMORY_MIN_BYTES
    return _MEMORY if large_enough and not status.f_flag & os.ST_NOEXEC else None


@pytest.fixture(scope="session")
def migrated_template(server_url: str) -> str:
    """The name of a migrated, empty database."""
    if not _is_there(server_url, MIGRATED):
        _make_migrated(server_url)
    return MIGRATED


@pytest.fixture(scope="session")
def sample_template(server_url: str, migrated_template: str) -> str:
    """The name of a database with the embedded sample data of every domain."""
    if not _is_there(server_url, SAMPLE):
        _make_sample(server_url)
    return SAMPLE


def _is_there(server_url: str, name: str) -> bool:
    with psycopg.connect(server_url) as connection:
        return connection.execute("select from pg_database where datname = %s", [name]).fetchone() is not None


def _make_migrated(server_url: str) -> None:
    migrate(create_database(server_url, MIGRATED), embedding_dimensions=384)


def _make_sample(server_url: str) -> None:
    url = create_database(server_url, SAMPLE, template=MIGRATED)

    async def fill() -> None:
        database, model = Database(url, pool_size=1, timeout_seconds=60), LocalEmbedding()
        await load_sample(database, url, model)
        await model.close()
        await database.close()

    asyncio.run(fill())


@pytest.fixture
def database_url(server_url: str, migrated_template: str) -> Iterator[str]:
    """The URL of an empty, migrated database of this test's own."""
    with clone_database(server_url, migrated_template) as url:
        yield url


@pytest.fixture(scope="module")
def shared_url(request: pytest.FixtureRequest, server_url: str, migrated_template: str) -> str:
    """The URL of a migrated database that the tests of a module share."""
    return create_database(server_url, request.module.__name__.replace(".", "_"), template=migrated_template)


@pytest.fixture
def sample_url(server_url: str, sample_template: str) -> Iterator[str]:
    """The URL of a database with the sample data for a single test."""
    with clone_database(server_url, sample_template) as url:
        yield url


@pytest.fixture
async def make_services() -> AsyncIterator[Callable[..., Services]]:
    """Builds services for a database URL, with settings as environment variables; closed after the test."""
    built: list[Services] = []

    def make(url: str, **environment: str) -> Services:
        services = build_services(Settings.from_environment({"DATABASE_URL": url} | environment))
        built.append(services)
        return services

    yield make
    for services in built:
        await services.close()


@pytest.fixture
async def services(database_url: str, make_services: Callable[..., Services]) -> Services:
    """Services on an empty database, without a chat model."""
    return make_services(database_url)


@pytest.fixture
async def sample_services(sample_url: str, make_services: Callable[..., Services]) -> Services:
    """Services on the sample data, without a chat model."""
    return make_services(sample_url)


@pytest.fixture(scope="session")
def shared_model() -> Iterator[FakeOpenAI]:
    """A server as below for applications that many tests use."""
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def model(shared_model: FakeOpenAI) -> FakeOpenAI:
    """The chat model of applications that many tests use, reset."""
    shared_model.reset()
    return shared_model


@pytest.fixture
async def chat(model: FakeOpenAI) -> AsyncIterator[OpenAIChat]:
    """A client of that model, which is called once however it fails."""
    chat = OpenAIChat(OpenAIConnection("key", model.url, max_retries=0, timeout_seconds=5), "gpt-4o-mini")
    yield chat
    await chat.close()


@pytest.fixture
def openai_server() -> Iterator[FakeOpenAI]:
    """A server with OpenAI's wire format that answers as the test specifies."""
    with FakeOpenAI() as server:
        yield server


def client_of(url: str, **environment: str) -> TestClient:
    """A client of the whole application on the database at `url`. Rates are not limited, and questions are read by the rules,
    unless `environment` says otherwise.
    """
    given = {"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "0"} | environment
    settings = Settings.from_environment(given)
    app = create_app(build_services(settings), EVERYTHING, EVERYTHING)
    return local_client(app, raise_server_exceptions=False)


def local_client(app: ASGIApp, *, raise_server_exceptions: bool = True) -> TestClient:
    """A client of `app` that uses a loopback name: a local server answers no other."""
    return TestClient(app, "http://127.0.0.1", raise_server_exceptions=raise_server_exceptions)


def model_environment(url: str) -> dict[str, str]:
    """The settings of a service with the chat model at `url`, which is called however often it failed."""
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": url,
        "EMBEDDINGS": "local",
        "MODEL_MAX_RETRIES": "0",
        "MODEL_TIMEOUT_SECONDS": "4",
        "MODEL_FAILURES_MAX": "0",
    }


def create_database(server_url: str, name: str, *, template: str = "template0") -> str:
    """Creates a database next to the one at `server_url`, replacing one of the same name, and returns its URL."""
    # a process that comes back to a folder makes anew what the tests there share
    _administer(server_url, SQL("drop database if exists {} with (force)").format(Identifier(name)))
    # a third of the CPU that writing the log takes, where the disk is memory
    copied = SQL("create database {} template {} strategy file_copy")
    _administer(server_url, copied.format(Identifier(name), Identifier(template)))
    return server_url.rsplit("/", 1)[0] + "/" + name


def _administer(server_url: str, statement: Composed) -> None:
    """Runs a statement on the connection kept for this, if there is one: a new connection costs more than most statements."""
    kept = _administering.get(server_url)
    if kept is not None and not kept.closed:
        kept.execute(statement)
        return
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(statement)


@contextmanager
def clone_database(server_url: str, template: str) -> Iterator[str]:
    """A copy of the database `template`, dropped at the end; yields its URL."""
    name = f"test_{next(_numbers)}"
    yield create_database(server_url, name, template=template)
    _administer(server_url, SQL("drop database {} with (force)").format(Identifier(name)))
