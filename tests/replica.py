"""A real streaming replica of the tests' Postgres, which can be stopped, held back and started again."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.conftest import directory_in_memory
from tests.running import free_port
from tests.waiting import wait_until

SLOT = "quarry_tests"
"""What keeps the log that the replica has not read yet."""


class StreamingReplica:
    """A replica of the server at `primary_url`, made in `directory` by that server's own programs."""

    def __init__(self, primary_url: str, directory: Path) -> None:
        self._primary_url = primary_url
        with psycopg.connect(primary_url) as connection:
            [[data]] = connection.execute("show data_directory").fetchall()
        [self._programs] = Path(data).parents[1].glob("postgres-*")
        self._owner = Path(data).stat()
        self._data = directory / "replica"
        self._port = free_port()
        if os.geteuid() == 0:
            os.chown(directory, self._owner.st_uid, self._owner.st_gid)
        self._run(
            *("pg_basebackup", "--pgdata", self._data, "--dbname", primary_url, "--write-recovery-conf", "--no-sync"),
            *("--checkpoint=fast", "--create-slot", "--slot", SLOT),
        )

    def url_of(self, primary_url: str) -> str:
        """Where the replica has the database that is at `primary_url`."""
        parts = urlsplit(primary_url)
        return urlunsplit(parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{self._port}"))

    def start(self) -> None:
        options = {
            "port": self._port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": 200,  # a replica may not have fewer
            "shared_buffers": "32MB",
            "fsync": "off",
            "jit": "off",
        }
        told = " ".join(f"--{name}='{value}'" for name, value in options.items())
        log = self._data.parent / "replica.log"
        self._run("pg_ctl", "start", "--silent", "--pgdata", self._data, "--log", log, "--options", told)

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "--silent", "--mode=immediate", "--pgdata", self._data)

    def close(self) -> None:
        self.stop()
        with psycopg.connect(self._primary_url, autocommit=True) as connection:
            wait_until(
                lambda: connection.execute("select from pg_replication_slots where not active").fetchone() is not None
            )
            connection.execute("select pg_drop_replication_slot(%s)", [SLOT])

    def catch_up(self) -> None:
        """Wait until all that was committed so far can be read."""
        with (
            psycopg.connect(self._primary_url) as primary,
            psycopg.connect(self.url_of(self._primary_url), autocommit=True) as replica,
        ):
            [[written]] = primary.execute("select pg_current_wal_insert_lsn()").fetchall()
            wait_until(
                lambda: (
                    replica.execute("select where pg_last_wal_replay_lsn() >= %s::pg_lsn", [written]).fetchone()
                    is not None
                )
            )

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Until the end of the block what is committed arrives, and cannot be read."""
        self.catch_up()
        with psycopg.connect(self.url_of(self._primary_url), autocommit=True) as replica:
            replica.execute("select pg_wal_replay_pause()")
            wait_until(
                lambda: (
                    replica.execute("select where pg_get_wal_replay_pause_state() = 'paused'").fetchone() is not None
                )
            )
            try:
                yield
            finally:
                replica.execute("select pg_wal_replay_resume()")
        self.catch_up()

    def _run(self, program: str, *arguments: str | Path) -> None:
        is_root = os.geteuid() == 0
        # into a file: a server that is started keeps what it inherits, and a pipe would never end
        with tempfile.TemporaryFile() as output:
            completed = subprocess.run(
                [self._programs / "bin" / program, *arguments],
                user=self._owner.st_uid if is_root else None,
                group=self._owner.st_gid if is_root else None,
                extra_groups=[] if is_root else None,
                env={"LD_LIBRARY_PATH": str(self._programs / "lib"), "LC_ALL": "C", "TZ": "UTC"},
                cwd="/",
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
            output.seek(0)
            assert completed.returncode == 0, output.read().decode()


@contextmanager
def streaming_replica(primary_url: str) -> Iterator[StreamingReplica]:
    """A running replica of the server at `primary_url`."""
    with tempfile.TemporaryDirectory(prefix="quarry-replica-", dir=directory_in_memory()) as directory:
        Path(directory).chmod(0o755)
        replica = StreamingReplica(primary_url, Path(directory))
        replica.start()
        try:
            yield replica
        finally:
            replica.close()
