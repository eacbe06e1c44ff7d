"""`make bench`: people search compared with the statements that it is based on, in one run.

For each size, fills an embedded Postgres with generated people and prints, by kind of filter: server CPU of retrieval over all
tiers of a search, and of the literal's statements (two full-text queries, then three vector queries per tier, each comparing
every row that passes the filters, on tables with the vector in the row); their ratio, by the median and over all queries; the
ratio of wall time; the recall of the first five people against the same definition with every vector compared (a tie counts as
equal); and the CPU of counting relaxations.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from quarry.people.filters import FALLBACK_TIER_COMPANY_TEAM_SOFT, CardFilters, relaxed
from quarry.people.ranking import MIN_RESULTS, TOP_PEOPLE, PersonEvidence, rank_people
from quarry.people.retrieval import OVERFETCH_CARDS, TOP_K_CARDS, count_relaxations, find_candidates, find_excluded
from quarry.postgres.migrate import function_files, sql_directory
from quarry.postgres.pool import Database
from tests.vectors import vector_literal
from tools.benchmarks.generated import Corpus, Query
from tools.benchmarks.generated_people import load_people
from tools.benchmarks.measuring import (
    Connection,
    Scored,
    Timing,
    cpu_clock,
    measured_connection,
    median_ratio,
    migrated_server,
    recall,
    spread,
)

KINDS = {
    "no filter": CardFilters(),
    "city": CardFilters(places=("city3",)),
    "company": CardFilters(companies=("company 0",)),
    "rare company": CardFilters(companies=("company 120",)),
    "intent, seniority": CardFilters(intents=("work",), seniority_levels=("senior", "lead")),
    "dates, city, not X": CardFilters(
        places=("city1",),
        time_start=datetime.date(2015, 1, 1),
        time_end=datetime.date(2018, 1, 1),
        excluded_companies=("company 3", "company 4"),
    ),
    "open, salary, now": CardFilters(open_to_work_only=True, offer_salary=2e6, is_current=True),
    "domain": CardFilters(domains=("domain 3",)),
}
"""Kinds of filter. A domain is one of 22 and goes with the topic: most queries are far from all that it lets through."""

LITERAL_TABLES = """
create table literal_cards as
  select c.*, e.embedding from experience_cards c join experience_card_embeddings e on e.record_id = c.id order by c.id;
alter table literal_cards add primary key (id);
create index on literal_cards (person_id);
create index on literal_cards (company_norm);
create index on literal_cards using gin (text_search);
create table literal_children as
  select k.*, c.person_id, e.embedding from experience_card_children k join experience_cards c on c.id = k.card_id
  join experience_card_child_embeddings e on e.record_id = k.id order by k.id;
alter table literal_children add primary key (id);
create index on literal_children (person_id);
create index on literal_children (card_id);
create index on literal_children using gin (text_search);
"""

# nearest_people with every vector compared
EXACT = """
create or replace function nearest_people(
  p_embedding halfvec, p_filters card_filters, p_excluded_people text[], p_among text[], p_limit int
) returns table (person_id text, place bigint) language sql stable as $$
  with cards as materialized (
    select c.id, c.person_id from experience_cards c join people p on p.id = c.person_id
    where card_matches(c, p, p_filters) and c.person_id <> all(p_excluded_people)
  ), by_card as (
    select c.person_id from cards c join experience_card_embeddings e on e.record_id = c.id
    group by 1 order by min(e.embedding <=> p_embedding), 1 limit p_limit
  ), by_child as (
    select c.person_id from cards c join experience_card_children k on k.card_id = c.id
    join experience_card_child_embeddings e on e.record_id = k.id
    group by 1 order by min(e.embedding <=> p_embedding), 1 limit p_limit
  )
  select person_id, 1 from by_card union select person_id, 1 from by_child
$$
"""


@dataclass(frozen=True)
class Measured:
    """One query: the costs of retrieval, the literal and counting relaxations, and the people that retrieval ranked first."""

    fast: Timing
    literal: Timing
    relaxations_ms: float
    found: Scored


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description="People search, measured.")
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000], help="cards of the generated people")
    parser.add_argument("--queries", type=int, default=4, help="queries of each of the six styles")
    options, _ = parser.parse_known_args(arguments)
    with migrated_server() as url, measured_connection(url) as connection:
        for rows in options.rows:
            connection.execute("drop table if exists literal_cards, literal_children")
            corpus = Corpus()
            load_people(connection, corpus, rows)
            connection.execute(LITERAL_TABLES)
            connection.execute("vacuum analyze literal_cards, literal_children")
            asyncio.run(_measure(url, connection, corpus.queries(options.queries), rows))


async def _measure(url: str, connection: Connection, queries: Sequence[Query], rows: int) -> None:
    database = Database(url, pool_size=1, timeout_seconds=300)
    await database.execute("set max_parallel_workers_per_gather = 0")
    process = await database.row("select pg_backend_pid() as id")
    assert process is not None
    schedstat = Path(f"/proc/{process['id']}/schedstat")

    def cpu_ms() -> float:
        return int(schedstat.read_text().split()[0]) / 1e6

    for query in queries[:5]:
        await search_people(database, query, CardFilters())
        _literal_search(connection, query, CardFilters())
    measured = {
        kind: [await _compare(database, connection, cpu_ms, query, filters) for query in queries]
        for kind, filters in KINDS.items()
    }
    connection.execute(EXACT)
    exact = {
        kind: [await search_people(database, query, filters) for query in queries] for kind, filters in KINDS.items()
    }
    [original] = [file for file in function_files(sql_directory()) if file.name == "people/nearest_people.sql"]
    connection.execute(original.text.encode())
    await database.close()
    _print_table(rows, measured, exact)


async def _compare(
    database: Database, connection: Connection, cpu_ms: Callable[[], float], query: Query, filters: CardFilters
) -> Measured:
    cpu, wall = cpu_ms(), perf_counter()
    found = await search_people(database, query, filters)
    fast = Timing(cpu_ms() - cpu, (perf_counter() - wall) * 1000)
    cpu = cpu_ms()
    await count_relaxations(database, filters, await find_excluded(database, filters))
    relaxations = cpu_ms() - cpu
    literal_cpu_ms = cpu_clock(connection)
    cpu, wall = literal_cpu_ms(), perf_counter()
    _literal_search(connection, query, filters)
    literal = Timing(literal_cpu_ms() - cpu, (perf_counter() - wall) * 1000)
    return Measured(fast, literal, relaxations, found)


def _tiers(filters: CardFilters) -> Iterator[int]:
    """The tiers that differ from the one before."""
    before = None
    for tier in range(FALLBACK_TIER_COMPANY_TEAM_SOFT + 1):
        if relaxed(filters, tier) != before:
            before = relaxed(filters, tier)
            yield tier


async def search_people(database: Database, query: Query, filters: CardFilters) -> Scored:
    """All people from all tiers, best first, with their scores."""
    candidates: dict[str, PersonEvidence] = {}
    excluded = await find_excluded(database, filters)
    for tier in _tiers(filters):
        evidence = await find_candidates(
            database,
            filters=relaxed(filters, tier),
            all_filters=filters,
            excluded=excluded,
            query_text=query.text,
            vector=query.vector.tolist(),
            tier=tier,
        )
        candidates = {person.person_id: person for person in evidence} | candidates
        if len(candidates) >= MIN_RESULTS:
            break
    return [(person.person_id, person.score) for person in rank_people(list(candidates.values()), filters)]


def _literal_search(connection: Connection, query: Query, filters: CardFilters) -> None:
    """Runs the literal statements one after another; their results are not scored."""
    arguments: dict[str, Any] = vars(filters) | {
        "text": query.text,
        "vector": vector_literal(query.vector.tolist()),
        "overfetch": OVERFETCH_CARDS,
        "top_k": TOP_K_CARDS,
    }
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}

    def rows(statement: str, **more: Any) -> list[tuple[Any, ...]]:
        return connection.execute(statement.encode(), arguments | more).fetchall()

    rows(
        "select c.person_id, ts_rank_cd(c.text_search, websearch_to_tsquery('english', %(text)s)) from literal_cards c"
        " where c.visible and c.text_search @@ websearch_to_tsquery('english', %(text)s)"
    )
    rows(
        "select c.person_id, ts_rank_cd(k.text_search, websearch_to_tsquery('english', %(text)s))"
        " from literal_children k join literal_cards c on c.id = k.card_id"
        " where c.visible and k.text_search @@ websearch_to_tsquery('english', %(text)s)"
    )
    for tier in _tiers(filters):
        where = _literal_conditions(relaxed(filters, tier), arguments)
        source = "literal_children k join literal_cards c on c.id = k.card_id join people p on p.id = c.person_id"
        parents = rows(
            "select c.person_id, c.id, c.embedding <=> %(vector)s::halfvec"
            " from literal_cards c join people p on p.id = c.person_id"
            f" where {where} order by (c.embedding <=> %(vector)s::halfvec) + 0 limit %(overfetch)s"
        )
        children = rows(
            f"select c.person_id, min(k.embedding <=> %(vector)s::halfvec) from {source} where {where}"
            " group by c.person_id order by 2 limit %(overfetch)s"
        )
        rows(
            "select * from (select c.person_id, k.id, k.card_id, k.embedding <=> %(vector)s::halfvec,"
            " row_number() over (partition by c.person_id order by k.embedding <=> %(vector)s::halfvec) as place"
            f" from {source} where {where} and c.person_id = any(%(people)s)) e where place <= %(top_k)s",
            people=[row[0] for row in children],
        )
        if len({row[0] for row in [*parents, *children]}) >= MIN_RESULTS:
            break


def _literal_conditions(filters: CardFilters, arguments: dict[str, Any]) -> str:
    arguments["place"] = f"%{filters.places[0]}%" if filters.places else None
    conditions = {
        "c.company_norm = any(%(companies)s)": filters.companies,
        "c.intent_primary = any(%(intents)s)": filters.intents,
        "c.domain_norm = any(%(domains)s)": filters.domains,
        "c.seniority_level = any(%(seniority_levels)s)": filters.seniority_levels,
        "c.location ilike %(place)s": filters.places,
        "(c.start_date is not null or c.end_date is not null)": filters.has_time,
        "(c.start_date is null or c.start_date <= %(time_end)s)": filters.time_end,
        "(c.end_date is null or c.end_date >= %(time_start)s)": filters.time_start,
        "c.is_current = %(is_current)s": filters.is_current is not None,
        "(c.company_norm is null or c.company_norm <> all(%(excluded_companies)s))": filters.excluded_companies,
        "p.open_to_work": filters.open_to_work_only,
        "(p.work_preferred_salary_min is null or p.work_preferred_salary_min <= %(offer_salary)s)": filters.offer_salary,
    }
    return " and ".join(["c.visible", *(condition for condition, given in conditions.items() if given)])


def _print_table(rows: int, by_kind: dict[str, list[Measured]], exact: dict[str, list[Scored]]) -> None:
    print(f"\npeople search, {rows:,} cards with two children each; milliseconds of server CPU, p50 (p95)")
    heads = f"{'ratio':>7} {'together':>9} {'wall ratio':>10} {'recall@5':>9} {'relaxations':>15}"
    print(f"{'filter':18} {'n':>3} {'search':>15} {'literal':>16} {heads}")
    for kind, group in by_kind.items():
        fast, literal = [m.fast.cpu_ms for m in group], [m.literal.cpu_ms for m in group]
        wall = median_ratio([m.literal.wall_ms for m in group], [m.fast.wall_ms for m in group])
        found = statistics.mean(
            recall(m.found, wanted, TOP_PEOPLE) for m, wanted in zip(group, exact[kind], strict=True)
        )
        print(
            f"{kind:18} {len(group):3} {spread(fast):>15} {spread(literal):>16} {median_ratio(literal, fast):6.1f}x"
            f" {sum(literal) / sum(fast):8.1f}x {wall:9.1f}x {found:9.3f} {spread([m.relaxations_ms for m in group]):>15}"
        )


if __name__ == "__main__":
    main()
