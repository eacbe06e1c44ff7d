"""`make bench`: companies search beside the literal formulas that it was conceived from, in one run.

For each size it fills an embedded Postgres with generated companies and prints, by style of query: server CPU and wall time of
the hybrid, keyword, name and taxonomy searches and of the literal functions, their ratio, and the recall of the first ones
against an exact ranking by the same definition (a tie counts as equal). Then the whole loop over HTTP, without a chat model,
beside the time of its own SQL and embedding.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.vectors import vector_literal
from tools.benchmarks.generated_companies import STYLES, CompanyCorpus, GeneratedEmbedding, load_companies
from tools.benchmarks.literal_companies import LITERAL, LITERAL_INDEX
from tools.benchmarks.measuring import (
    Connection,
    Timing,
    cpu_clock,
    measured_connection,
    median_ratio,
    migrated_server,
    recall,
    service_times,
    spread,
    timed,
)

STARTUPS = ["startup"]
ALL_ROWS = 10_000_000
WARM_UP = 5
LOOP_STEPS = (
    "query_embedding",
    "search_exact_name_v1",
    "companies_by_fields",
    # hybrid and keyword search share one round trip
    "search_companies_hybrid_v1",
    "search_companies_by_taxonomy_v1",
    "get_companies_by_ids_v1",
)
"""The steps of a search that wait for the database or the embedding model."""


@dataclass(frozen=True)
class Task:
    """One call of a search: what it is called with, and the style that it is reported under."""

    style: str
    parameters: tuple[Any, ...]


@dataclass(frozen=True)
class Search:
    """A search, the literal function beside it, and the exact ranking by the same definition; each a statement that gives id and
    score, best first. Recall is measured at `depths`; `aim` is how many times less CPU than the literal it is to take at 100,000
    rows."""

    name: str
    statement: str
    literal: str
    exact: str
    depths: tuple[int, ...] = (10, 40, 120)
    aim: int | None = None


HYBRID = Search(
    "search_companies_hybrid_v1",
    "select company_id, combined_score from search_companies_hybrid_v1(%s, %s::halfvec, %s)",
    "select company_id, combined_score from literal_search_companies_hybrid(%s, %s::halfvec, %s)",
    f"select company_id, combined_score from exact_search_companies_hybrid(%s, %s::halfvec, %s, {ALL_ROWS})",
    aim=40,
)
KEYWORD = Search(
    "search_companies_keyword_v1",
    "select company_id, combined_score from search_companies_keyword_v1(%s, %s)",
    "select company_id, combined_score from literal_search_companies_keyword(%s, %s)",
    f"select company_id, combined_score from literal_search_companies_keyword(%s, %s, {ALL_ROWS})",
)
NAME = Search(
    "search_exact_name_v1",
    "select company_id, name_score from search_exact_name_v1(%s, %s)",
    "select company_id, name_score from literal_search_exact_name(%s, %s)",
    f"select company_id, name_score from literal_search_exact_name(%s, %s, {ALL_ROWS})",
    depths=(1, 5),
    aim=50,
)
TAXONOMY = Search(
    "search_companies_by_taxonomy_v1",
    "select company_id, tag_score from search_companies_by_taxonomy_v1(%s, %s, %s, %s)",
    "select company_id, tag_score from literal_search_companies_by_taxonomy(%s, %s, %s, %s)",
    f"select company_id, tag_score from literal_search_companies_by_taxonomy(%s, %s, %s, %s, {ALL_ROWS})",
    aim=4,
)


@dataclass(frozen=True)
class Measured:
    """One query: both functions' times and the recall of the fast one at each depth."""

    fast: Timing
    literal: Timing
    recalls: tuple[float, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description="Companies search, measured.")
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000], help="sizes of the generated table")
    parser.add_argument("--queries", type=int, default=12, help="queries of each style")
    parser.add_argument("--requests", type=int, default=120, help="HTTP requests for the service's overhead")
    options = parser.parse_args(arguments)
    with migrated_server() as url:
        with measured_connection(url) as connection:
            connection.execute(LITERAL.encode())
            for rows in options.rows:
                _measure_sql(connection, rows, options.queries)
        _measure_loop(url, options.requests)


def _measure_sql(connection: Connection, rows: int, per_style: int) -> None:
    corpus = CompanyCorpus()
    connection.execute("drop index if exists literal_weighted_text")
    load_companies(connection, corpus, rows)
    connection.execute(LITERAL_INDEX.encode())
    connection.execute("analyze companies")
    texts = [(query.style, query.text, query.vector.tolist()) for query in corpus.queries(per_style)]
    hybrid = [Task(style, (text, vector_literal(vector), STARTUPS)) for style, text, vector in texts]
    keyword = [Task(style, (text, STARTUPS)) for style, text, _ in texts]
    known = connection.execute("select company_name, website_url from companies where status = 'startup' order by id")
    names = [Task(style, (name, STARTUPS)) for style, name in corpus.name_queries(known.fetchall(), per_style)]
    tags = [Task(style, (*filters, STARTUPS)) for style, filters in corpus.filters(per_style)]
    for search, tasks in ((HYBRID, hybrid), (KEYWORD, keyword), (NAME, names), (TAXONOMY, tags)):
        _print_table(search, rows, _measure(connection, search, tasks))


def _measure(connection: Connection, search: Search, tasks: Sequence[Task]) -> dict[str, list[Measured]]:
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


def _print_table(search: Search, rows: int, by_style: dict[str, list[Measured]]) -> None:
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


def _measure_loop(url: str, requests: int) -> None:
    """A whole search without a chat model beside the SQL and embedding in it, over the largest of the generated tables."""
    corpus = CompanyCorpus()
    queries = [query.text for query in corpus.queries(max(1, requests // len(STYLES)))]
    times = service_times(url, queries, _chat, steps=LOOP_STEPS, embeddings=GeneratedEmbedding(corpus))
    print(
        f"\nPOST /companies/chat, {len(queries)} requests one after another, local embedding model, no chat model, wall ms"
    )
    print(
        f"whole stream {spread(times.requests)}; its SQL and embedding {spread(times.steps)}; overhead {times.overhead:.2f}"
    )


def _chat(client: httpx2.Client, query: str) -> None:
    response = client.post("/companies/chat", json={"messages": [{"role": "user", "content": query}]})
    response.raise_for_status()
    last = json.loads(response.text.strip().splitlines()[-1])
    if last["type"] != "final_answer":
        raise AssertionError(f"the search ended with {last}")


def _cpu(timings: Iterable[Timing]) -> list[float]:
    return [timing.cpu_ms for timing in timings]


if __name__ == "__main__":
    main()
