"""The domains whose weights `quarry tune` tunes: the candidates for a query, and the list that given weights make of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from quarry.services.services import Caller, Services
from quarry_tools.judged import JudgedQuery
from quarry_tools.tuning import Weights

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
        found = await gather_candidates(query.query, types.named(()), services, run, reading=reading)
        return lambda weights: [":".join(item.key) for item in fuse_types(found.candidates, weights[share])]

    options = [{share: step / STEPS} for step in range(STEPS + 1)]
    return Tunable(gather, options, {"words": {share: 0.0}, "meaning": {share: 1.0}}, share, "the list of records")


def _companies() -> Tunable:
    from quarry.companies.retrieval import retrieve_variants
    from quarry.companies.state import Variant, merge

    meaning, words, niches = "company_semantic_weight", "company_keyword_weight", "company_niche_weight"

    async def gather(query: JudgedQuery, caller: Caller, services: Services) -> Fuse:
        text = "\n".join([*query.earlier, query.query])
        variant = Variant(text, await services.queries.embed(text))
        found = [
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
        candidates = merge(found)

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
