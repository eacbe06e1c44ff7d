"""The metrics of a process: their names and units, and the counts so far.

Lambda functions log them for CloudWatch (`web/telemetry`), `quarry serve` logs them as text. They are counted for the function
and some for each domain, never for a user or a question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

VALUES_MAX = 50
"""Of times, so many are kept, the latest ones."""

Unit = Literal["Count", "Milliseconds", "Seconds", "None"]
"""By CloudWatch's names; None is for money."""


@dataclass(frozen=True)
class Metric:
    """What counts and dollars come to is added up; of times each one is kept."""

    name: str
    unit: Unit
    by_domain: bool = False

    @property
    def adds_up(self) -> bool:
        return self.unit in ("Count", "None")


REQUESTS = Metric("Requests", "Count")
"""HTTP requests, however they were answered."""
REFUSED_402 = Metric("Refused402", "Count")
REFUSED_429 = Metric("Refused429", "Count")
REFUSED_503 = Metric("Refused503", "Count")
"""Requests that were refused for want of credits, beyond the rate limit, and because a part was down or there was no place."""
TIME_TO_FIRST_EVENT = Metric("TimeToFirstEvent", "Milliseconds")
"""From a stream's request to the first piece of its answer."""
CREDITS_SPENT = Metric("CreditsSpent", "Count")
"""Charged and committed."""
SEARCHES = Metric("Searches", "Count", by_domain=True)
"""Runs that have ended, however they ended."""
FAILED_SEARCHES = Metric("FailedSearches", "Count", by_domain=True)
"""Of these, runs that failed by the service's own fault, also where the stream of their answer had begun."""
DEGRADED_STEPS = Metric("DegradedSteps", "Count", by_domain=True)
"""Steps that a fallback served in place of a model, or that gave less than was asked for."""
PROMPT_TOKENS = Metric("PromptTokens", "Count", by_domain=True)
COMPLETION_TOKENS = Metric("CompletionTokens", "Count", by_domain=True)
"""What chat models read and wrote, as they count it."""
MODEL_COST = Metric("ModelCost", "None", by_domain=True)
"""US dollars, by MODEL_PROMPT_PRICE and MODEL_COMPLETION_PRICE; not counted without them."""
EMBEDDING_BACKLOG = Metric("EmbeddingBacklog", "Count")
EMBEDDING_BACKLOG_AGE = Metric("EmbeddingBacklogAge", "Seconds")
"""Rows that wait to be embedded after a run of `embed`, and how long since none did."""

METRICS = (
    REQUESTS, REFUSED_402, REFUSED_429, REFUSED_503, TIME_TO_FIRST_EVENT, CREDITS_SPENT,
    SEARCHES, FAILED_SEARCHES, DEGRADED_STEPS, PROMPT_TOKENS, COMPLETION_TOKENS, MODEL_COST,
    EMBEDDING_BACKLOG, EMBEDDING_BACKLOG_AGE,
)  # fmt: skip

Counts = Mapping[str | None, Mapping[Metric, Sequence[float]]]
"""The values of metrics, of each domain; None: of the function."""


class Metrics:
    """The counts of one process since they were taken last. Counting never waits and never fails."""

    def __init__(self) -> None:
        self._counts: dict[str | None, dict[Metric, deque[float]]] = {}

    def count(self, metric: Metric, value: float = 1, *, domain: str | None = None) -> None:
        """Count `value`, in the metric's unit; `domain` goes with a metric that is counted by domain."""
        values = self._counts.setdefault(domain, {}).setdefault(metric, deque(maxlen=VALUES_MAX))
        if values and metric.adds_up:
            values[0] += value
        else:
            values.append(value)

    def take(self) -> Counts:
        """What was counted since this was called last."""
        taken, self._counts = self._counts, {}
        return {domain: {metric: [*values] for metric, values in counts.items()} for domain, counts in taken.items()}


def in_words(counts: Counts) -> str:
    """The counts as a line of a log: sums, and of times the longest."""
    return ", ".join(
        " ".join([metric.name, *([domain] if domain else []), _shown(metric, values)])
        for domain, by_metric in counts.items()
        for metric, values in by_metric.items()
    )


def _shown(metric: Metric, values: Sequence[float]) -> str:
    if metric.adds_up:
        return f"{sum(values):.4f}" if metric.unit == "None" else f"{sum(values):.0f}"
    return f"{max(values):.0f} {'ms' if metric.unit == 'Milliseconds' else 's'} at most"
