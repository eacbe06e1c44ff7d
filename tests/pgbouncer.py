"""A real PgBouncer in transaction mode on loopback, in front of a test database."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.running import free_port
from tests.waiting import wait_until

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

_CONFIGURATION = """
[databases]
{name} = host={host} port={port} dbname={name} user={user} password={password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {pool_size}
"""


@contextmanager
def transaction_pooler(url: str, *, pool_size: int) -> Iterator[str]:
    """The URL of the database at `url` through PgBouncer, whose clients share `pool_size` server sessions."""
    if PGBOUNCER is None:
        pytest.skip("There is no PgBouncer here: nothing is asked through it (Debian: apt install pgbouncer)")
    target, listen_port = urlsplit(url), free_port()
    with tempfile.TemporaryDirectory(prefix="quarry-pgbouncer-") as directory:
        Path(directory).chmod(0o755)  # it refuses to run as root
        configuration = Path(directory) / "pgbouncer.ini"
        configuration.write_text(
            _CONFIGURATION.format(
                name=target.path.removeprefix("/"),
                host=target.hostname,
                port=target.port,
                user=target.username,
                password=target.password,
                listen_port=listen_port,
                pool_size=pool_size,
            )
        )
        with _running(PGBOUNCER, configuration) as process:
            try:
                wait_until(lambda: _takes_connections(listen_port, process))
                yield f"postgresql://{target.username}@127.0.0.1:{listen_port}{target.path}"
            finally:
                process.kill()


def _running(program: str, configuration: Path) -> subprocess.Popen[bytes]:
    command = [program, "-q", str(configuration)]
    if os.geteuid() == 0:
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, user="nobody", group="nogroup", extra_groups=[])
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def _takes_connections(port: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "PgBouncer ended at once"
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
