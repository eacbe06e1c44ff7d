"""The server CPU used by the searches of one database. Needs only psycopg, since the peers' environment imports it too."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg


def server_ms(connection: psycopg.Connection[Any]) -> float:
    """Milliseconds of CPU used by all other sessions of the connection's database."""
    total = 0.0
    for (pid,) in connection.execute(
        "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    ):
        with suppress(FileNotFoundError):
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6
    return total
