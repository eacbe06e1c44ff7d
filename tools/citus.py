"""Several servers of Postgres on this machine, on loopback: a coordinator and two workers with Citus, or the same without it.

    QUARRY_CITUS=FOLDER python -m tools.citus [DIRECTORY]

FOLDER holds the programs of a Postgres that Citus was built for (`bin/initdb`, `lib/citus.so`). The nodes trust every connection
from this machine, so this is for tests and measurements. As root, the programs run as the user nobody.
"""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg

FOLDER_VARIABLE = "QUARRY_CITUS"
DATABASE = "quarry"
WORKERS = 2

SERVED_WITH = {
    "shared_preload_libraries": "citus",
    # moving a tenant replicates its tables
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
}
"""What a node needs; compose.citus.yaml sets the same."""

_HERE = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "jit": "off",
    "citus.enable_statistics_collection": "off",
    "fsync": "off",
}
_LOCALE = (
    *("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--lc-ctype=C.UTF-8"),
    "--text-search-config=english",
)


def programs() -> Path | None:
    """The folder that QUARRY_CITUS names, if Citus is installed in it."""
    own_folder = os.environ.get(FOLDER_VARIABLE)
    folder = Path(own_folder).resolve() if own_folder else None
    return folder if folder and (folder / "lib" / "citus.so").exists() else None


def programs_of(url: str) -> Path:
    """The folder of the Postgres of a server on this machine."""
    with psycopg.connect(url) as connection:
        [[folder]] = connection.execute("select setting from pg_config where name = 'BINDIR'").fetchall()
    return Path(folder).parent


class Node:
    """One server of the cluster: its data, its port, and how it is started and stopped."""

    def __init__(self, folder: Path, data: Path, parameters: Mapping[str, str]) -> None:
        self._folder = folder
        self._data = data
        self._parameters = parameters
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self.port = _free_port()

    @property
    def programs(self) -> Path:
        return self._folder / "bin"

    @property
    def name(self) -> str:
        """As `quarry tenant move` names it."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return self.url_of(DATABASE)

    def url_of(self, database: str) -> str:
        return f"postgresql://quarry@127.0.0.1:{self.port}/{database}"

    def create(self) -> None:
        self._data.mkdir(mode=0o700)
        if self._user:
            os.chown(self._data, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "--no-sync", "--pgdata", self._data, "--username=quarry", "--auth=trust", *_LOCALE)

    def start(self) -> None:
        options = " ".join(
            f"--{name}='{value}'" for name, value in {**self._parameters, **_HERE, "port": str(self.port)}.items()
        )
        log = self._data / "server.log"
        self._run("pg_ctl", "start", "--silent", "--pgdata", self._data, "--log", log, "--options", options)

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "--silent", "--mode=immediate", "--pgdata", self._data)

    def is_running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def cpu_seconds(self) -> float:
        """The CPU that the server and its children have used, those that have ended included."""
        main = int((self._data / "postmaster.pid").read_text().splitlines()[0])
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if int(stat.parent.name) == main:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == main:
                ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _run(self, program: str, *arguments: str | Path) -> None:
        environment: Mapping[str, str] = {"LD_LIBRARY_PATH": str(self._folder / "lib"), "LC_ALL": "C", "TZ": "UTC"}
        subprocess.run(
            [self._folder / "bin" / program, *arguments],
            user=self._user and self._user.pw_uid,
            group=self._user and self._user.pw_gid,
            extra_groups=[] if self._user else None,
            env=environment,
            cwd="/",
            check=True,
            stdout=subprocess.DEVNULL,
        )


class Cluster:
    """A coordinator and its workers; without Citus, servers that know nothing of each other."""

    def __init__(self, folder: Path, directory: Path, *, has_citus: bool = True, workers: int = WORKERS) -> None:
        parameters = {
            name: value for name, value in SERVED_WITH.items() if has_citus or name != "shared_preload_libraries"
        }
        self._has_citus = has_citus
        self.coordinator = Node(folder, directory / "coordinator", parameters)
        self.workers = [Node(folder, directory / f"worker-{number}", parameters) for number in range(1, workers + 1)]

    @property
    def nodes(self) -> list[Node]:
        return [self.coordinator, *self.workers]

    def start(self) -> None:
        """Create the nodes, and join them where there is Citus."""
        for node in self.nodes:
            node.create()
            node.start()
            with psycopg.connect(node.url_of("postgres"), autocommit=True) as connection:
                connection.execute(f"create database {DATABASE}".encode())
        if self._has_citus:
            self._join()

    def _join(self) -> None:
        for node in self.nodes:
            with psycopg.connect(node.url, autocommit=True) as connection:
                connection.execute("create extension citus")
        with psycopg.connect(self.coordinator.url, autocommit=True) as connection:
            connection.execute("select citus_set_coordinator_host('127.0.0.1', %s)", [self.coordinator.port])
            for worker in self.workers:
                connection.execute("select citus_add_node('127.0.0.1', %s)", [worker.port])

    def stop(self) -> None:
        for node in self.nodes:
            if node.is_running():
                node.stop()


@contextmanager
def cluster(
    folder: Path, directory: Path | None = None, *, has_citus: bool = True, workers: int = WORKERS
) -> Iterator[Cluster]:
    """A running cluster in a new directory, which is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="quarry-citus-", dir=directory) as temporary:
        Path(temporary).chmod(0o755)
        nodes = Cluster(folder, Path(temporary), has_citus=has_citus, workers=workers)
        try:
            nodes.start()
            yield nodes
        finally:
            nodes.stop()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def main(arguments: list[str]) -> int:
    folder = programs()
    if folder is None:
        print(f"Set {FOLDER_VARIABLE} to the folder of a Postgres with Citus (its lib/citus.so).", file=sys.stderr)
        return 1
    with cluster(folder, Path(arguments[0]) if arguments else None) as nodes:
        print(f"DATABASE_URL={nodes.coordinator.url}")
        for worker in nodes.workers:
            print(f"worker {worker.url}")
        print("Ctrl-C ends them.", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
