"""`make bench`: companies search compared with the literal formulas that it is based on, in one run.

For each size, fills an embedded Postgres with generated companies and prints, by style of query: server CPU and wall time of
the hybrid, keyword, name and taxonomy searches and of the literal functions, their ratio, and the recall of our searches
against an exact ranking by the same definition (a tie counts as equal). Then the whole loop over HTTP, without a chat model,
compared with the time of its own SQL and embedding.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import httpx2

from tests.vectors import vector_literal
from tools.benchmarks.generated_companies import CompanyCorpus, GeneratedEmbedding, load_companies
from tools.benchmarks.literal_companies import LITERAL, LITERAL_INDEX
from tools.benchmarks.measuring import (
    Connection,
    Search,
    Task,
    compare,
    measured_connection,
    migrated_server,
    print_comparison,
    service_times,
    spread,
)

STARTUPS = ["startup"]
ALL_ROWS = 10_000_000
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
        print_comparison(search, rows, compare(connection, search, tasks))


def _measure_loop(url: str, requests: int) -> None:
    """A whole search without a chat model, and the SQL and embedding in it, over the largest of the generated tables."""
    corpus = CompanyCorpus()
    queries = [query.text for query in corpus.queries(max(1, requests // len(CompanyCorpus.STYLES)))]
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


if __name__ == "__main__":
    main()
