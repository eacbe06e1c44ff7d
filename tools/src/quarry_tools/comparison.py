"""Compares a run of judged queries with an earlier one, query by query: better, worse, or no significant difference."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from quarry.platform.errors import QuarryError
from quarry_tools.judged import JudgedQuery
from quarry_tools.measures import bootstrap_interval, randomisation_p
from quarry_tools.outcomes import ALL, LEADING, MEASURES, RANKING, Outcome, grouped

SIGNIFICANT = 0.05
"""A difference with a lower p-value is significant."""

P_SHOWN_MIN = 0.001

COMPARED = (*RANKING, "exact")
"""The measures to compare: those with a value per query, where higher is better."""

QueryKey = tuple[str, str]
"""Domain and id of a judged query."""

Verdict = Literal["better", "worse", "no difference shown"]


class EarlierQuery(BaseModel):
    """The earlier result of a query; its measures are in `model_extra`. `judgement` is None in older reports."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str
    domain: str
    query: str
    judgement: str | None = None

    @property
    def key(self) -> QueryKey:
        return self.domain, self.id

    def is_of(self, query: JudgedQuery) -> bool:
        """Whether it is the same query with the same judgement."""
        return self.query == query.query and self.judgement in (None, judgement(query))

    def value(self, measure: str) -> float | None:
        """A measure by its name in a report; None if it did not apply."""
        value = (self.model_extra or {}).get(measure)
        return float(value) if isinstance(value, int | float) else None


class EarlierReport(BaseModel):
    """The parts of a report by `quarry eval --json` that are compared. `set` names its data set, if any."""

    queries: list[EarlierQuery]
    set: str | None = None


Earlier = Mapping[QueryKey, EarlierQuery]

_REPORTS: TypeAdapter[EarlierReport | list[EarlierReport]] = TypeAdapter(EarlierReport | list[EarlierReport])


def read_earlier(path: Path) -> dict[str | None, Earlier]:
    """The queries of an earlier report, by set. Raises QuarryError if it is not a report; OSError."""
    try:
        content = _REPORTS.validate_json(path.read_bytes())
    except ValidationError:
        raise QuarryError(f"{path.name} is not what `quarry eval --json` writes") from None
    reports = [content] if isinstance(content, EarlierReport) else content
    return {report.set: {query.key: query for query in report.queries} for report in reports}


def read_earlier_queries(path: Path) -> Earlier:
    """The queries of an earlier report, of all sets. Raises as `read_earlier`."""
    return {key: query for queries in read_earlier(path).values() for key, query in queries.items()}


def judgement(query: JudgedQuery) -> str:
    """A short hash of a judged line's content, whatever its layout."""
    return hashlib.sha256(query.model_dump_json(exclude_defaults=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Comparison:
    """One measure over the queries of one kind that are in both runs. `interval` is the 95 % interval of the mean difference."""

    domain: str
    kind: str
    measure: str
    queries: int
    before: float
    now: float
    interval: tuple[float, float]
    p: float

    @property
    def difference(self) -> float:
        return self.now - self.before

    @property
    def verdict(self) -> Verdict:
        if self.p >= SIGNIFICANT:
            return "no difference shown"
        return "better" if self.difference > 0 else "worse"

    @property
    def in_words(self) -> str:
        return (
            f"{self.domain}: {self.verdict} by {MEASURES[self.measure]}: {self.difference:+.3f} on average over {self.queries}"
            f" queries, p {self.p_in_words}"
        )

    @property
    def p_in_words(self) -> str:
        return f"= {self.p:.3f}" if self.p >= P_SHOWN_MIN else f"< {P_SHOWN_MIN:g}"

    def as_json(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("domain", "kind", "measure", "queries", "before", "now")}
        results = {"difference": self.difference, "interval": self.interval, "p": self.p, "verdict": self.verdict}
        return own | results


def compare(outcomes: Sequence[Outcome], earlier: Earlier) -> list[Comparison]:
    """Each measure, for each kind and for all queries of each domain, over the queries that are in both runs."""
    paired = [outcome for outcome in outcomes if is_paired(outcome, earlier)]
    return [
        compared_pairs(group.domain, group.kind, measure, pairs)
        for group in grouped(paired)
        for measure in COMPARED
        if (pairs := list(_pairs(group.measured_by(measure), measure, earlier)))
    ]


def compared_pairs(domain: str, kind: str, measure: str, pairs: Sequence[tuple[float, float]]) -> Comparison:
    """Compares values of a measure before and now, query by query."""
    differences = [now - before for before, now in pairs]
    before, now = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    interval, p = bootstrap_interval(differences), randomisation_p(differences)
    return Comparison(domain, kind, measure, len(pairs), before, now, interval, p)


def is_paired(outcome: Outcome, earlier: Earlier) -> bool:
    """Whether the earlier run has the same query with the same judgement."""
    before = earlier.get((outcome.query.domain, outcome.query.id))
    return before is not None and before.is_of(outcome.query)


def verdicts(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons that summarise each domain: all its queries, by the leading measures."""
    return [each for each in comparisons if each.kind == ALL and each.measure in LEADING]


def _pairs(outcomes: Sequence[Outcome], measure: str, earlier: Earlier) -> Iterator[tuple[float, float]]:
    for outcome in outcomes:
        before = earlier[outcome.query.domain, outcome.query.id].value(measure)
        now = outcome.parts[measure].value
        if before is not None and now is not None:
            yield before, now
