"""The outcomes of judged queries: the measures of each query, and their summary by kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from quarry_tools.evaluable import Results
from quarry_tools.expectation import Verdict, first_number, judge, says_nothing_found, says_unknown
from quarry_tools.judged import JudgedQuery
from quarry_tools.measures import (
    DEEP,
    DEPTH,
    FIRST,
    bootstrap_interval,
    ndcg,
    percentile,
    precision,
    recall,
    reciprocal_rank,
    success,
)

ALL = "all with an answer"

RANKING = {
    "ndcg": f"nDCG@{DEPTH}",
    "recall": f"recall@{DEPTH}",
    "recall_deep": f"recall@{DEEP}",
    "mrr": f"MRR@{DEPTH}",
    "success": f"success@{FIRST}",
}
"""The measures of a ranked list, which leave out in their mean over all kinds the queries that nothing answers."""

MEASURES = RANKING | {
    "precision": "P of shown",
    "empty": "empty",
    "violations": "violations",
    "violations_unmissed": "… unmissed",
    "exact": "exact",
    "confidently_wrong": "conf. wrong",
    "number": "number",
    "unknown_told": "unknown told",
    "unknown_told_wrongly": "… wrongly",
    "types": f"type@{DEPTH}",
}
"""What can be measured, by its name in JSON, with its heading in a table."""

LEADING = ("ndcg", "exact")
"""The measures that decide whether a search is better or worse: the order of a list, and the answer in words."""


@dataclass(frozen=True)
class Part:
    """The numerator and denominator that one query adds to a measure."""

    count: float
    of: float = 1.0

    @property
    def value(self) -> float | None:
        """The share; None if there is nothing to measure, for example if nothing is shown."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True)
class Outcome:
    """The outcome of one query. `answer` is the search's answer in words; `field_values` are those of the expected field.

    `results_max` is the most results that the domain shows; None: as many as requested.
    """

    query: JudgedQuery
    results: Results
    milliseconds: float
    answer: str | None = None
    field_values: Collection[str] = ()
    results_max: int | None = None

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict on the answer; None if none was expected."""
        if self.query.expect is None:
            return None
        return judge(
            self.query.expect,
            self.query.query,
            self.answer or "",
            keys=self.results.keys,
            total=self.results.total,
            field_values=self.field_values,
        )

    @cached_property
    def broken(self) -> Sequence[str] | None:
        """The keys of results that violate a demand; None without demands."""
        query = self.query
        if not (query.demands or query.forbidden or query.hard):
            return None
        return [key for key in dict.fromkeys(self.results.keys) if self._breaks(key)]

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        """The parts that this query adds to each measure that applies to it."""
        return dict([*self._of_ranking(), *self._of_results(), *self._of_answer()])

    def _breaks(self, key: str) -> bool:
        query, facts = self.query, self.results.facts.get(key)
        unmet = query.demands is not None and facts is not None and not query.demands.are_met_by(facts)
        return unmet or key in query.forbidden or (query.hard and key not in query.relevant)

    def _of_ranking(self) -> Iterable[tuple[str, Part]]:
        if self.query.expect is not None:
            return
        keys, relevant = self.results.keys, self.query.relevant
        yield "ndcg", Part(ndcg(keys, relevant))
        yield "recall", Part(recall(keys, relevant))
        if not self.results_max:
            yield "recall_deep", Part(recall([*keys, *self.results.deeper], relevant, DEEP))
        yield "mrr", Part(reciprocal_rank(keys, relevant))
        yield "success", Part(success(keys, relevant))
        if self.results_max and relevant:
            yield "precision", Part(precision(keys, relevant, self.results_max))
        if self.query.types:
            first = {key.partition(":")[0] for key in keys[:DEPTH]}
            yield "types", Part(bool(first & {*self.query.types}))

    def _of_results(self) -> Iterable[tuple[str, Part]]:
        keys = dict.fromkeys(self.results.keys)
        if self.query.has_results:
            yield "empty", Part(not keys)
        if self.broken is None:
            return
        yield "violations", Part(len(self.broken), len(keys))
        if self.results.misses is not None:
            unmissed = [key for key in keys if not self.results.misses.get(key)]
            yield "violations_unmissed", Part(len({*unmissed} & {*self.broken}), len(unmissed))

    def _of_answer(self) -> Iterable[tuple[str, Part]]:
        if self.verdict is not None:
            yield "exact", Part(self.verdict == "right")
            yield "confidently_wrong", Part(self.verdict == "confidently wrong")
        if self.answer is None:
            return
        if self.query.number is not None:
            yield "number", Part(first_number(self.answer, self.query.query) == self.query.number)
        expect, is_unknown = self.query.expect, says_unknown(self.answer)
        if self.query.answerable is False:
            # a search of prose cannot distinguish what it does not find from what does not exist
            yield "unknown_told", Part(is_unknown or says_nothing_found(self.answer))
        elif expect is not None and expect.unanswerable:
            yield "unknown_told", Part(is_unknown)
        elif self.query.answerable or expect is not None:
            yield "unknown_told_wrongly", Part(is_unknown)


@dataclass(frozen=True)
class Group:
    """The queries of one kind; in the last group of a domain, all queries, and in `ranked` those that have an answer."""

    domain: str
    kind: str
    ranked: Sequence[Outcome]
    outcomes: Sequence[Outcome]

    def measured_by(self, measure: str) -> list[Outcome]:
        """The queries that a measure covers and applies to."""
        outcomes = self.ranked if measure in RANKING else self.outcomes
        return [outcome for outcome in outcomes if measure in outcome.parts]


def grouped(outcomes: Sequence[Outcome]) -> Iterator[Group]:
    """For each domain its kinds in order of appearance, then all its queries, if any has an answer.

    For queries without an answer, the last group has only the measures other than the order of a list.
    """
    for domain in dict.fromkeys(outcome.query.domain for outcome in outcomes):
        of_domain = [outcome for outcome in outcomes if outcome.query.domain == domain]
        for kind in dict.fromkeys(outcome.query.kind for outcome in of_domain):
            of_kind = [outcome for outcome in of_domain if outcome.query.kind == kind]
            yield Group(domain, kind, of_kind, of_kind)
        if answerable := [outcome for outcome in of_domain if outcome.query.has_answer]:
            yield Group(domain, ALL, answerable, of_domain)


@dataclass(frozen=True)
class Summary:
    """The measures that apply to the queries of one kind, each a share of them with its 95 % interval; milliseconds as
    percentiles.
    """

    domain: str
    kind: str
    queries: int
    p50_ms: float
    p95_ms: float
    measures: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def summarise(outcomes: Sequence[Outcome]) -> list[Summary]:
    """One summary per group."""
    return [_summary(group) for group in grouped(outcomes)]


def _summary(group: Group) -> Summary:
    times = [outcome.milliseconds for outcome in group.ranked]
    parts = {name: [outcome.parts[name] for outcome in group.measured_by(name)] for name in MEASURES}
    counts = {name: ([part.count for part in of], [part.of for part in of]) for name, of in parts.items()}
    counts = {name: (count, of) for name, (count, of) in counts.items() if sum(of)}
    return Summary(
        group.domain,
        group.kind,
        len(group.ranked),
        percentile(times, 0.5),
        percentile(times, 0.95),
        {name: sum(count) / sum(of) for name, (count, of) in counts.items()},
        {name: bootstrap_interval(count, of) for name, (count, of) in counts.items()},
    )
