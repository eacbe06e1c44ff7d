"""`make bench BENCH_ARGS="costs"`: the resources of one search, from which tools/costs.py computes the costs per month.

CPU and bytes, not time: on a busy machine a search waits, but the resources it uses hardly change. `OPENBLAS_NUM_THREADS=1`
stands for the function's single processor: several threads would wait for each other by spinning.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

import httpx2

from quarry.platform.settings import Settings
from quarry.services.services import build_services
from tests.running import serving
from tools.benchmarks.generated import Corpus, load_motions
from tools.benchmarks.measuring import (
    LOG_SECONDS,
    REQUEST_SECONDS,
    WARM_UP_REQUESTS,
    Connection,
    measured_connection,
    migrated_server,
    record_model,
)

_TICKS = os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description="What one search takes, measured.")
    parser.add_argument("--rows", type=int, default=10_000, help="size of the generated table")
    parser.add_argument("--requests", type=int, default=240, help="searches, each of another text")
    options, _ = parser.parse_known_args(arguments)
    corpus = Corpus()
    with migrated_server() as url, measured_connection(url) as connection:
        # Aurora writes no full pages into its log; later work on the loaded rows is not part of a search
        for setting in ("full_page_writes", "autovacuum"):
            connection.execute(f"alter system set {setting} = off".encode())
        connection.execute("select pg_reload_conf()")
        load_motions(connection, corpus, options.rows)
        queries = [query.text for query in Corpus(seed=23).queries(options.requests // 6 + WARM_UP_REQUESTS)]
        services = build_services(Settings.from_environment({"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "0"}))
        asyncio.run(record_model(url, services.embeddings))
        with serving(services) as base, httpx2.Client(base_url=base, timeout=REQUEST_SECONDS) as client:
            for query in queries[:WARM_UP_REQUESTS]:
                _search(client, query)
            _print(connection, client, queries[WARM_UP_REQUESTS:][: options.requests])


def _print(connection: Connection, client: httpx2.Client, queries: Sequence[str]) -> None:
    n = len(queries)
    log, database, own = _log_bytes(connection), _server_seconds(connection), time.process_time()
    answered = sum(_search(client, query) for query in queries)
    time.sleep(LOG_SECONDS)
    own, database = time.process_time() - own, _server_seconds(connection) - database
    print(f"\nGET /records/search, each of {n}: ms of CPU {own / n * 1000:.0f} in the service and its client,", end=" ")
    print(f"{database / n * 1000:.0f} in the database;", end=" ")
    print(f"KiB {(_log_bytes(connection) - log) / n / 1024:.1f} of WAL, {answered / n / 1024:.1f} answered")


def _search(client: httpx2.Client, query: str) -> int:
    """The size of the answer in bytes."""
    return len(client.get("/records/search", params={"q": query}).raise_for_status().content)


def _log_bytes(connection: Connection) -> int:
    row = connection.execute("select (pg_current_wal_insert_lsn() - '0/0')::bigint").fetchone()
    assert row is not None
    return int(row[0])


def _server_seconds(connection: Connection) -> float:
    """CPU time of all processes of the server, including those that have ended."""
    server = _stat(Path(f"/proc/{connection.info.backend_pid}/stat"))[1]
    ticks = sum(_stat(Path(f"/proc/{server}/stat"))[11:15])
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = _stat(path)
        except OSError:  # it has ended
            continue
        if fields[1] == server:
            ticks += sum(fields[11:13])
    return ticks / _TICKS


def _stat(path: Path) -> list[int]:
    """The fields of /proc/PID/stat after the name: the state as 0, then the parent's id and all others."""
    return [int(field) for field in re.sub(r"^.*\) \S", "0", path.read_text()).split()]


if __name__ == "__main__":
    main()
