"""Fits the ranking of companies without a model: `python -m tools.fit.companies FOLDER:SET,… [--cache FOLDER] [--write]`.

Each SET is a folder in FOLDER with `companies.jsonl` and judged queries (docs/evaluating.md), as for `tools.evaluate_sets`. Every
query is searched for, and the evidence for each candidate is recorded. One regression gives the chance that a company is what
the question seeks (grade 2 or 3), another the chance that any candidate is. Each set is held out in turn; the weights that
`--write` puts into the package are fitted to all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any
from unittest.mock import patch

import quarry.companies
from quarry.companies import search
from quarry.companies.answer import conclude, find_absent_words
from quarry.companies.ranking import WEIGHTS_FILE, Fitted, evidence_for, evidence_of_all
from quarry.companies.retrieval import Context
from quarry.companies.state import State
from quarry.local.database import LocalDatabase
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.reader.features import chance_of
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.measures import ndcg
from tools.evaluate_sets import DEFAULT_CACHE, PARAMETERS, find_sets, set_database
from tools.fit.logistic import logistic_regression

WEIGHTS = Path(quarry.companies.__file__).parent / "weights" / WEIGHTS_FILE
GRADE_MIN = 2
SHRINKING = 0.3
BY_MEANING = ("meaning", "like meaning", "plain meaning")
"""The evidence that candidates found by words alone do not have."""
SHARES = tuple(place / 20 for place in range(15))
QUALITY_LOST_MAX = 0.01
"""How much nDCG shorter lists may cost."""
REFUSED_ANSWERABLE = 0.02
"""The share of answerable questions that may be refused."""

Values = Mapping[str, float]


@dataclass(frozen=True)
class Seen:
    """A judged query of a set with the candidates of its last round, what speaks for each, and the share of absent words."""

    set: str
    query: JudgedQuery
    ids: Sequence[str]
    evidence: Sequence[Values]
    absent_share: float


def regression(rows: Sequence[Values], right: Sequence[bool], names: Sequence[str]) -> dict[str, float]:
    """The weights of a logistic regression, to three decimals."""
    found = logistic_regression(rows, right, names, shrinking=SHRINKING)
    return {name: round(weight, 3) for name, weight in found.items()}


def fit(seen: Sequence[Seen], *, by_meaning: bool) -> Fitted:
    """The weights and thresholds for these queries. By words alone, no regression refuses them."""
    rows = [row for each in seen for row in each.evidence]
    right = [each.query.relevant.get(id, 0) >= GRADE_MIN for each in seen for id in each.ids]
    fits = regression(rows, right, _names(rows, by_meaning))
    fitted = Fitted(fits, {}, 0.0, 0.0)
    if by_meaning:
        of_all = [evidence_of_all(each.evidence, fitted, each.absent_share) for each in seen]
        answered = regression(of_all, [bool(each.query.relevant) for each in seen], _names(of_all, by_meaning))
        answerable = sorted(
            chance_of(answered, values) for values, each in zip(of_all, seen, strict=True) if each.query.relevant
        )
        least = answerable[int(REFUSED_ANSWERABLE * len(answerable))]
        fitted = replace(fitted, answered=answered, refused_below=round(least, 3))
    wanted = [each for each in seen if each.query.relevant]
    quality = {share: _quality(wanted, fitted, share) for share in SHARES}
    enough = [share for share, each in quality.items() if each >= quality[SHARES[0]] - QUALITY_LOST_MAX]
    return replace(fitted, near_share=enough[-1])


def _names(rows: Sequence[Values], by_meaning: bool) -> list[str]:
    return [
        name for name in dict.fromkeys(name for row in rows for name in row) if by_meaning or name not in BY_MEANING
    ]


def ranked(each: Seen, fitted: Fitted, near_share: float) -> list[str]:
    """The companies that are kept, best first."""
    chances = {id: chance_of(fitted.fits, row) for id, row in zip(each.ids, each.evidence, strict=True)}
    least = near_share * max(chances.values(), default=0.0)
    return [id for id, chance in sorted(chances.items(), key=lambda each: -each[1]) if chance >= least]


def _quality(wanted: Sequence[Seen], fitted: Fitted, near_share: float) -> float:
    """The mean nDCG of questions with an answer."""
    return mean(ndcg(ranked(each, fitted, near_share), each.query.relevant) for each in wanted)


def is_refused(each: Seen, fitted: Fitted) -> bool:
    """Whether nothing is shown."""
    of_all = evidence_of_all(each.evidence, fitted, each.absent_share)
    return chance_of(fitted.answered, of_all) < fitted.refused_below


async def seen_in(name: str, queries: Sequence[JudgedQuery], database: LocalDatabase) -> list[Seen]:
    """The judged queries of a set whose topic is ranked."""
    searches: list[tuple[str, State, float]] = []

    async def recording(context: Context, state: State) -> None:
        if (state.intent.topic or state.question.seed) and not state.question.exact:
            _, share = await find_absent_words(context, state)
            searches.append((context.request.question, state, share))
        await conclude(context, state)

    with patch.object(search, "conclude", recording):
        async with database.services() as services:
            await run_queries(queries, services)
    judged = {query.query: query for query in queries}
    samples: list[Seen] = []
    for question, state, share in searches:
        entries = state.fitting
        if question in judged and entries:  # earlier questions of a conversation are not judged
            rows = [each.values for each in evidence_for(entries, state.intent, state.question.seed)]
            samples.append(Seen(name, judged[question], [entry.company.id for entry in entries], rows, share))
    return samples


def report(seen: Sequence[Seen], *, by_meaning: bool) -> Iterator[str]:
    """How good the ranking of each set is, by weights fitted to the others."""
    for name in dict.fromkeys(each.set for each in seen):
        own, others = [each for each in seen if each.set == name], [each for each in seen if each.set != name]
        fitted = fit(others or own, by_meaning=by_meaning)
        wanted = [each for each in own if each.query.relevant]
        others_own = [each for each in own if not each.query.relevant]
        quality = _quality(wanted, fitted, fitted.near_share)
        refused = [sum(is_refused(each, fitted) for each in those) for those in (wanted, others_own)]
        yield (
            f"{name}: nDCG {quality:.3f}, refused {refused[0]} of {len(wanted)} with an answer, "
            f"{refused[1]} of {len(others_own)} without"
        )


def main() -> None:
    """Measures, fits, and prints what held-out sets are like."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit.companies", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sets", nargs="+", metavar="FOLDER:SET,…")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    seen: list[Seen] = []
    with EmbeddedPostgres(given.cache.absolute() / "postgres", parameters=PARAMETERS) as server:
        for folder, _, names in (each.partition(":") for each in given.sets):
            for set_ in find_sets(Path(folder), names.split(",")):
                with set_database(server, set_) as database:
                    seen += asyncio.run(seen_in(set_.name, read_judged(set_.judged), database))
    found: dict[str, Any] = {}
    for name, by_meaning in (("meaning", True), ("words", False)):
        print(f"by {name}", *report(seen, by_meaning=by_meaning), sep="\n  ")
        fitted = fit(seen, by_meaning=by_meaning)
        found[name] = vars(fitted)
    print(json.dumps(found, indent=1))
    if given.write:
        WEIGHTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
