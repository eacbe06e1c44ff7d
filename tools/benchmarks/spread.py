"""Parts of `make bench BENCH_ARGS="tenants"`: a mixed load of many tenants on one server and on three, and moving a tenant.

Tenants do by turns what users do: of ten requests eight searches, a count and a saved search. Prints milliseconds of CPU a
request on each server. The busiest server bounds what all can serve: the ratio tells how much more three serve than one.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Sequence
from functools import partial
from itertools import count, cycle
from pathlib import Path

import httpx2
from psycopg.sql import SQL, Identifier

from quarry.local.installation import definitions
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.settings import Settings
from quarry.postgres.migrate import migrate
from quarry.postgres.tenant_move import move_tenant
from quarry.postgres.tenants import add_tenant
from quarry.services.services import build_services
from tests.running import serving
from tools.benchmarks.generated import Corpus, load_motions
from tools.benchmarks.measuring import LOG_SECONDS, REQUEST_SECONDS, measured_connection, record_model
from tools.citus import Cluster, cluster

SEARCHES_OF_TEN = 8


def measure(folder: Path, tenants: int, rows: int, requests: int) -> None:
    """`folder` is that of a Postgres without Citus."""
    print(
        f"\n{tenants} tenants of {rows:,} motions, {requests} requests one after another; milliseconds of CPU a request"
    )
    busiest: list[float] = []
    for servers in (1, 3):
        with cluster(folder, has_citus=False, workers=servers - 1) as nodes:
            names = _fill(nodes, tenants, rows)
            by_node = _load(nodes, names, requests)
        busiest.append(max(by_node))
        shares = "  ".join(f"{each:6.2f}" for each in by_node)
        print(f"{servers} server{'s' if servers > 1 else ' '}  busiest {max(by_node):6.2f}  each {shares}", flush=True)
    print(f"three serve {busiest[0] / busiest[1]:.2f} times as much as one")


def _fill(nodes: Cluster, tenants: int, rows: int) -> list[str]:
    url = nodes.coordinator.url
    migrate(url, embedding_dimensions=384)
    names = [f"t{number:03}" for number in range(tenants)]
    for name, node in zip(names, cycle(nodes.nodes), strict=False):
        add_tenant(url, name, name, own_schema="quarry", embedding_dimensions=384, node=node.name)
        with measured_connection(node.url) as connection:
            connection.execute(SQL("set search_path = {}, public").format(Identifier(name)))
            load_motions(connection, Corpus(), rows)
        asyncio.run(record_model(node.url, LocalEmbedding(), name))
    return names


def _load(nodes: Cluster, names: Sequence[str], requests: int) -> list[float]:
    """Milliseconds of CPU a request on each server."""
    queries = [query.text for query in Corpus(seed=23).queries(max(1, requests // 6))]
    environment = {"DATABASE_URL": nodes.coordinator.url, "RATE_LIMIT_PER_MINUTE": "0", "TENANT_CLAIM": "org"}
    with (
        serving(build_services(Settings.from_environment(environment))) as address,
        httpx2.Client(base_url=address, timeout=REQUEST_SECONDS) as client,
    ):
        for name in names:  # each server's connections have met each tenant
            _request(client, name, 0, queries[0])
        time.sleep(LOG_SECONDS)
        before = [node.cpu_seconds() for node in nodes.nodes]
        for number, name, query in zip(range(requests), cycle(names), cycle(queries), strict=False):
            _request(client, name, number, f"{query} again")
        time.sleep(LOG_SECONDS)
        return [(node.cpu_seconds() - start) * 1000 / requests for node, start in zip(nodes.nodes, before, strict=True)]


def _request(client: httpx2.Client, tenant: str, number: int, query: str, user: str = "ada") -> None:
    headers = {"Authorization": f"Bearer {user}@{tenant}"}
    # in another order in each round, so that no tenant always does the same
    kind = (number + number // 10) % 10
    if kind < SEARCHES_OF_TEN:
        answer = client.get("/records/search", params={"q": query, "type": "motion"}, headers=headers)
    elif kind == SEARCHES_OF_TEN:
        counted = {"source": "motion", "aggregate": [{"fn": "count"}]}
        answer = client.post("/query", json=counted, headers=headers)
    else:
        saved = {"name": f"search {number}", "domain": "records", "query": query}
        answer = client.post("/me/searches", json=saved, headers=headers)
    answer.raise_for_status()


def measure_move(folder: Path, rows: int) -> None:
    """Move a tenant of `rows` motions while one user reads and another writes; how long each waits at most."""
    with cluster(folder, has_citus=False, workers=1) as nodes:
        [name] = _fill(nodes, 1, rows)
        os.environ["LD_LIBRARY_PATH"] = str(folder / "lib")
        environment = {"DATABASE_URL": nodes.coordinator.url, "RATE_LIMIT_PER_MINUTE": "0", "TENANT_CLAIM": "org"}
        over = threading.Event()
        with serving(build_services(Settings.from_environment(environment))) as address:
            users = {kind: _User(address, name, number, over) for kind, number in {"reads": 0, "writes": 9}.items()}
            time.sleep(LOG_SECONDS)
            began = time.perf_counter()
            moved = move_tenant(
                nodes.coordinator.url,
                name,
                nodes.workers[0].name,
                own_schema="quarry",
                embedding_dimensions=384,
                dump=partial(definitions, str(nodes.coordinator.programs / "pg_dump")),
            )
            seconds = time.perf_counter() - began
            over.set()
            for user in users.values():
                user.join()
        print(
            f"\na tenant of {rows:,} motions moved in {seconds:.0f} s; writes refused for {moved.stalled_seconds:.2f} s"
        )
        for kind, user in users.items():
            print(f"{kind}: {user.done}, longest {user.longest:.2f} s, refused {user.refused}", flush=True)


class _User(threading.Thread):
    """Does the same again and again until it is `over`."""

    def __init__(self, address: str, tenant: str, kind: int, over: threading.Event) -> None:
        super().__init__()
        self.done = self.refused = 0
        self.longest = 0.0
        self._address, self._tenant, self._kind, self._over = address, tenant, kind, over
        self.start()

    def run(self) -> None:
        with httpx2.Client(base_url=self._address, timeout=REQUEST_SECONDS) as client:
            _request(client, self._tenant, self._kind, "warm")  # loads the model
            for number in count():
                if self._over.is_set():
                    return
                began = time.perf_counter()
                try:
                    _request(client, self._tenant, self._kind, f"bridge {number}", f"ada{number // 50}")
                except httpx2.HTTPStatusError:
                    self.refused += 1
                self.done += 1
                self.longest = max(self.longest, time.perf_counter() - began)
