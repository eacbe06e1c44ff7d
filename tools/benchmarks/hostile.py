"""`make bench`: how much the text of a query can cost. Compares queries made to be expensive with ordinary ones, in every
domain.

Fills an embedded Postgres with generated rows of each domain, and prints by domain the server CPU of an ordinary search (the
median over six styles of query), of each hostile query, and their ratio. A search is all that the service does for a request,
from reading to answer, without a chat model and with a given vector: all statements except those of the run log. The aim at
100,000 rows is that no query costs more than `AIM` ordinary ones.

The machine's noise is in every figure: read the ratios, not the milliseconds. A query's figure is the median of three runs.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from quarry.campaigns.contract import ChatRequest as CampaignsRequest
from quarry.campaigns.retrieval import find_by_text, find_by_theme
from quarry.campaigns.search import chat_about_campaigns
from quarry.companies.contract import ChatMessage
from quarry.companies.contract import ChatRequest as CompaniesRequest
from quarry.companies.search import search_companies
from quarry.models.local_embedding import LocalEmbedding
from quarry.models.query_embedding import QueryEmbedder
from quarry.ontology.contract import OntologySearchRequest
from quarry.ontology.search import search_ontology
from quarry.people.contract import PeopleSearchRequest
from quarry.people.search import search_people
from quarry.platform.errors import DatabaseUnavailable, TimeIsUp
from quarry.platform.settings import Settings
from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.records.answer import answer_question
from quarry.records.contract import AskRequest, SearchRequest
from quarry.records.search import search_records
from quarry.services.services import Caller, Services, build_services
from tools.benchmarks.generated import Corpus, Query, load_motions
from tools.benchmarks.generated_campaigns import load_campaigns
from tools.benchmarks.generated_companies import CompanyCorpus, load_companies
from tools.benchmarks.generated_people import load_people
from tools.benchmarks.measuring import Connection, measured_connection, migrated_server, record_model
from tools.benchmarks.ontology import OWNERS, load_workspace

AIM = 5
RUNS = 3
USER = Caller("user")
TIMEOUT_SECONDS = 10.0
ENTITIES_EACH = 5_000
"""Entities per owner, unless there are fewer than OWNERS owners: a larger table has more owners."""

Search = Callable[[str, Services], Awaitable[object]]


class GivenVector(LocalEmbedding):
    """Has the local model's name; every text gets the `vector` that was set last."""

    vector: Sequence[float] = ()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[*self.vector] for _ in texts]


@dataclass(frozen=True)
class Cost:
    """Milliseconds of server CPU. `is_cut_off`: the statement timeout was reached, and this is the CPU until then."""

    cpu_ms: float
    is_cut_off: bool


def hostile_queries(known: Sequence[str]) -> dict[str, str]:
    """Queries made to be expensive, by name. `known` are words of the data, most frequent first."""
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
        "an excluded phrase": f'{common[2]} -"{common[0]} {common[1]}"',
        "words that are ruled out": "without " + ", without ".join(common[:12]),
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


async def _search_records(text: str, services: Services) -> None:
    await search_records(SearchRequest(q=text), USER, services)


async def _search_records_strictly(text: str, services: Services) -> None:
    await search_records(SearchRequest(q=text, must=True), USER, services)


async def _ask_records(text: str, services: Services) -> None:
    await _heard(answer_question(AskRequest(question=text, fresh=True), USER, services))


async def _search_companies(text: str, services: Services) -> None:
    request = CompaniesRequest(messages=[ChatMessage(role="user", content=text)])
    await _heard(search_companies(request, USER, services))


async def _search_people(text: str, services: Services) -> None:
    await search_people(PeopleSearchRequest(query=text), USER, services)


async def _search_ontology(text: str, services: Services) -> None:
    await search_ontology(OntologySearchRequest(query=text), Caller(f"owner-{len(text) % OWNERS}"), services)


async def _ask_campaigns(text: str, services: Services) -> None:
    await _heard(chat_about_campaigns(CampaignsRequest(message=text), USER, services))


async def _search_campaigns(text: str, services: Services) -> None:
    await find_by_text(services.reader, text)


async def _search_campaign_themes(text: str, services: Services) -> None:
    await find_by_theme(services.reader, text, await services.queries.embed(text), ())


async def _heard(events: AsyncIterator[object]) -> None:
    async for _ in events:
        pass


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
    "campaigns": (_loaded(load_campaigns), _ask_campaigns),
    "campaign words": (_loaded(load_campaigns), _search_campaigns),
    "campaign themes": (_loaded(load_campaigns), _search_campaign_themes),
    "companies": (_load_companies, _search_companies),
    "ontology": (_loaded(_load_workspaces), _search_ontology),
    "people": (_loaded(load_people), _search_people),
    "records": (_loaded(load_motions), _search_records),
    "records, phrases held": (_loaded(load_motions), _search_records_strictly),
    "records, asked": (_loaded(load_motions), _ask_records),
}
"""By way to search: what fills the tables, and such a search."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.benchmarks hostile", description="Hostile queries, measured."
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
    """Prints the cost of hostile and ordinary queries in a domain with filled tables."""
    model = GivenVector()
    await record_model(url, model)
    environment = {
        "DATABASE_URL": url,
        "DATABASE_POOL_SIZE": "1",
        "DATABASE_TIMEOUT_SECONDS": str(TIMEOUT_SECONDS),
        "INITIAL_CREDITS": "1000000",
    }
    services = build_services(Settings.from_environment(environment))
    services = replace(services, embeddings=model, queries=QueryEmbedder(model, services.reader))
    cpu_ms = await _cpu_clock(services)

    async def cost(query: Query) -> Cost:
        model.vector = query.vector.tolist()
        return await _cost(services, cpu_ms, search, query.text)

    ordinary = corpus.queries(per_style)
    vector = ordinary[0].vector
    hostile = [Query(name, text, vector) for name, text in hostile_queries([*corpus.known_words(600)]).items()]
    for query in ordinary:
        await cost(query)
    costs = [await cost(query) for query in ordinary]
    worst = [(query.style, await cost(query)) for query in hostile]
    await services.close()
    _print_table(domain, rows, costs, worst)


async def _cpu_clock(services: Services) -> Callable[[], float]:
    """Milliseconds of CPU used by the server process of the pool's only connection, which runs all its queries."""
    await services.database.execute("set max_parallel_workers_per_gather = 0")
    process = await services.database.row("select pg_backend_pid() as id")
    assert process is not None
    schedstat = Path(f"/proc/{process['id']}/schedstat")
    return lambda: int(schedstat.read_text().split()[0]) / 1e6


async def _cost(services: Services, cpu_ms: Callable[[], float], search: Search, text: str) -> Cost:
    costs: list[float] = []
    cut_off = 0
    for _ in range(RUNS):
        before = cpu_ms()
        try:
            await search(text, services)
        except (DatabaseUnavailable, TimeIsUp):
            cut_off += 1
        costs.append(cpu_ms() - before)
    return Cost(statistics.median(costs), cut_off > 0)


def _print_table(domain: str, rows: int, ordinary: Sequence[Cost], hostile: Sequence[tuple[str, Cost]]) -> None:
    median = statistics.median(each.cpu_ms for each in ordinary)
    print(
        f"\n{domain}, {rows:,} rows; milliseconds of server CPU, and times the median of {len(ordinary)} ordinary searches"
    )
    for name, cost in [
        ("ordinary, median", Cost(median, any(each.is_cut_off for each in ordinary))),
        ("ordinary, dearest", max(ordinary, key=_milliseconds)),
        *sorted(hostile, key=lambda each: -each[1].cpu_ms),
    ]:
        print(f"{name:30} {cost.cpu_ms:9.1f} {cost.cpu_ms / median:7.1f}x{'  cut off' if cost.is_cut_off else ''}")
    worst = max((cost for _, cost in hostile), key=_milliseconds)
    print(f"dearest hostile query: {worst.cpu_ms / median:.1f} times; the aim is {AIM}", flush=True)


def _milliseconds(cost: Cost) -> float:
    return cost.cpu_ms


if __name__ == "__main__":
    main()
