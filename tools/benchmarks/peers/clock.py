"""What the searches of one database cost its server. Needs psycopg alone: the peers' environment imports it too."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg


def server_ms(connection: psycopg.Connection[Any]) -> float:
    """Milliseconds of CPU that all other sessions of the connection's database have used."""
    total = 0.0
    for (pid,) in connection.execute(
        "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    ):
        with suppress(FileNotFoundError):
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6
    return total
