"""Measures search without each refinement: `DATABASE_URL=… python -m tools.ablate JUDGED … [--only NAME]`.

JUDGED are files of judged queries (docs/evaluating.md) on what the database holds. Each line gives a refinement, its lines of
code, how the measures change without it, and, if sets of queries cannot show what it is for, why it stays. Delete any other one
without effect on any set.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from quarry.platform.settings import Settings
from quarry.services.services import build_services
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.outcomes import ALL, Summary, summarise

MEASURES = ("ndcg", "recall", "success", "violations", "empty", "exact", "confidently_wrong")


@dataclass(frozen=True)
class Refinement:
    """Something of a domain that can be left out: `attribute` of a module of the package, replaced by `without`. `stays` says why
    it is kept whatever the measures are.
    """

    domain: str
    name: str
    module: str
    attribute: str
    without: Any
    stays: str = ""

    @contextmanager
    def switched_off(self) -> Iterator[None]:
        """The package without it."""
        holder, _, name = self.attribute.rpartition(".")
        module = importlib.import_module(f"quarry.{self.module}")
        with patch.object(getattr(module, holder) if holder else module, name, self.without):
            yield

    @property
    def lines(self) -> int:
        """The lines of the function or the constant."""
        definition: Any = importlib.import_module(f"quarry.{self.module}")
        for name in self.attribute.split("."):
            definition = getattr(definition, name)
        return len(inspect.getsource(definition).splitlines()) if inspect.isfunction(definition) else 1


REFINEMENTS = (
    Refinement("people", "excluded experiences elsewhere come later", "people.retrieval", "EXCLUDED_ELSEWHERE", 0.0),
    Refinement(
        "people", "conditions met by several experiences", "people.retrieval", "split_by_condition",
        lambda filters: (filters, []),
        stays="questions about two experiences of a person need it",
    ),
    Refinement(
        "people", "ties by salary and time", "people.retrieval", "break_ties", lambda ranked, *_: [*ranked],
        stays="the contract orders equal scores",
    ),
    Refinement(
        "people", "words left out as names", "people.filters", "_left_out", lambda _: [],
        stays="a search that finds nobody who is what it asks for costs nothing",
    ),
    Refinement("companies", "a fitted refusal", "companies.answer", "is_answered", lambda *_: True),
    Refinement(
        "companies", "only entries worth ranking", "companies.rounds", "worth_ranking", lambda entries, _: entries,
        stays="a chat model reads fewer companies",
    ),
    Refinement(
        "companies", "preferences in front", "companies.rounds", "preferred_first", lambda ranked, _: [*ranked],
        stays="callers set `preferred` conditions, which no question states",
    ),
    Refinement("records", "words to look up", "records.finding", "words_to_look_up", lambda query: query),
    Refinement("records", "authors who are named", "records.reading", "Likely.authors", lambda *_: ()),
    Refinement("records", "days of records", "records.reading", "_names_its_days", lambda *_: False),
)  # fmt: skip


async def summaries(queries: Sequence[JudgedQuery]) -> Mapping[str, Summary]:
    """The measures of all queries with an answer, by domain."""
    services = build_services(Settings.from_environment())
    try:
        return {each.domain: each for each in summarise(await run_queries(queries, services)) if each.kind == ALL}
    finally:
        await services.close()


def line_of(refinement: Refinement, base: Summary, without: Summary) -> str:
    """A row of the table."""
    changes = [
        f"{name} {base.measures[name]:.3f} → {without.measures[name]:.3f}"
        for name in MEASURES
        if name in base.measures and round(base.measures[name], 3) != round(without.measures[name], 3)
    ]
    summary = ", ".join(changes) or "no effect"
    return f"| {refinement.domain} | {refinement.name} | {refinement.lines} | {summary} | {refinement.stays} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.ablate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("judged", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="only refinements with this in their domain or name")
    options = parser.parse_args(arguments)
    queries = [query for path in options.judged for query in read_judged(path)]
    base = asyncio.run(summaries(queries))
    print("| domain | refinement | lines | without it | stays because |\n|---|---|---|---|---|", flush=True)
    for each in REFINEMENTS:
        if each.domain in base and options.only in f"{each.domain} {each.name}":
            with each.switched_off():
                figures = asyncio.run(summaries([query for query in queries if query.domain == each.domain]))
            print(line_of(each, base[each.domain], figures[each.domain]), flush=True)


if __name__ == "__main__":
    main()
