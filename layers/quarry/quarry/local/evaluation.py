"""`quarry eval`: how well a domain's own search does on judged queries, measured in this process.

Each query is run as the user `eval`, one after another, so that nobody else is charged and the times are a single caller's.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from quarry.core.errors import ModelError, QuarryError
from quarry.core.services import Caller, Services
from quarry.local.database import LocalDatabase
from quarry.local.evaluable import EVALUABLE, EVALUATING_USER, Found
from quarry.local.judged import JudgedFileError, JudgedQuery, read_judged
from quarry.local.measures import DEPTH, ndcg, percentile, recall, reciprocal_rank
from quarry.local.terminal import make_console, printable, progress_bar, write_table

ALL = "all with an answer"


@dataclass(frozen=True)
class Outcome:
    """How one query went."""

    query: JudgedQuery
    found: Found
    milliseconds: float

    @property
    def ndcg(self) -> float:
        return ndcg(self.found.keys, self.query.relevant)

    @property
    def recall(self) -> float:
        return recall(self.found.keys, self.query.relevant)

    @property
    def reciprocal_rank(self) -> float:
        return reciprocal_rank(self.found.keys, self.query.relevant)


@dataclass(frozen=True)
class Summary:
    """Means over the queries of one kind; milliseconds as percentiles."""

    domain: str
    kind: str
    queries: int
    ndcg: float
    recall: float
    mrr: float
    p50_ms: float
    p95_ms: float


def read_files(paths: Sequence[Path], domain: str | None = None) -> list[JudgedQuery]:
    """The queries to evaluate: all, or those of `domain`. Raises JudgedFileError, its problems told on stderr; OSError."""
    queries: list[JudgedQuery] = []
    for path in paths:
        try:
            queries += read_judged(path, EVALUABLE)
        except JudgedFileError as error:
            _tell(f"{path.name}: {problem}" for problem in error.problems)
            raise QuarryError(f"{path.name}: nothing was evaluated; mend these lines") from error
    chosen = [query for query in queries if domain in (None, query.domain)]
    if not chosen:
        raise QuarryError(f"there is no query of the domain {domain} to evaluate")
    return chosen


async def evaluate(queries: Sequence[JudgedQuery], database: LocalDatabase, *, as_json: bool) -> None:
    """Run the queries and report on stdout. Raises QuarryError when a search fails."""
    async with database.services() as services:
        with progress_bar("evaluating", len(queries)) as bar:
            outcomes = await run_queries(queries, services, on_query=lambda: bar.advance(1))
    summaries = summarise(outcomes)
    if as_json:
        print(json.dumps(_report(outcomes, summaries), ensure_ascii=False, indent=2))
    else:
        _show(summaries)
    _tell(_doubts(outcomes))


async def run_queries(
    queries: Sequence[JudgedQuery], services: Services, *, on_query: Callable[[], None] = lambda: None
) -> list[Outcome]:
    """Run each query through the search of its domain, one after another. Raises QuarryError."""
    caller = Caller(EVALUATING_USER)
    evaluables = {domain: EVALUABLE[domain]() for domain in dict.fromkeys(query.domain for query in queries)}
    for evaluable in evaluables.values():
        if evaluable.prepare:
            await evaluable.prepare(caller, services)
    # the first query should not pay for reading the model's weights
    with suppress(ModelError):
        await services.queries.embed("warm up")
    outcomes: list[Outcome] = []
    for query in queries:
        started = time.perf_counter()
        found = await evaluables[query.domain].find(query, caller, services)
        outcomes.append(Outcome(query, found, (time.perf_counter() - started) * 1000))
        on_query()
    return outcomes


def summarise(outcomes: Sequence[Outcome]) -> list[Summary]:
    """For each domain its kinds in order of appearance, then all its queries that have an answer."""
    summaries: list[Summary] = []
    for domain in dict.fromkeys(outcome.query.domain for outcome in outcomes):
        of_domain = [outcome for outcome in outcomes if outcome.query.domain == domain]
        kinds = dict.fromkeys(outcome.query.kind for outcome in of_domain)
        summaries += [_summary(domain, kind, [o for o in of_domain if o.query.kind == kind]) for kind in kinds]
        if answerable := [outcome for outcome in of_domain if outcome.query.relevant]:
            summaries.append(_summary(domain, ALL, answerable))
    return summaries


def _summary(domain: str, kind: str, outcomes: Sequence[Outcome]) -> Summary:
    times = [outcome.milliseconds for outcome in outcomes]
    return Summary(
        domain,
        kind,
        len(outcomes),
        ndcg=mean(outcome.ndcg for outcome in outcomes),
        recall=mean(outcome.recall for outcome in outcomes),
        mrr=mean(outcome.reciprocal_rank for outcome in outcomes),
        p50_ms=percentile(times, 0.5),
        p95_ms=percentile(times, 0.95),
    )


def _show(summaries: Sequence[Summary]) -> None:
    """One table; where all queries are of one domain it is not repeated in every line."""
    several = len({summary.domain for summary in summaries}) > 1
    headings = ("kind", "queries ", f"nDCG@{DEPTH} ", f"recall@{DEPTH} ", "MRR ", "p50 ms ", "p95 ms ")
    rows = [
        (
            printable(f"{summary.domain}: {summary.kind}" if several else summary.kind),
            str(summary.queries),
            *(f"{value:.3f}" for value in (summary.ndcg, summary.recall, summary.mrr)),
            *(f"{value:,.0f}" for value in (summary.p50_ms, summary.p95_ms)),
        )
        for summary in summaries
    ]
    write_table(make_console(), headings, rows)


def _report(outcomes: Sequence[Outcome], summaries: Sequence[Summary]) -> dict[str, Any]:
    return {
        "depth": DEPTH,
        "kinds": [asdict(summary) for summary in summaries],
        "queries": [
            {
                "id": outcome.query.id,
                "domain": outcome.query.domain,
                "kind": outcome.query.kind,
                "query": outcome.query.query,
                "ndcg": outcome.ndcg,
                "recall": outcome.recall,
                "reciprocal_rank": outcome.reciprocal_rank,
                "milliseconds": outcome.milliseconds,
                "degraded": list(outcome.found.degraded),
                "found": list(outcome.found.keys),
            }
            for outcome in outcomes
        ],
    }


def _doubts(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Why the figures may say less about the search than about this place."""
    degraded = Counter(step for outcome in outcomes for step in outcome.found.degraded)
    for step, count in degraded.items():
        yield f"{step} failed for {count} of {len(outcomes)} queries: these figures are not of the search at its best"
    for domain in dict.fromkeys(outcome.query.domain for outcome in outcomes):
        if not any(outcome.found.keys for outcome in outcomes if outcome.query.domain == domain):
            yield f"nothing at all was found in {domain}: is its data loaded?"


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line), file=sys.stderr)
