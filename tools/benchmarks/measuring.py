"""Shared by the benchmarks: a generated database, time as seen by server and client, recall, and how to print them.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, LiteralString

import httpx2
import psycopg

from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models.interface import EmbeddingModel
from quarry.models.query_embedding import QueryEmbedder
from quarry.platform.settings import DEFAULT_SCHEMA, Settings
from quarry.postgres.embed import remember_model
from quarry.postgres.migrate import migrate
from quarry.postgres.pool import Database
from quarry.services.services import build_services
from tests.running import serving

WARM_UP = 5
WARM_UP_REQUESTS = 10
REQUEST_SECONDS = 120.0
LOG_SECONDS = 0.5
"""After this time, the runs of all requests are in the log."""

_MEMORY_MB = (os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) >> 20

SERVER_PARAMETERS = {
    "shared_buffers": f"{_MEMORY_MB // 3}MB",  # a million rows and their indexes take 4 GB
    "fsync": "off",
    "max_wal_size": "4GB",
    "search_path": "quarry, public",
}

Connection = psycopg.Connection[tuple[Any, ...]]
Scored = Sequence[tuple[str, float]]
"""Ids with their scores, best first."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one call: CPU of the server process, and wall time of the client."""

    cpu_ms: float
    wall_ms: float


@contextmanager
def migrated_server() -> Iterator[str]:
    """The URL of an embedded Postgres of its own, migrated and empty, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="quarry-bench-") as directory:
        # if root's server runs as another user, it can reach its data here; the data is removed with the directory
        Path(directory).chmod(0o755)
        with EmbeddedPostgres(Path(directory) / "postgres", parameters=SERVER_PARAMETERS) as server:
            url = server.start()
            migrate(url, embedding_dimensions=384)
            yield url


@contextmanager
def measured_connection(url: str) -> Iterator[Connection]:
    """A connection whose queries run in a single process, so that its CPU is all there is to measure."""
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
    """The time of one statement, and its rows."""
    cpu, wall = cpu_ms(), time.perf_counter()
    rows = connection.execute(statement, parameters).fetchall()
    return Timing(cpu_ms() - cpu, (time.perf_counter() - wall) * 1000), rows


def recall(found: Scored, exact: Scored, depth: int) -> float:
    """The share of the first `depth` results whose exact score is at least that of the last exact result."""
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


@dataclass(frozen=True)
class Task:
    """One call of a search: its arguments, and the style it is reported under."""

    style: str
    parameters: tuple[Any, ...]


@dataclass(frozen=True)
class Search:
    """A search, the literal function to compare it with, and the exact ranking by the same definition. Each is a statement that
    returns id and score, best first. Recall is measured at `depths`; `aim` is the ratio of CPU to the literal's to reach at
    100,000 rows.
    """

    name: str
    statement: str
    literal: str
    exact: str
    depths: tuple[int, ...] = (10, 40, 120)
    aim: int | None = None


@dataclass(frozen=True)
class Measured:
    """One query: both functions' times and the recall of the fast one at each depth."""

    fast: Timing
    literal: Timing
    recalls: tuple[float, ...]


def compare(connection: Connection, search: Search, tasks: Sequence[Task]) -> dict[str, list[Measured]]:
    """Runs each task with the search, the literal function and the exact ranking. Returns the results by style."""
    cpu_ms = cpu_clock(connection)
    for task in tasks[:WARM_UP]:
        _call(connection, search.statement, task, cpu_ms)
        _call(connection, search.literal, task, cpu_ms)
    by_style: dict[str, list[Measured]] = defaultdict(list)
    for task in tasks:
        fast, found = _call(connection, search.statement, task, cpu_ms)
        literal, _ = _call(connection, search.literal, task, cpu_ms)
        _, exact = _call(connection, search.exact, task, cpu_ms)
        by_style[task.style].append(
            Measured(fast, literal, tuple(recall(found, exact, depth) for depth in search.depths))
        )
    return by_style


def _call(
    connection: Connection, statement: str, task: Task, cpu_ms: Callable[[], float]
) -> tuple[Timing, list[tuple[str, float]]]:
    timing, rows = timed(connection, cpu_ms, statement.encode(), task.parameters)
    return timing, [(str(row[0]), float(row[1])) for row in rows]


def print_comparison(search: Search, rows: int, by_style: dict[str, list[Measured]]) -> None:
    print(f"\n{search.name}, {rows:,} rows; milliseconds of server CPU, p50 (p95)")
    depths = " ".join(f"recall@{depth:<3}" for depth in search.depths)
    print(f"{'style':24} {'n':>3} {'ours':>16} {'literal':>18} {'ratio':>8} {'wall ratio':>10} {depths}")
    everything = [measured for group in by_style.values() for measured in group]
    for style, group in [*by_style.items(), ("all", everything)]:
        fast, literal = _cpu(m.fast for m in group), _cpu(m.literal for m in group)
        wall = median_ratio([m.literal.wall_ms for m in group], [m.fast.wall_ms for m in group])
        recalls = " ".join(
            f"{statistics.mean(m.recalls[place] for m in group):10.3f}" for place in range(len(search.depths))
        )
        print(
            f"{style:24} {len(group):3} {spread(fast):>16} {spread(literal):>18} {median_ratio(literal, fast):7.1f}x"
            f" {wall:9.1f}x {recalls}"
        )
    aim = "" if search.aim is None else f"; the aim at 100,000 rows is {search.aim} (ratio of medians)"
    total = sum(m.literal.cpu_ms for m in everything) / sum(m.fast.cpu_ms for m in everything)
    print(f"all queries together: {total:.1f} times less CPU than the literal{aim}")


def _cpu(timings: Iterable[Timing]) -> list[float]:
    return [timing.cpu_ms for timing in timings]


@dataclass(frozen=True)
class ServiceTimes:
    """Wall milliseconds of each request over HTTP, and of the steps in it that are not the service itself: SQL and embedding."""

    requests: list[float]
    steps: list[float]

    @property
    def overhead(self) -> float:
        return median_ratio(self.requests, self.steps)


def service_times(
    url: str,
    queries: Sequence[str],
    ask: Callable[[httpx2.Client, str], None],
    *,
    steps: Sequence[str] | None = None,
    embeddings: EmbeddingModel | None = None,
) -> ServiceTimes:
    """Sends queries one after another to the service, which searches the database at `url` with the local embedding model or
    the given one.

    The time of the steps, all or those named, is that of the same requests, from the run log.
    """
    services = build_services(Settings.from_environment({"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "0"}))
    if embeddings is not None:
        services = replace(services, embeddings=embeddings, queries=QueryEmbedder(embeddings, services.database))
    asyncio.run(record_model(url, services.embeddings))
    with (
        serving(services) as base,
        httpx2.Client(base_url=base, timeout=REQUEST_SECONDS) as client,
    ):
        for query in queries[:WARM_UP_REQUESTS]:
            ask(client, query)
        with psycopg.connect(url, autocommit=True) as connection:
            time.sleep(LOG_SECONDS)
            connection.execute("truncate search_runs cascade")
        requests = [_timed_request(ask, client, f"{query} again") for query in queries]
        time.sleep(LOG_SECONDS)
    with psycopg.connect(url) as connection:
        inner = connection.execute(
            "select sum(duration_ms) from search_run_steps"
            " where %(steps)s::text[] is null or name = any(%(steps)s) group by run_id",
            {"steps": None if steps is None else list(steps)},
        ).fetchall()
    return ServiceTimes(requests, [float(row[0]) for row in inner])


def _timed_request(ask: Callable[[httpx2.Client, str], None], client: httpx2.Client, query: str) -> float:
    started = time.perf_counter()
    ask(client, query)
    return (time.perf_counter() - started) * 1000


async def record_model(url: str, embeddings: EmbeddingModel, schema: str = DEFAULT_SCHEMA) -> None:
    database = Database(url, pool_size=1, timeout_seconds=10, schema=schema)
    await remember_model(database, embeddings)
    await database.close()
