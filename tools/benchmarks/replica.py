"""`make bench BENCH_ARGS="replica"`: the load that a replica takes off the database, and the disk space of rows.

Fills an embedded Postgres with generated motions, creates a streaming replica of it, and sends the service the same searches
without and with the replica. Prints the CPU that all processes of each server used per search, including replication, and the
bytes that each table and index takes per row.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import psycopg

from quarry.platform.settings import Settings
from quarry.services.services import build_services
from tests.replica import streaming_replica
from tests.running import serving
from tools.benchmarks.generated import Corpus, load_motions
from tools.benchmarks.measuring import (
    LOG_SECONDS,
    REQUEST_SECONDS,
    WARM_UP_REQUESTS,
    measured_connection,
    migrated_server,
    record_model,
)

_SIZES = """
select c.relname, coalesce(a.amname, 'table') as kind,
  pg_relation_size(c.oid) + coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) as bytes
from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_am a on a.oid = c.relam and c.relkind = 'i'
where coalesce(i.indrelid, c.oid) = any(array['motions', 'motion_embeddings']::regclass[]) order by bytes desc
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description="A replica, measured.")
    parser.add_argument("--rows", type=int, default=10_000, help="size of the generated table")
    parser.add_argument("--requests", type=int, default=120, help="searches without and with the replica")
    options, _ = parser.parse_known_args(arguments)
    with migrated_server() as url:
        with measured_connection(url) as connection:
            load_motions(connection, Corpus(), options.rows)
            _print_sizes(connection, options.rows)
        services = build_services(Settings.from_environment({"DATABASE_URL": url}))
        asyncio.run(record_model(url, services.embeddings))
        with streaming_replica(url) as replica:
            _measure(url, replica.url_of(url), options.requests)


def _print_sizes(connection: psycopg.Connection[tuple[object, ...]], rows: int) -> None:
    print(f"\nmotions, {rows:,} rows with a vector each; bytes a row")
    for name, kind, size in connection.execute(_SIZES).fetchall():
        print(f"{name!s:36} {kind!s:8} {int(str(size)) / rows:8.0f}")


def _measure(url: str, replica_url: str, requests: int) -> None:
    queries = [query.text for query in Corpus(seed=23).queries(max(1, requests // 6))]
    clocks = [server_clock(url), server_clock(replica_url)]
    print(f"\nGET /records/search, {len(queries)} requests one after another; milliseconds of CPU a search")
    print(f"{'':16} {'database':>9} {'replica':>9}")
    for name, more in {"without replica": {}, "with replica": {"DATABASE_READER_URL": replica_url}}.items():
        environment = {"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "100000"} | more
        with (
            serving(build_services(Settings.from_environment(environment))) as base,
            httpx2.Client(base_url=base, timeout=REQUEST_SECONDS) as client,
        ):
            for query in queries[:WARM_UP_REQUESTS]:
                _search(client, query)
            time.sleep(LOG_SECONDS)
            before = [clock() for clock in clocks]
            for query in queries:
                _search(client, f"{query} again")
            time.sleep(LOG_SECONDS)
            used = [clock() - since for clock, since in zip(clocks, before, strict=True)]
        print(f"{name:16} " + " ".join(f"{each / len(queries):9.2f}" for each in used))


def _search(client: httpx2.Client, query: str) -> None:
    client.get("/records/search?" + urlencode({"q": query, "type": "motion"})).raise_for_status()


def server_clock(url: str) -> Callable[[], float]:
    """Milliseconds of CPU used by a server's processes, including those that have ended."""
    with psycopg.connect(url) as connection:
        [[data]] = connection.execute("show data_directory").fetchall()
    server = (Path(data) / "postmaster.pid").read_text().split()[0]

    def clock() -> float:
        ended = sum(int(ticks) for ticks in _stat(Path("/proc") / server)[13:15]) * 10.0
        return ended + sum(
            int((process / "schedstat").read_text().split()[0]) / 1e6
            for process in Path("/proc").iterdir()
            if process.name == server or (process.name.isdigit() and _stat(process)[1:2] == [server])
        )

    return clock


def _stat(process: Path) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent, …; empty if the process is gone."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
