"""`make bench`: what the text of a query can cost. Queries made to be expensive beside ordinary ones, in every domain.

Fills an embedded Postgres with generated rows of each domain, and prints by domain the server CPU of an ordinary search (the
median over six styles of query), of each hostile query, and their ratio. A search is all statements that a query's text goes
into, as the service makes them. The aim at 100,000 rows is that no query costs more than `AIM` ordinary ones.

The machine's noise is in every figure: read the ratios, not the milliseconds. A query's figure is the median of three runs.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from quarry.campaigns.retrieval import find_by_text, find_by_theme
from quarry.companies.candidates import Variant
from quarry.companies.names import read_names
from quarry.companies.store import find_names, retrieve_variants
from quarry.core.errors import DatabaseUnavailable
from quarry.core.postgres.pool import Database
from quarry.core.services import Caller
from quarry.core.text import QUERY_MAX_CHARACTERS
from quarry.ontology.contract import RESULTS_MAX
from quarry.ontology.retrieval import find_entities
from quarry.people.filters import CardFilters
from quarry.records import retrieval as records
from quarry.records.search import COUNTED_MAX, DEPTH
from quarry.records.searched_types import BUILT_IN
from tests.benchmarks.generated import Corpus, Query, load_motions
from tests.benchmarks.generated_campaigns import load_campaigns
from tests.benchmarks.generated_companies import CompanyCorpus, load_companies
from tests.benchmarks.generated_people import load_people
from tests.benchmarks.measuring import Connection, measured_connection, migrated_server
from tests.benchmarks.ontology import OWNERS, load_workspace
from tests.benchmarks.people import search_people

AIM = 5
RUNS = 3
PAGE = 20
EXCLUDED_MAX = 20
"""Words that one query of people excludes here."""
TIMEOUT_SECONDS = 10.0
ENTITIES_EACH = 5_000
"""Of each owner, unless there were fewer than OWNERS of them: a larger table has more owners."""

Search = Callable[[Database, Query], Awaitable[object]]


def hostile_queries(known: Sequence[str]) -> dict[str, str]:
    """Queries made to be expensive, by name. `known` are words of the data, the most frequent first."""
    common, rare = list(known[:40]), list(known[40:])
    unknown = [f"{first}q{second}x{third}" for first in "bcdfghjk" for second in "aeiouy" for third in "lmnprstv"]
    queries = {
        "one digit, 1,000 times": "1 " * 1000,
        "320 unknown words": " ".join(unknown[:320]),
        "a common word, 400 times": f"{common[0]} " * 400,
        "300 words": " ".join([*common, *rare][:300]),
        "common words": " ".join(common),
        "stop words": "the of and to in is was " * 80,
        "nested quotes": '"' * 40 + f'{common[0]} "{common[1]} "{common[2]}" {common[3]}" ' * 30,
        "wildcards": "%_*" * 660,
        "a wildcard": "%",
        "one letter": "a",
        "another letter": "z",
        "emoji": "🎉🚀" * 900,
        "2,000 digits": "1234567890" * 200,
        "60 words with OR": " OR ".join([*common, *rare][:60]),
        "a common word with OR": " OR ".join([common[0]] * 200),
        "excluded words": " ".join(f"-{word}" for word in [*common, *rare][:200]),
        "a word without others": " ".join([common[0], *(f"-{word}" for word in common[1:])]),
        "a word without a common one": f"{common[1]} -{common[0]}",
        "a phrase, repeated": f'"{common[0]} {common[1]}" ' * 150,
        "phrases of common words": " ".join(f'"{one} {other}"' for one, other in pairwise(common)),
        "a phrase of common words": f'"{common[0]} {common[1]}"',
        "a phrase without a word": f'"{common[0]} {common[1]}" -{common[2]}',
        "a long phrase": '"' + " ".join([*common, *rare][:300]) + '"',
        "dashes": "-" * 2000,
        "spaced dashes": f"- {common[0]} " * 200,
        "a hyphenated word": "-".join([*common, *rare][:300]),
        "one long word": common[0] * 500,
        "a path": "/" + "/".join([*common, *rare][:300]),
        "operators": f"{common[0]} & {common[1]} | !({common[2]} <-> {common[3]}):* " * 40,
        "a part of every address": "-.example",
        "misspelt words": " ".join(word[:2] + word[3:] for word in [*common, *rare] if len(word) > 5)[:2000],
    }
    return {name: text[:QUERY_MAX_CHARACTERS] for name, text in queries.items()}


async def _search_records(database: Database, query: Query) -> None:
    arms = [records.Arm(each, query.text) for each in BUILT_IN.values()]
    found = await records.find_candidates(database, arms, vector=query.vector.tolist(), depth=DEPTH)
    by_meaning = [each.id for each in found if each.text_score is None]
    await records.count_found(database, arms, {"motion": by_meaning}, COUNTED_MAX)
    await records.describe(database, [(each.type, each.id) for each in found[:PAGE]], BUILT_IN, query.text)


async def _search_companies(database: Database, query: Query) -> None:
    await find_names(database, read_names(query.text).names)
    await retrieve_variants(database, [Variant(query.text, query.vector.tolist())], statuses=["startup"])


async def _search_people(database: Database, query: Query) -> None:
    excluded = [word[1:] for word in query.text.split() if word.startswith("-")]
    await search_people(database, query, CardFilters(excluded_keywords=tuple(excluded[:EXCLUDED_MAX])))


async def _search_ontology(database: Database, query: Query) -> None:
    caller = Caller(f"owner-{len(query.text) % OWNERS}")
    await find_entities(database, caller, query=query.text, project_id=None, types=None, limit=RESULTS_MAX)


async def _search_campaigns(database: Database, query: Query) -> None:
    await find_by_text(database, query.text)


async def _search_campaign_themes(database: Database, query: Query) -> None:
    await find_by_theme(database, query.text, query.vector.tolist(), ())


def _loaded(load: Callable[[Connection, Corpus, int], None]) -> Callable[[Connection, int], Corpus]:
    def fill(connection: Connection, rows: int) -> Corpus:
        corpus = Corpus()
        load(connection, corpus, rows)
        return corpus

    return fill


def _load_workspaces(connection: Connection, corpus: Corpus, rows: int) -> None:
    load_workspace(connection, corpus, rows, max(OWNERS, rows // ENTITIES_EACH))


def _load_companies(connection: Connection, rows: int) -> Corpus:
    corpus = CompanyCorpus()
    load_companies(connection, corpus, rows)
    return corpus


DOMAINS: dict[str, tuple[Callable[[Connection, int], Corpus], Search]] = {
    "campaigns": (_loaded(load_campaigns), _search_campaigns),
    "campaign themes": (_loaded(load_campaigns), _search_campaign_themes),
    "companies": (_load_companies, _search_companies),
    "ontology": (_loaded(_load_workspaces), _search_ontology),
    "people": (_loaded(load_people), _search_people),
    "records": (_loaded(load_motions), _search_records),
}
"""By domain: what fills its tables, and a search of it."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks hostile", description="Hostile queries, measured."
    )
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000], help="rows of each domain's generated table")
    parser.add_argument("--queries", type=int, default=4, help="ordinary queries of each of the six styles")
    parser.add_argument("--domains", nargs="*", default=list(DOMAINS), choices=DOMAINS)
    options, _ = parser.parse_known_args(arguments)
    for rows in options.rows:
        for domain in options.domains:
            load, search = DOMAINS[domain]
            with migrated_server() as url:
                with measured_connection(url) as connection:
                    corpus = load(connection, rows)
                asyncio.run(measure(url, domain, rows, search, corpus, options.queries))


async def measure(url: str, domain: str, rows: int, search: Search, corpus: Corpus, per_style: int) -> None:
    """Print what hostile and ordinary queries cost in a domain whose tables are filled."""
    database = Database(url, pool_size=1, timeout_seconds=TIMEOUT_SECONDS)
    cpu_ms = await _cpu_clock(database)
    ordinary = corpus.queries(per_style)
    vector = ordinary[0].vector
    hostile = [Query(name, text, vector) for name, text in hostile_queries([*corpus.known_words(600)]).items()]
    for query in ordinary:
        await search(database, query)
    costs = [await _cost(database, cpu_ms, search, query) for query in ordinary]
    worst = [(query.style, await _cost(database, cpu_ms, search, query)) for query in hostile]
    await database.close()
    _print_table(domain, rows, costs, worst)


async def _cpu_clock(database: Database) -> Callable[[], float]:
    """Milliseconds of CPU that the only connection's server process has used; its queries run in that process alone."""
    await database.execute("set max_parallel_workers_per_gather = 0")
    process = await database.row("select pg_backend_pid() as id")
    assert process is not None
    schedstat = Path(f"/proc/{process['id']}/schedstat")
    return lambda: int(schedstat.read_text().split()[0]) / 1e6


async def _cost(database: Database, cpu_ms: Callable[[], float], search: Search, query: Query) -> float:
    costs: list[float] = []
    for _ in range(RUNS):
        before = cpu_ms()
        with suppress(DatabaseUnavailable):  # cancelled after TIMEOUT_SECONDS: what it cost until then
            await search(database, query)
        costs.append(cpu_ms() - before)
    return statistics.median(costs)


def _print_table(domain: str, rows: int, ordinary: Sequence[float], hostile: Sequence[tuple[str, float]]) -> None:
    median = statistics.median(ordinary)
    print(
        f"\n{domain}, {rows:,} rows; milliseconds of server CPU, and times the median of {len(ordinary)} ordinary searches"
    )
    for name, cost in [
        ("ordinary, median", median),
        ("ordinary, dearest", max(ordinary)),
        *sorted(hostile, key=lambda each: -each[1]),
    ]:
        print(f"{name:30} {cost:9.1f} {cost / median:7.1f}x")
    print(f"dearest hostile query: {max(cost for _, cost in hostile) / median:.1f} times; the aim is {AIM}")


if __name__ == "__main__":
    main()
