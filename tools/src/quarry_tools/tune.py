"""`quarry tune`: finds the weights that order a domain's results best on judged queries, and tests them on held-out queries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from quarry.local.cli.command import WrongUsage, on_database
from quarry.local.database import LocalDatabase
from quarry.local.output import write_json
from quarry.local.terminal import make_console, progress_bar, write_table
from quarry.platform.errors import QuarryError
from quarry.postgres.pool import Database
from quarry.services.services import TUNED_NAMES, Caller, Services
from quarry_tools.comparison import Comparison, compared_pairs
from quarry_tools.evaluable import EVALUATING_USER
from quarry_tools.evaluation import read_files, tell
from quarry_tools.judged import JudgedQuery
from quarry_tools.measures import DEPTH, ndcg

Weights = Mapping[str, float]
"""By the names of their settings."""

MEASURE = f"nDCG@{DEPTH}"


@dataclass(frozen=True)
class Tuned:
    """The result of tuning one domain. `halves` are the scores of each half alone, paired with held-out scores of mixtures;
    `present` are the current weights.
    """

    domain: str
    scope: str
    present: Weights
    options: Sequence[Weights]
    validated: CrossValidated
    halves: Mapping[str, Comparison]
    is_stored: bool = False

    @property
    def best(self) -> Weights:
        return self.options[self.validated.option]

    @property
    def comparison(self) -> Comparison:
        return compared_pairs(self.domain, "held out", "ndcg", self.validated.pairs)

    @property
    def is_better(self) -> bool:
        """Whether other weights than the current ones do better on queries they were not chosen by."""
        return self.best != self.present and self.validated.held_out > self.validated.present

    @property
    def half_alone(self) -> str | None:
        """The half that alone does better than held-out mixtures of both, and no worse than the current weights."""
        name, best = max(self.halves.items(), key=lambda half: half[1].now)
        return name if best.difference > 0 and best.now >= self.validated.present else None


def tune_by_files(
    files: Sequence[Path], domain: str | None, *, folds: int, apply: bool, reset: bool, as_json: bool
) -> None:
    """`quarry tune`. Raises WrongUsage, and as `read_files` and `tune`."""
    if reset == bool(files):
        raise WrongUsage("give a FILE of judged queries to tune by, or --reset")
    if reset:
        on_database(lambda database: forget(database, as_json=as_json))
        return
    queries = read_files(files, domain)
    on_database(lambda database: tune(queries, database, folds=folds, apply=apply, as_json=as_json))


async def tune(
    queries: Sequence[JudgedQuery], database: LocalDatabase, *, folds: int, apply: bool, as_json: bool
) -> None:
    """Tunes each domain in the queries, and reports on stdout; with `apply`, stores weights that do better held out.

    Raises QuarryError if a domain has no weights to tune or too few queries, and if a search fails.
    """
    by_domain = _by_domain(queries, folds)
    async with database.services() as services:
        tuned = [await _tune_domain(name, of_domain, services, folds) for name, of_domain in by_domain.items()]
        if apply:
            for place, each in enumerate(tuned):
                if each.is_better:
                    await store_weights(services.database, each.best)
                    tuned[place] = replace(each, is_stored=True)
        hidden = {name.upper() for each in tuned for name in each.best if name in services.settings.model_fields_set}
    if as_json:
        write_json({"domains": [_as_json(each) for each in tuned]})
    else:
        for each in tuned:
            _show(each, store_requested=apply)
    if hidden:
        tell([f"the environment sets {', '.join(sorted(hidden))}, which wins over what is stored"])


async def forget(database: LocalDatabase, *, as_json: bool) -> None:
    """Deletes every stored weight and prints their names."""
    async with database.services() as services:
        forgotten = await forget_weights(services.database)
    if as_json:
        print(json.dumps({"forgotten": forgotten}))
    else:
        print(f"forgotten: {', '.join(forgotten)}" if forgotten else "nothing was stored")


async def store_weights(database: Database, weights: Mapping[str, float]) -> None:
    """Stores weights, all or none; running processes keep theirs. Raises DatabaseUnavailable."""
    await database.execute(
        "insert into tuned_weights (name, weight) select * from unnest(%s::text[], %s::float8[])"
        " on conflict (name) do update set weight = excluded.weight, stored_at = excluded.stored_at",
        [list(weights), list(weights.values())],
    )


async def forget_weights(database: Database) -> list[str]:
    """Deletes the stored weights, and returns their names. Raises DatabaseUnavailable."""
    rows = await database.rows("delete from tuned_weights where name = any(%s) returning name", [list(TUNED_NAMES)])
    return sorted(row["name"] for row in rows)


def _by_domain(queries: Sequence[JudgedQuery], folds: int) -> dict[str, list[JudgedQuery]]:
    """The queries with a judged list, by domain. Refuses bad input before any search."""
    by_domain: dict[str, list[JudgedQuery]] = {}
    for query in queries:
        by_domain.setdefault(query.domain, []).extend([query] if query.relevant else [])
    for domain, of_domain in by_domain.items():
        if domain not in TUNABLE:
            raise QuarryError(f"{domain} has no weights to tune, but {', '.join(TUNABLE)}")
        if len(of_domain) < folds:
            raise QuarryError(
                f"{domain}: {folds} folds take as many queries with relevant results, not {len(of_domain)}"
            )
    return by_domain


async def _tune_domain(domain: str, queries: Sequence[JudgedQuery], services: Services, folds: int) -> Tuned:
    tunable = TUNABLE[domain]()
    settings = await services.tuned_settings()
    present: Weights = {name: getattr(settings, name) for name in tunable.names}
    options = [present, *(option for option in tunable.options if option != present)]
    halves = list(tunable.halves.values())
    scored: list[Scored] = []
    with progress_bar(f"tuning {domain}", len(queries)) as bar:
        for query in queries:
            scored.append(await _score(query, tunable, [*options, *halves], services))
            bar.advance(1)
    validated = cross_validate(_among(scored, range(len(options))), folds)
    mixtures = [place for place, option in enumerate(options) if tunable.mixes(option)]
    mixed = cross_validate(_among(scored, mixtures), folds)
    alone = {
        name: compared_pairs(domain, f"{name} alone", "ndcg", _beside(mixed, _among(scored, [place]), folds))
        for place, name in enumerate(tunable.halves, start=len(options))
    }
    return Tuned(domain, tunable.scope, present, options, validated, alone)


def _among(scored: Sequence[Scored], options: Sequence[int]) -> list[Scored]:
    return [replace(each, by_option=[each.by_option[place] for place in options]) for each in scored]


def _beside(mixed: CrossValidated, half: Sequence[Scored], folds: int) -> list[tuple[float, float]]:
    """The score of each query by held-out mixtures, and by a half alone, which involves no choice."""
    alone = cross_validate(half, folds)
    return [(before, now) for (_, before), (now, _) in zip(mixed.pairs, alone.pairs, strict=True)]


async def _score(query: JudgedQuery, tunable: Tunable, options: Sequence[Weights], services: Services) -> Scored:
    fuse = await tunable.gather(query, query.caller_or(Caller(EVALUATING_USER)), services)
    return Scored(query.id, query.kind, [ndcg(fuse(option)[:DEPTH], query.relevant) for option in options])


def _show(tuned: Tuned, *, store_requested: bool) -> None:
    console = make_console()
    console.print(f"{tuned.domain}, {tuned.scope}: {MEASURE} by {', '.join(tuned.best)}")
    rows = [
        (
            str(number),
            str(fold.queries),
            _values(tuned.options[fold.option]),
            f"{fold.present:.3f}",
            f"{fold.held_out:.3f}",
        )
        for number, fold in enumerate(tuned.validated.folds, start=1)
    ]
    whole = tuned.validated
    rows.append(("all", str(len(whole.pairs)), _values(tuned.best), f"{whole.present:.3f}", f"{whole.held_out:.3f}"))
    write_table(console, ("fold", "queries ", "weights ", "in force ", "held out "), rows)
    for line in _conclusions(tuned, store_requested=store_requested):
        console.print(line)


def _conclusions(tuned: Tuned, *, store_requested: bool) -> list[str]:
    """Conclusions, in words."""
    halves = ", ".join(f"{name} alone {half.now:.3f}" for name, half in tuned.halves.items())
    lines = [f"{tuned.comparison.in_words}; {halves}"]
    if tuned.half_alone:
        half = tuned.halves[tuned.half_alone]
        conclusion = "the other half only disturbs it on this data" if half.verdict == "better" else half.verdict
        lines.append(
            f"{tuned.half_alone} alone does better than any mixture by {half.difference:.3f}, p {half.p_in_words}: {conclusion}"
        )
    if tuned.is_stored:
        lines.append(f"stored {_values(tuned.best)} for this database; processes that start from now on use it")
    elif not tuned.is_better:
        lines.append(f"no other weights do better on queries held out: {_values(tuned.present)} stay in force")
    elif not store_requested:
        lines.append(f"best on all queries are {_values(tuned.best)}; --apply stores them for this database")
    return lines


def _values(weights: Weights) -> str:
    return " / ".join(f"{weight:g}" for weight in weights.values())


def _as_json(tuned: Tuned) -> dict[str, Any]:
    return {
        "domain": tuned.domain,
        "present": tuned.present,
        "best": tuned.best,
        "folds": [
            {name: value for name, value in asdict(fold).items() if name != "option"}
            | {"weights": tuned.options[fold.option]}
            for fold in tuned.validated.folds
        ],
        "held_out": tuned.validated.held_out,
        "in_force": tuned.validated.present,
        "p": tuned.comparison.p,
        "verdict": tuned.comparison.verdict,
        "halves": {name: half.now for name, half in tuned.halves.items()},
        "half_alone": tuned.half_alone,
        "stored": tuned.is_stored,
    }


STEPS = 20
"""Single shares are tried in steps of a twentieth, three shares in steps of a tenth."""

Fuse = Callable[[Weights], Sequence[str]]
"""The keys of a query's candidates, best first, under given weights: pure."""


@dataclass(frozen=True)
class Tunable:
    """How a domain fuses its results. `options` are the weights to try, `halves` those that use only one half, and `meaning` is
    the setting for the share of meaning.

    `gather` finds the candidates of a query, independent of the current weights. `scope` says which part of the search the
    weights order.
    """

    gather: Callable[[JudgedQuery, Caller, Services], Awaitable[Fuse]]
    options: Sequence[Weights]
    halves: Mapping[str, Weights]
    meaning: str
    scope: str

    def mixes(self, weights: Weights) -> bool:
        """Whether both halves have weight."""
        return 0 < weights[self.meaning] < 1

    @property
    def names(self) -> tuple[str, ...]:
        """The settings that are tuned."""
        return tuple(self.options[0])


def _records() -> Tunable:
    from quarry.platform.budget import Budget
    from quarry.records.finding import fuse_types, gather_candidates
    from quarry.records.reading import read_records
    from quarry.records.sources import acting_for
    from quarry.runs.run_log import Run

    share = "records_semantic_weight"

    async def gather(query: JudgedQuery, caller: Caller, services: Services) -> Fuse:
        budget = Budget.without_model(services.settings.database_timeout_seconds)
        run = Run("records", caller.user_id, query.query, budget, chat=None)
        types, services = await acting_for(caller, services)
        reading = await read_records(caller, services, types, query.query)
        results = await gather_candidates(query.query, types.by_names(()), services, run, reading=reading)
        return lambda weights: [":".join(item.key) for item in fuse_types(results.candidates, weights[share])]

    options = [{share: step / STEPS} for step in range(STEPS + 1)]
    return Tunable(gather, options, {"words": {share: 0.0}, "meaning": {share: 1.0}}, share, "the list of records")


def _companies() -> Tunable:
    from quarry.companies.retrieval import retrieve_variants
    from quarry.companies.state import Variant, merge

    meaning, words, niches = "company_semantic_weight", "company_keyword_weight", "company_niche_weight"

    async def gather(query: JudgedQuery, caller: Caller, services: Services) -> Fuse:
        text = "\n".join([*query.earlier, query.query])
        variant = Variant(text, await services.queries.embed(text))
        candidates_by_signal = [
            candidate
            # the results of each signal alone, so that none is missing that other weights would have found
            for weights in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
            for candidate in await retrieve_variants(
                services.database,
                [variant],
                services.settings.model_copy(update=dict(zip((meaning, words, niches), weights, strict=True))),
                keyword=False,
                limit=services.settings.company_retrieved_max,
            )
        ]
        candidates = merge(candidates_by_signal)

        def fuse(weights: Weights) -> list[str]:
            def score(semantic: float, keyword: float, niche: float) -> float:
                return weights[meaning] * semantic + weights[words] * keyword + weights[niches] * niche

            best_first = sorted(
                candidates, key=lambda each: (-score(each.semantic, each.keyword, each.niche), each.company_id)
            )
            return [each.company_id for each in best_first]

        return fuse

    tenths = [(first, second, 10 - first - second) for first in range(11) for second in range(11 - first)]
    options = [{meaning: a / 10, words: b / 10, niches: c / 10} for a, b, c in tenths]
    halves = {
        "words": {meaning: 0.0, words: 0.6, niches: 0.4},
        "meaning": {meaning: 1.0, words: 0.0, niches: 0.0},
    }
    return Tunable(gather, options, halves, meaning, "the companies that are retrieved, before they are ranked")


TUNABLE: dict[str, Callable[[], Tunable]] = {"companies": _companies, "records": _records}
"""Each imports its domain when it is called."""


FOLDS = 5


@dataclass(frozen=True)
class Scored:
    """The scores (0 to 1) of one query's list under each option, in the order of the options."""

    id: str
    kind: str
    by_option: Sequence[float]


@dataclass(frozen=True)
class Fold:
    """The queries held out together: the option that did best on all others, and its score on these.

    `present` is the score of the current weights on these.
    """

    queries: int
    option: int
    held_out: float
    present: float


@dataclass(frozen=True)
class CrossValidated:
    """`option` did best on all queries. `pairs` has the score of each query with the current weights, and held out."""

    option: int
    folds: Sequence[Fold]
    pairs: Sequence[tuple[float, float]]

    @property
    def present(self) -> float:
        return fmean(before for before, _ in self.pairs)

    @property
    def held_out(self) -> float:
        return fmean(now for _, now in self.pairs)


def cross_validate(queries: Sequence[Scored], folds: int = FOLDS) -> CrossValidated:
    """Chooses an option for each fold by the others, and one for all. On a tie, the first is chosen: the current one.

    The same queries in any order give the same folds, each with about the same number of every kind. Raises QuarryError if
    there are fewer queries than folds.
    """
    if not 2 <= folds <= len(queries):
        raise QuarryError(
            f"{folds} folds take 2 and at least as many judged queries with relevant results: {len(queries)}"
        )
    in_order = sorted(queries, key=lambda query: (query.kind, _shuffled(query.id)))
    parts = [in_order[number::folds] for number in range(folds)]
    fold_results: list[Fold] = []
    pairs: list[tuple[float, float]] = []
    for number, held_out in enumerate(parts):
        option = best_option([query for other in parts if other is not parts[number] for query in other])
        own = [(query.by_option[0], query.by_option[option]) for query in held_out]
        fold_results.append(Fold(len(own), option, fmean(now for _, now in own), fmean(before for before, _ in own)))
        pairs += own
    return CrossValidated(best_option(queries), fold_results, pairs)


def best_option(queries: Sequence[Scored]) -> int:
    """The option with the best mean; on a tie the first."""
    in_order = sorted(queries, key=lambda query: query.id)
    means = [fmean(values) for values in zip(*(query.by_option for query in in_order), strict=True)]
    return means.index(max(means))


def _shuffled(id: str) -> str:
    """A sort key for an id that is unrelated to its position in a file."""
    return hashlib.sha256(id.encode()).hexdigest()
