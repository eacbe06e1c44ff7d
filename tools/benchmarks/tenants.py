"""`make bench BENCH_ARGS="tenants"`: what tenants cost: making their schemas, space, a search in one of many, more servers.

Each tenant has its own schema in one embedded Postgres. The same generated motions are in the installation's own schema, in the
first tenant and in the last. Prints milliseconds of CPU a search, of the server and of all together, and the ratio to a search
without tenants.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import count, cycle
from urllib.parse import urlencode

import httpx2
import psycopg
from psycopg.sql import SQL, Identifier

from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.settings import Settings
from quarry.postgres.tenants import TenantMigrated, migrate_tenants
from quarry.services.services import build_services
from tests.running import serving
from tools.benchmarks import spread
from tools.benchmarks.generated import Corpus, load_motions
from tools.benchmarks.measuring import (
    LOG_SECONDS,
    REQUEST_SECONDS,
    WARM_UP_REQUESTS,
    measured_connection,
    migrated_server,
    record_model,
)
from tools.benchmarks.replica import server_clock
from tools.citus import programs_of

OWN = "quarry"
MIXED_ROWS = 300
MIXED_TURNS = 2
LOOK_UPS = 2_000
PROGRESS = 50


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description="Tenants, measured.")
    parser.add_argument("--tenants", type=int, default=1_000, help="how many there are")
    parser.add_argument("--rows", type=int, default=10_000, help="rows in each schema that is searched")
    parser.add_argument("--requests", type=int, default=120, help="searches of each kind")
    parser.add_argument("--mixed", type=int, default=100, help="tenants of the mixed load on one server and on three")
    parser.add_argument("--moved", type=int, default=100_000, help="rows of a tenant that is moved")
    options, _ = parser.parse_known_args(arguments)
    names = [f"t{number:05}" for number in range(1, options.tenants + 1)]
    with migrated_server() as url:
        if names:
            _make(url, names)
            _look_up(url, names[-1])
            for schema in (OWN, names[0], names[-1]):
                _fill(url, schema, options.rows)
            _search(url, names, options.requests)
        if options.mixed:
            spread.measure(programs_of(url), options.mixed, MIXED_ROWS, MIXED_TURNS * options.requests)
        if options.moved:
            spread.measure_move(programs_of(url), options.moved)


def _make(url: str, names: Sequence[str]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        insert = "insert into quarry.tenants (name, schema_name) select n, n from unnest(%s::text[]) n"
        connection.execute(insert, [[*names]])
        before = _size(connection)
        for pass_name in ("made", "asked again"):
            began = time.perf_counter()
            results = migrate_tenants(url, own_schema=OWN, embedding_dimensions=384, report=_progress(began))
            assert not [each for each in results if each.problem]
            print(f"{len(names):,} tenants {pass_name}: {time.perf_counter() - began:,.1f} s", flush=True)
        print(f"space of an empty tenant: {(_size(connection) - before) / len(names) / 1e6:.2f} MB")


def _progress(began: float) -> Callable[[TenantMigrated], None]:
    made = count(1)

    def report(_: TenantMigrated) -> None:
        if (number := next(made)) % PROGRESS == 0:
            print(f"  {number:,} after {time.perf_counter() - began:,.0f} s", flush=True)

    return report


def _look_up(url: str, name: str) -> None:
    """What it costs to find where the last tenant is, which a process does once a second for a tenant that is in use."""
    clock = server_clock(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set search_path = quarry, public")
        before = clock()
        for _ in range(LOOK_UPS):
            connection.execute("select schema_name, added_at::text, node from tenants where name = %s", [name])
        print(f"finding a tenant: {(clock() - before) / LOOK_UPS:.3f} ms of the server's CPU")


def _size(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    [[size]] = connection.execute("select pg_database_size(current_database())").fetchall()
    return int(str(size))


def _fill(url: str, schema: str, rows: int) -> None:
    with measured_connection(url) as connection:
        connection.execute(SQL("set search_path = {}, public").format(Identifier(schema)))
        load_motions(connection, Corpus(), rows)
    asyncio.run(record_model(url, LocalEmbedding(), schema))


def _search(url: str, names: Sequence[str], requests: int) -> None:
    queries = [query.text for query in Corpus(seed=23).queries(max(1, requests // 6))]
    server = server_clock(url)
    print(f"\nGET /records/search, {len(queries)} requests one after another; milliseconds of CPU a search")
    print(f"{'':34} {'server':>9} {'ratio':>6} {'all':>9} {'ratio':>6}")
    base: tuple[float, float] | None = None
    for kind, users in {
        "without tenants": ["ada"],
        "the first tenant": [f"ada@{names[0]}"],
        "the last tenant": [f"ada@{names[-1]}"],
        "first and last by turns": [f"ada@{names[0]}", f"ada@{names[-1]}"],
        "every tenant by turns": [f"ada@{name}" for name in names],
    }.items():
        claim = {} if users == ["ada"] else {"TENANT_CLAIM": "org"}
        environment = {"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "100000"} | claim
        with (
            serving(build_services(Settings.from_environment(environment))) as address,
            httpx2.Client(base_url=address, timeout=REQUEST_SECONDS) as client,
        ):
            turns = cycle(users)
            for query in queries[:WARM_UP_REQUESTS]:
                _get(client, query, next(turns))
            time.sleep(LOG_SECONDS)
            before = server(), time.process_time() * 1000
            for query in queries:
                _get(client, f"{query} again", next(turns))
            time.sleep(LOG_SECONDS)
            of_server = (server() - before[0]) / len(queries)
            of_all = of_server + (time.process_time() * 1000 - before[1]) / len(queries)
        base = base or (of_server, of_all)
        print(
            f"{kind:34} {of_server:9.2f} {of_server / base[0]:6.2f} {of_all:9.2f} {of_all / base[1]:6.2f}", flush=True
        )


def _get(client: httpx2.Client, query: str, user: str) -> None:
    address = "/records/search?" + urlencode({"q": query, "type": "motion"})
    client.get(address, headers={"Authorization": f"Bearer {user}"}).raise_for_status()
