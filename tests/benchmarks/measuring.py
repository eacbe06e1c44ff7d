"""What the benchmarks share: a generated database, time as the server and the client see it, recall, and how both are printed.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from quarry.core.postgres.migrate import migrate
from quarry.local.embedded_postgres import EmbeddedPostgres

SERVER_PARAMETERS = {"shared_buffers": "2GB", "fsync": "off", "max_wal_size": "4GB"}

Connection = psycopg.Connection[tuple[Any, ...]]
Scored = Sequence[tuple[str, float]]
"""Ids with their scores, best first."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one call: CPU of the server process, and wall time as the client sees it."""

    cpu_ms: float
    wall_ms: float


@contextmanager
def migrated_server() -> Iterator[str]:
    """The URL of an embedded Postgres of its own, migrated and empty, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="quarry-bench-") as directory:
        with EmbeddedPostgres(Path(directory) / "postgres", parameters=SERVER_PARAMETERS) as server:
            url = server.start()
            migrate(url, embedding_dimensions=384)
            yield url


@contextmanager
def measured_connection(url: str) -> Iterator[Connection]:
    """A connection whose queries run in one process, so that its CPU is all there is to measure."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set max_parallel_workers_per_gather = 0")
        yield connection


def cpu_clock(connection: Connection) -> Callable[[], float]:
    """Milliseconds of CPU that the connection's server process has used."""
    path = Path(f"/proc/{connection.info.backend_pid}/schedstat")
    return lambda: int(path.read_text().split()[0]) / 1e6


def timed(
    connection: Connection, cpu_ms: Callable[[], float], statement: LiteralString | bytes, parameters: Sequence[Any]
) -> tuple[Timing, list[tuple[Any, ...]]]:
    """The time that one statement took, and its rows."""
    cpu, wall = cpu_ms(), time.perf_counter()
    rows = connection.execute(statement, parameters).fetchall()
    return Timing(cpu_ms() - cpu, (time.perf_counter() - wall) * 1000), rows


def recall(found: Scored, exact: Scored, depth: int) -> float:
    """The share of the first `depth` that belong there: whose exact score is no lower than that of the exact last one."""
    if not exact:
        return 1.0
    wanted = min(depth, len(exact))
    threshold = exact[wanted - 1][1] - 1e-9
    scores = dict(exact)
    return sum(scores.get(key, 0.0) >= threshold for key, _ in found[:wanted]) / wanted


def spread(values: Sequence[float]) -> str:
    """`p50 (p95)`."""
    ordered = sorted(values)
    return f"{statistics.median(ordered):.1f} ({ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]:.1f})"


def median_ratio(over: Sequence[float], under: Sequence[float]) -> float:
    return statistics.median(over) / statistics.median(under)
