"""Fits the ranking of companies without a model: `python -m tools.fit.companies FOLDER:SET,… [--cache FOLDER] [--write]`.

Each SET is a folder in FOLDER with `companies.jsonl` and judged queries (docs/evaluating.md), as for `tools.evaluate_sets`. Every
query is searched for, and what speaks for each candidate is recorded, on the scales at which the regression has the least loss.
One regression gives the chance that a company is what the question seeks (grade 2 or 3), another the chance that any candidate
is. Each set is held out in turn; the weights that `--write` puts into the package are fitted to all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from statistics import mean
from typing import Any
from unittest.mock import patch

import quarry.companies
from quarry.companies import search
from quarry.companies.answer import conclude, find_absent_words
from quarry.companies.ranking import WEIGHTS_FILE, Fitted, Scales, evidence_for, evidence_of_all
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

SCALES = Scales((0.25, 0.65), 0.6, (0.6, 0.2, 0.2))
"""Where the search for the scales begins."""
CHOICES: Mapping[str, Sequence[Any]] = {
    "meaning": [(low, high) for low in (0.2, 0.25, 0.3) for high in (0.5, 0.55, 0.6, 0.65, 0.7, 0.8)],
    "later_sector": [place / 10 for place in range(11)],
    "shared_tags": [(a / 10, b / 10, (10 - a - b) / 10) for a in range(3, 9) for b in range(1, 4) if a + b < 10],
}
"""The scales that are tried, in turn. The least loss of the regression decides."""

Values = Mapping[str, float]


@dataclass(frozen=True)
class Sample:
    """A judged query of a set with the state at the end of its search and the share of absent words. `evidence` is what speaks
    for each candidate.
    """

    set: str
    query: JudgedQuery
    state: State
    absent_share: float
    evidence: Sequence[Values] = ()

    @property
    def ids(self) -> list[str]:
        return [entry.company.id for entry in self.state.fitting]

    def scaled(self, scales: Scales) -> Sample:
        """The sample with its evidence on these scales."""
        state = self.state
        evidence = evidence_for(state.fitting, state.intent, state.question.seed, scales)
        return replace(self, evidence=[each.values for each in evidence])


def fit_scales(samples: Sequence[Sample]) -> Scales:
    """The scales at which the regression has the least loss, one after the other."""
    scales = SCALES
    for name, choices in CHOICES.items():
        scales = min((scales._replace(**{name: each}) for each in choices), key=lambda each: _loss(samples, each))
    return scales


def _loss(samples: Sequence[Sample], scales: Scales) -> float:
    """The mean logarithmic loss of a regression on these scales."""
    rows = [row for each in samples for row in each.scaled(scales).evidence]
    right = [each.query.relevant.get(id, 0) >= GRADE_MIN for each in samples for id in each.ids]
    weights = regression(rows, right, _names(rows, by_meaning=True))
    chances = (chance_of(weights, row) for row in rows)
    return mean(-log(chance if is_right else 1 - chance) for chance, is_right in zip(chances, right, strict=True))


def regression(rows: Sequence[Values], right: Sequence[bool], names: Sequence[str]) -> dict[str, float]:
    """The weights of a logistic regression, to three decimals."""
    weights = logistic_regression(rows, right, names, shrinking=SHRINKING)
    return {name: round(weight, 3) for name, weight in weights.items()}


def fit(samples: Sequence[Sample], *, by_meaning: bool) -> Fitted:
    """The weights and thresholds for these queries. By words alone, no regression refuses them."""
    rows = [row for each in samples for row in each.evidence]
    right = [each.query.relevant.get(id, 0) >= GRADE_MIN for each in samples for id in each.ids]
    fits = regression(rows, right, _names(rows, by_meaning))
    fitted = Fitted(fits, {}, 0.0, 0.0)
    if by_meaning:
        of_all = [evidence_of_all(each.evidence, fitted, each.absent_share) for each in samples]
        answered = regression(of_all, [bool(each.query.relevant) for each in samples], _names(of_all, by_meaning))
        answerable = sorted(
            chance_of(answered, values) for values, each in zip(of_all, samples, strict=True) if each.query.relevant
        )
        least = answerable[int(REFUSED_ANSWERABLE * len(answerable))]
        fitted = replace(fitted, answered=answered, refused_below=round(least, 3))
    answerable_samples = [each for each in samples if each.query.relevant]
    quality = {share: _quality(answerable_samples, fitted, share) for share in SHARES}
    enough = [share for share, each in quality.items() if each >= quality[SHARES[0]] - QUALITY_LOST_MAX]
    return replace(fitted, near_share=enough[-1])


def _names(rows: Sequence[Values], by_meaning: bool) -> list[str]:
    return [
        name for name in dict.fromkeys(name for row in rows for name in row) if by_meaning or name not in BY_MEANING
    ]


def ranked(each: Sample, fitted: Fitted, near_share: float) -> list[str]:
    """The companies that are kept, best first."""
    chances = {id: chance_of(fitted.fits, row) for id, row in zip(each.ids, each.evidence, strict=True)}
    least = near_share * max(chances.values(), default=0.0)
    return [id for id, chance in sorted(chances.items(), key=lambda each: -each[1]) if chance >= least]


def _quality(samples: Sequence[Sample], fitted: Fitted, near_share: float) -> float:
    """The mean nDCG of questions with an answer."""
    return mean(ndcg(ranked(each, fitted, near_share), each.query.relevant) for each in samples)


def is_refused(each: Sample, fitted: Fitted) -> bool:
    """Whether nothing is shown."""
    of_all = evidence_of_all(each.evidence, fitted, each.absent_share)
    return chance_of(fitted.answered, of_all) < fitted.refused_below


async def samples_in(name: str, queries: Sequence[JudgedQuery], database: LocalDatabase) -> list[Sample]:
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
    # earlier questions of a conversation are not judged
    return [
        Sample(name, judged[question], state, share)
        for question, state, share in searches
        if question in judged and state.fitting
    ]


def report(samples: Sequence[Sample], *, by_meaning: bool) -> Iterator[str]:
    """How good the ranking of each set is, by weights fitted to the others."""
    for name in dict.fromkeys(each.set for each in samples):
        own, others = [each for each in samples if each.set == name], [each for each in samples if each.set != name]
        fitted = fit(others or own, by_meaning=by_meaning)
        answerable = [each for each in own if each.query.relevant]
        unanswerable = [each for each in own if not each.query.relevant]
        quality = _quality(answerable, fitted, fitted.near_share)
        refused = [sum(is_refused(each, fitted) for each in those) for those in (answerable, unanswerable)]
        yield (
            f"{name}: nDCG {quality:.3f}, refused {refused[0]} of {len(answerable)} with an answer, "
            f"{refused[1]} of {len(unanswerable)} without"
        )


def main() -> None:
    """Measures, fits, and prints what held-out sets are like."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit.companies", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sets", nargs="+", metavar="FOLDER:SET,…")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    samples: list[Sample] = []
    with EmbeddedPostgres(arguments.cache.absolute() / "postgres", parameters=PARAMETERS) as server:
        for folder, _, names in (each.partition(":") for each in arguments.sets):
            for set_ in find_sets(Path(folder), names.split(",")):
                with set_database(server, set_) as database:
                    samples += asyncio.run(samples_in(set_.name, read_judged(set_.judged), database))
    scales = fit_scales(samples)
    samples = [each.scaled(scales) for each in samples]
    weights: dict[str, Any] = {"scales": scales._asdict()}
    for name, by_meaning in (("meaning", True), ("words", False)):
        print(f"by {name}", *report(samples, by_meaning=by_meaning), sep="\n  ")
        weights[name] = vars(fit(samples, by_meaning=by_meaning))
    print(json.dumps(weights, indent=1))
    if arguments.write:
        WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
