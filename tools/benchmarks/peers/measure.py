"""`make bench BENCH_ARGS="peers FOLDER --sets NAME --python PYTHON"`: LangChain's and LlamaIndex's hybrid retrievers and ours.

FOLDER holds judged sets of records, as for `make eval FOREIGN=FOLDER`. PYTHON is the interpreter of an environment with
requirements.txt, which is not part of the project. Each peer gets our own windows with our own vectors, in its own database on
the same server, and the queries' vectors, so no figure includes embedding. Prints nDCG@10 and, for each query, the CPU of
server and client. Ours is a whole search: reading, folding, counts, snippets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local.database import LocalDatabase
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.records.contract import SearchRequest
from quarry.records.search import search_records
from quarry.services.services import Caller, Services
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.measures import DEPTH, ndcg
from tools.benchmarks.measuring import spread
from tools.benchmarks.peers.clock import server_ms
from tools.evaluate_sets import DEFAULT_CACHE, PARAMETERS, DataSet, find_sets, set_database

RETRIEVERS = Path(__file__).with_name("retrievers.py")
Measured = Mapping[str, Any]
"""`found`: keys by query id; `server_ms` and `client_ms`, one per query."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks peers", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default="text")
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--queries", type=int, help="use only this many queries of each set")
    options = parser.parse_args(arguments)
    with EmbeddedPostgres(DEFAULT_CACHE.absolute() / "postgres", parameters=PARAMETERS) as server:
        for set_ in find_sets(options.folder, options.sets.split(",")):
            with set_database(server, set_) as database:
                queries = [query for query in read_judged(set_.judged, ["records"]) if query.relevant]
                queries = queries[: options.queries]
                asked, ours = asyncio.run(_asked_and_ours(queries, set_, database))
                _print(set_.name, queries, {"Quarry": ours, **_peers(asked, database.url, options.python)})


async def _asked_and_ours(
    queries: Sequence[JudgedQuery], set_: DataSet, database: LocalDatabase
) -> tuple[Any, Measured]:
    """The input of the peers, and the results of our search."""
    async with database.services() as services:
        vectors = [vector for query in queries for vector in await services.queries.embed_all([query.query]) or []]
        asked = {
            "chunks": await _chunks(set_, services),
            "queries": [[query.id, query.query, vector] for query, vector in zip(queries, vectors, strict=True)],
            "depth": DEPTH,
        }
        return asked, await _ours(queries, services, database.url)


def _peers(asked: Mapping[str, Any], server_url: str, python: Path) -> dict[str, Measured]:
    """The results of the peers, in a database that is dropped afterwards."""
    url = server_url.rsplit("/", 1)[0] + "/peers"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("drop database if exists peers with (force)")
        connection.execute("create database peers")
        try:
            with psycopg.connect(url, autocommit=True) as own:
                own.execute("create extension vector")
            answer = subprocess.run(
                [python, RETRIEVERS],
                input=json.dumps({**asked, "url": url}),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        finally:
            connection.execute("drop database peers with (force)")
    measured: dict[str, Measured] = json.loads(answer.stdout)
    return measured


async def _chunks(set_: DataSet, services: Services) -> list[list[Any]]:
    """Key, text and vector of each window, as they were embedded."""
    chunks: list[list[Any]] = []
    for name, table in catalog.EMBEDDED.items():
        if name not in set_.files:
            continue
        rows = await services.database.rows(
            SQL("select record_id, window_number, embedding::text as vector from {}").format(
                Identifier(table.embeddings)
            )
        )
        vectors = {(row["record_id"], row["window_number"]): json.loads(row["vector"]) for row in rows}
        for line in set_.files[name].read_text(encoding="utf-8").splitlines():
            row = catalog.LOADABLE[name].row.model_validate_json(line).model_dump()
            for _, number, text in table.windows(row, services.embeddings.windows):
                chunks.append([f"{name.removesuffix('s')}:{row['id']}", text, vectors[row["id"], number]])
    return chunks


async def _ours(queries: Sequence[JudgedQuery], services: Services, url: str) -> Measured:
    """Runs each query twice and measures the second time."""
    found: dict[str, list[str]] = {}
    server: list[float] = []
    client: list[float] = []
    with psycopg.connect(url, autocommit=True) as connection:
        for query in queries:
            request = SearchRequest(q=query.query, limit=DEPTH)
            await search_records(request, Caller("eval"), services)
            before, started = server_ms(connection), time.process_time()
            response = await search_records(request, Caller("eval"), services)
            client.append((time.process_time() - started) * 1000)
            server.append(server_ms(connection) - before)
            found[query.id] = [f"{result.type}:{result.id}" for result in response.results]
    return {"found": found, "server_ms": server, "client_ms": client}


def _print(name: str, queries: Sequence[JudgedQuery], measured: Mapping[str, Measured]) -> None:
    print(f"\n{name}, {len(queries)} queries; milliseconds of CPU a query, p50 (p95)")
    print(f"{'retriever':40} nDCG@{DEPTH} {'server':>16} {'client':>16}")
    for retriever, each in measured.items():
        quality = mean(ndcg(each["found"][query.id], query.relevant) for query in queries)
        print(f"{retriever:40} {quality:7.3f} {spread(each['server_ms']):>16} {spread(each['client_ms']):>16}")
