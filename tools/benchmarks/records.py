"""`make bench`: records search compared with the literal formula that it is based on, in one run.

For each size, fills an embedded Postgres with generated motions and prints, by style of query: server CPU and wall time of
`hybrid_candidates`, fused by rank, and of the literal function, their ratio, and the recall of the first ten ids against an exact
ranking by the same definition (a tie counts as equal). Then the service over HTTP, compared with the time of its own SQL and
embedding.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from urllib.parse import urlencode

import httpx2

from tests.vectors import vector_literal
from tools.benchmarks.generated import Corpus, load_motions
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

MATCHES = 30
# The literal function with its window over the whole table, kept for comparison; only the columns that both return.
LITERAL = """
create function literal_hybrid_search_motions(query_text text, query_embedding halfvec, match_count int)
returns table (id text, rank_score double precision) language sql as $$
  with full_text as (
    select m.id, row_number() over (order by ts_rank_cd(m.text_search, websearch_to_tsquery(query_text)) desc) as rank_ix
    from motions m where m.text_search @@ websearch_to_tsquery(query_text)
    order by rank_ix limit least(match_count, 30) * 2
  ), semantic as (
    select m.record_id as id, row_number() over (order by m.embedding <=> query_embedding) as rank_ix
    from motion_embeddings m order by rank_ix limit least(match_count, 30) * 2
  )
  select motions.id, coalesce(1.0 / (50 + full_text.rank_ix), 0.0) + coalesce(1.0 / (50 + semantic.rank_ix), 0.0)
  from full_text full outer join semantic on full_text.id = semantic.id
  join motions on coalesce(full_text.id, semantic.id) = motions.id
  order by 2 desc limit least(match_count, 30)
$$
"""

# What the service reads, fused by rank as for `ranking=seed`. 400 rows are ranked for their words, which gives 99 % of the
# results of ranking all.
FUSED = """
create function hybrid_search_motions(query_text text, query_embedding halfvec, match_count int)
returns table (id text, rank_score double precision) language sql stable set plan_cache_mode = force_generic_plan as $$
  with found as materialized (
    select c.* from hybrid_candidates('motions', 'motion_embeddings', weigh_query('{motions}', query_text), query_embedding,
      2 * match_count, null, greatest(400, 4 * match_count)) c
  ), ranked as (
    select id, text_score, similarity, row_number() over (order by text_score desc nulls last, id) as text_rank,
      row_number() over (order by similarity desc nulls last, id) as semantic_rank
    from found
  )
  select id, case when text_score is not null then 1.0 / (50 + text_rank) else 0 end
    + case when similarity is not null then 1.0 / (50 + semantic_rank) else 0 end
  from ranked order by 2 desc, id limit match_count
$$
"""

# The exact definition of the same: ranks every row that contains a word, and compares every vector.
EXACT = """
create function exact_hybrid_search_motions(query_text text, query_embedding halfvec, match_count int)
returns table (id text, rank_score double precision) language sql as $$
  with full_text as (
    select t.id, row_number() over (order by t.text_score desc, t.id) as rank
    from text_candidates('motions', weigh_query('{motions}', query_text), 2 * match_count, null, 100000000) t
  ), semantic as (
    select e.record_id as id, row_number() over (order by (e.embedding <=> query_embedding) + 0, e.record_id) as rank
    from motion_embeddings e order by 2 limit 2 * match_count
  )
  select id, coalesce(1.0 / (50 + t.rank), 0) + coalesce(1.0 / (50 + s.rank), 0)
  from full_text t full join semantic s using (id) order by 2 desc, id
$$
"""


CALL = f"select id, rank_score from {{}}hybrid_search_motions(%s, %s::halfvec, {MATCHES})"
HYBRID = Search("hybrid_search_motions", CALL.format(""), CALL.format("literal_"), CALL.format("exact_"), depths=(10,))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description="Records search, measured.")
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000], help="sizes of the generated table")
    parser.add_argument("--queries", type=int, default=12, help="queries of each of the six styles")
    parser.add_argument("--requests", type=int, default=120, help="HTTP requests for the service's overhead")
    options, _ = parser.parse_known_args(arguments)
    with migrated_server() as url:
        with measured_connection(url) as connection:
            connection.execute(FUSED)
            connection.execute(LITERAL)
            connection.execute(EXACT)
            for rows in options.rows:
                _measure_sql(connection, rows, options.queries)
        _measure_service(url, options.requests)


def _measure_sql(connection: Connection, rows: int, per_style: int) -> None:
    corpus = Corpus()
    load_motions(connection, corpus, rows)
    tasks = [Task(each.style, (each.text, vector_literal(each.vector.tolist()))) for each in corpus.queries(per_style)]
    print_comparison(HYBRID, rows, compare(connection, HYBRID, tasks))


def _measure_service(url: str, requests: int) -> None:
    """p50 of `GET /records/search`, and p50 of its SQL and embedding steps, from the run log of the same requests."""
    queries = [query.text for query in Corpus(seed=23).queries(max(1, requests // 6))]
    times = service_times(url, queries, _search)
    print(f"\nGET /records/search, {len(queries)} requests one after another, one type, local embedding model, wall ms")
    print(
        f"over HTTP {spread(times.requests)}; its SQL and embedding {spread(times.steps)};"
        f" service overhead {times.overhead:.2f}"
    )


def _search(client: httpx2.Client, query: str) -> None:
    client.get("/records/search?" + urlencode({"q": query, "type": "motion"})).raise_for_status()


if __name__ == "__main__":
    main()
