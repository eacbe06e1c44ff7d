"""`quarry eval`: how well a domain's own search does on judged queries, measured in this process.

Queries run one after another as the user `eval`, so nobody else is charged and times are those of a single caller.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from quarry.local.cli.command import on_database
from quarry.local.database import LocalDatabase
from quarry.local.output import write_json
from quarry.local.terminal import make_console, printable, progress_bar, write_table
from quarry.platform.errors import ModelError, QuarryError
from quarry.services.services import Caller, Services
from quarry_tools.comparison import Comparison, Earlier, compare, is_paired, judgement, read_earlier_queries, verdicts
from quarry_tools.evaluable import EVALUABLE, EVALUATING_USER, Evaluable
from quarry_tools.judged import JudgedFileError, JudgedQuery, read_judged
from quarry_tools.measures import DEEP, DEPTH
from quarry_tools.outcomes import LEADING, MEASURES, RANKING, Outcome, Summary, summarise


def read_files(paths: Sequence[Path], domain: str | None = None) -> list[JudgedQuery]:
    """The queries to evaluate: all, or those of `domain`. Prints problems to stderr and raises JudgedFileError; OSError."""
    queries: list[JudgedQuery] = []
    for path in paths:
        try:
            queries += read_judged(path, EVALUABLE)
        except JudgedFileError as error:
            tell(f"{path.name}: {problem}" for problem in error.problems)
            raise QuarryError(f"{path.name}: nothing was evaluated; mend these lines") from error
    selected = [query for query in queries if domain in (None, query.domain)]
    if not selected:
        raise QuarryError(f"there is no query of the domain {domain} to evaluate")
    return selected


def evaluate_files(files: Sequence[Path], domain: str | None, against: Path | None, *, as_json: bool) -> None:
    """`quarry eval`. Reports wrong lines before opening a database. Raises as `read_files` and `evaluate`."""
    queries = read_files(files, domain)
    earlier = read_earlier_queries(against) if against else None
    on_database(lambda database: evaluate(queries, database, earlier=earlier, as_json=as_json))


async def evaluate(
    queries: Sequence[JudgedQuery], database: LocalDatabase, *, earlier: Earlier | None = None, as_json: bool
) -> None:
    """Runs the queries and reports on stdout, compared with an earlier run if given. Raises QuarryError if a search fails."""
    async with database.services() as services:
        with progress_bar("evaluating", len(queries)) as bar:
            outcomes = await run_queries(queries, services, on_query=lambda: bar.advance(1))
    summaries = summarise(outcomes)
    comparisons = compare(outcomes, earlier or {})
    if as_json:
        against = {} if earlier is None else {"against": [each.as_json() for each in comparisons]}
        write_json(report(outcomes, summaries) | against)
    else:
        show(summaries)
        show_comparisons(comparisons)
    tell(doubts(outcomes))
    if earlier is not None:
        tell(unpaired(outcomes, earlier))


async def run_queries(
    queries: Sequence[JudgedQuery], services: Services, *, on_query: Callable[[], None] = lambda: None
) -> list[Outcome]:
    """Runs each query through the search of its domain, one after another. Raises QuarryError."""
    caller = Caller(EVALUATING_USER)
    evaluables = {domain: EVALUABLE[domain]() for domain in dict.fromkeys(query.domain for query in queries)}
    for evaluable in evaluables.values():
        if evaluable.prepare:
            await evaluable.prepare(caller, services)
    # the first query's time should not include loading the model's weights
    with suppress(ModelError):
        await services.queries.embed("warm up")
    outcomes: list[Outcome] = []
    for query in queries:
        outcomes.append(await _run_query(query, evaluables[query.domain], query.caller_or(caller), services))
        on_query()
    return outcomes


async def _run_query(query: JudgedQuery, evaluable: Evaluable, caller: Caller, services: Services) -> Outcome:
    """Runs one query, and gets its answer in words if that is judged."""
    started = time.perf_counter()
    results = await evaluable.find(query, caller, services)
    milliseconds = (time.perf_counter() - started) * 1000
    if evaluable.find_deeper:
        results = replace(results, deeper=await evaluable.find_deeper(query, results.keys, caller, services))
    answer, values = results.answer, tuple[str, ...]()
    if evaluable.answer and (query.expect or query.number is not None or query.answerable is not None):
        answer = await evaluable.answer(query, caller, services)
    if query.expect and query.expect.field:
        if evaluable.values_of is None:
            raise QuarryError(f"{query.id}: no values of a field can be expected in {query.domain}")
        values = tuple(await evaluable.values_of(query.expect.field, services))
    return Outcome(query, results, milliseconds, answer, values, evaluable.results_max)


def show(summaries: Sequence[Summary], more: Mapping[str, str] = MappingProxyType({})) -> None:
    """Prints one table with the measures that apply. If all queries are of one domain, lines do not repeat it.

    `more` has additional measures that summaries may have, with their headings.
    """
    several = len({summary.domain for summary in summaries}) > 1
    # other rankings are shown next to our own
    titles = {**RANKING, **more, **MEASURES}
    columns = {name: title for name, title in titles.items() if any(name in s.measures for s in summaries)}
    headings = ("kind", "queries ", *(f"{title} " for title in columns.values()), "p50 ms ", "p95 ms ")
    rows = [
        (
            printable(f"{summary.domain}: {summary.kind}" if several else summary.kind),
            str(summary.queries),
            *(_cell(summary, name) for name in columns),
            *(f"{value:,.0f}" for value in (summary.p50_ms, summary.p95_ms)),
        )
        for summary in summaries
    ]
    write_table(make_console(), headings, rows)


def _cell(summary: Summary, measure: str) -> str:
    """A measure, with its interval if it is a leading one."""
    if measure not in summary.measures:
        return ""
    value = f"{summary.measures[measure]:.3f}"
    if measure not in LEADING:
        return value
    low, high = summary.intervals[measure]
    return f"{value} ({low:.2f}–{high:.2f})"


def show_comparisons(comparisons: Sequence[Comparison]) -> None:
    """Prints the leading measures of each kind next to the earlier run's, then a conclusion per domain."""
    console = make_console()
    headings = ("kind", "measure", "queries ", "before ", "now ", "difference ", "95 % ", "p ")
    rows = [
        (
            printable(f"{each.domain}: {each.kind}"),
            MEASURES[each.measure],
            str(each.queries),
            *(f"{value:.3f}" for value in (each.before, each.now)),
            f"{each.difference:+.3f}",
            "{:+.2f} to {:+.2f}".format(*each.interval),
            each.p_in_words.removeprefix("= "),
        )
        for each in comparisons
        if each.measure in LEADING
    ]
    if rows:
        console.print()
        write_table(console, headings, rows)
    for each in verdicts(comparisons):
        console.print(printable(each.in_words))


def unpaired(outcomes: Sequence[Outcome], earlier: Earlier) -> Iterator[str]:
    """The queries that a comparison leaves out."""
    alone = sum(not is_paired(outcome, earlier) for outcome in outcomes)
    if alone:
        yield f"{alone} of {len(outcomes)} queries are not compared: the earlier run lacks them, or judged them otherwise"


def report(outcomes: Sequence[Outcome], summaries: Sequence[Summary]) -> dict[str, Any]:
    """All measurements, for programs."""
    return {
        "depth": DEPTH,
        "deep": DEEP,
        "kinds": [_flat(summary) for summary in summaries],
        "queries": [_report_query(outcome) for outcome in outcomes],
    }


def _flat(summary: Summary) -> dict[str, Any]:
    fields = asdict(summary)
    measures: dict[str, float] = fields.pop("measures")
    return fields | measures


def _report_query(outcome: Outcome) -> dict[str, Any]:
    query, results = outcome.query, outcome.results
    optional = {
        "total": results.total,
        "verdict": outcome.verdict,
        "answer": outcome.answer,
        "broken": outcome.broken,
        "misses": results.misses,
    }
    return {
        "id": query.id,
        "domain": query.domain,
        "kind": query.kind,
        "query": query.query,
        **({"earlier": query.earlier} if query.earlier else {}),
        "judgement": judgement(query),
        **{name: part.value for name, part in outcome.parts.items()},
        "milliseconds": outcome.milliseconds,
        "degraded": list(results.degraded),
        "found": list(results.keys),
        **{name: value for name, value in optional.items() if value is not None},
    }


def doubts(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Reasons why the figures may reflect this environment more than the search."""
    degraded = Counter(step for outcome in outcomes for step in outcome.results.degraded)
    for step, count in degraded.items():
        yield f"{step} failed for {count} of {len(outcomes)} queries: these figures are not of the search at its best"
    for domain in dict.fromkeys(outcome.query.domain for outcome in outcomes):
        if not any(outcome.results.keys for outcome in outcomes if outcome.query.domain == domain):
            yield f"nothing at all was found in {domain}: is its data loaded?"


def tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line), file=sys.stderr)
