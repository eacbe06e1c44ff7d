"""Metrics and traces of a process.

Lambda functions log metrics for CloudWatch (`web/telemetry`), `quarry serve` logs them as text. They are counted per function and
some also per domain, never per user or question.

Traces use OpenTelemetry, and are off unless its environment variables turn them on. Steps, statements and model calls are spans
below the request's. They contain names, numbers and ids of runs, but no questions, answers or data.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context as Variables
from contextvars import ContextVar, copy_context
from functools import cached_property
from threading import Thread
from typing import TYPE_CHECKING, Literal, NamedTuple

from quarry import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

VALUES_MAX = 50
"""How many of the latest times are kept."""
Unit = Literal["Count", "Milliseconds", "Seconds", "None"]
"""CloudWatch's names; None is for money."""


class Metric(NamedTuple):
    """A metric. Counts and dollars are added up; times are kept one by one."""

    name: str
    unit: Unit
    by_domain: bool = False

    @property
    def adds_up(self) -> bool:
        return self.unit in ("Count", "None")


REQUESTS = Metric("Requests", "Count")
"""All HTTP requests."""
REFUSED_402 = Metric("Refused402", "Count")
REFUSED_429 = Metric("Refused429", "Count")
REFUSED_503 = Metric("Refused503", "Count")
"""Requests refused without credits, over the rate limit, and because a part was down or the process was overloaded."""
TIME_TO_FIRST_EVENT = Metric("TimeToFirstEvent", "Milliseconds")
"""From the request of a stream to the first piece of its answer."""
CREDITS_SPENT = Metric("CreditsSpent", "Count")
"""Credits that were charged."""
SEARCHES = Metric("Searches", "Count", by_domain=True)
"""Runs that have ended in any way."""
FAILED_SEARCHES = Metric("FailedSearches", "Count", by_domain=True)
"""Runs that failed by a fault of the service, also after the stream of their answer had begun."""
DEGRADED_STEPS = Metric("DegradedSteps", "Count", by_domain=True)
"""Steps that a fallback did in place of a model, or that returned less than was asked."""
PROMPT_TOKENS = Metric("PromptTokens", "Count", by_domain=True)
COMPLETION_TOKENS = Metric("CompletionTokens", "Count", by_domain=True)
"""Tokens that chat models read and wrote, by their own count."""
MODEL_COST = Metric("ModelCost", "None", by_domain=True)
"""US dollars, by MODEL_PROMPT_PRICE and MODEL_COMPLETION_PRICE; not counted without them."""
EMBEDDING_BACKLOG = Metric("EmbeddingBacklog", "Count")
EMBEDDING_BACKLOG_AGE = Metric("EmbeddingBacklogAge", "Seconds")
"""Rows that wait to be embedded after a run of `embed`, and how long ago there were none."""
METRICS = (
    REQUESTS, REFUSED_402, REFUSED_429, REFUSED_503, TIME_TO_FIRST_EVENT, CREDITS_SPENT,
    SEARCHES, FAILED_SEARCHES, DEGRADED_STEPS, PROMPT_TOKENS, COMPLETION_TOKENS, MODEL_COST,
    EMBEDDING_BACKLOG, EMBEDDING_BACKLOG_AGE,
)  # fmt: skip
BY_VERSION = (SEARCHES, FAILED_SEARCHES)
"""Also counted for each version of a function, so that a release is judged by its own searches while it has a tenth of them."""
Counts = Mapping[str | None, Mapping[Metric, Sequence[float]]]
"""The values of metrics by domain; None stands for the function."""


class Metrics:
    """The counts of one process since the last `take`. Counting never blocks and never fails."""

    def __init__(self) -> None:
        self._counts: dict[str | None, dict[Metric, deque[float]]] = {}

    def count(self, metric: Metric, value: float = 1, *, domain: str | None = None) -> None:
        """Count `value` in the metric's unit; `domain` is for metrics that are counted by domain."""
        values = self._counts.setdefault(domain, {}).setdefault(metric, deque(maxlen=VALUES_MAX))
        if values and metric.adds_up:
            values[0] += value
        else:
            values.append(value)

    def take(self) -> Counts:
        """The counts since the last call."""
        totals, self._counts = self._counts, {}
        return {domain: {metric: [*values] for metric, values in counts.items()} for domain, counts in totals.items()}


def in_words(counts: Counts) -> str:
    """The counts as a log line: sums, and the longest times."""
    return ", ".join(
        " ".join([metric.name, *([domain] if domain else []), _value_text(metric, values)])
        for domain, by_metric in counts.items()
        for metric, values in by_metric.items()
    )


def _value_text(metric: Metric, values: Sequence[float]) -> str:
    if metric.adds_up:
        return f"{sum(values):.4f}" if metric.unit == "None" else f"{sum(values):.0f}"
    return f"{max(values):.0f} {'ms' if metric.unit == 'Milliseconds' else 's'} at most"


SERVICE = "quarry"
FLUSH_SECONDS = 1.0
"""How long the end of an invocation or process waits for spans to be sent."""
Kind = Literal["internal", "server", "client"]
Attributes = dict[str, str | int]
logger = logging.getLogger(__name__)


class _Place(NamedTuple):
    """A place in a trace: below the span of `context`."""

    tracer: Tracer
    context: Context


# Our own context: OpenTelemetry's fails if another task closes a generator than the one that started it.
_place: ContextVar[_Place | None] = ContextVar("quarry.trace", default=None)


@contextmanager
def span(
    name: str | Callable[[], str],
    attributes: Attributes | None = None,
    *,
    kind: Kind = "internal",
    current: bool = True,
) -> Iterator[Attributes]:
    """A span for the duration of the block, within a traced request. The block can add to the yielded attributes. Spans that
    begin in the block are below it if it is `current`. Only the type of an error is recorded.
    """
    place = _place.get()
    if place is None:
        yield {}
    else:
        with _start(place, name if isinstance(name, str) else name(), attributes or {}, kind, current) as more:
            yield more


def untraced() -> Variables:
    """The context for a background task that is not part of a request."""
    variables = copy_context()
    variables.run(_place.set, None)
    return variables


class Tracing:
    """The traces of one process, which a thread of the SDK sends to `endpoint` in batches; None turns them off. OpenTelemetry's
    own variables set the rest. The SDK is imported with the first request.
    """

    def __init__(self, endpoint: str | None) -> None:
        self._endpoint = endpoint

    @property
    def is_on(self) -> bool:
        return self._endpoint is not None

    @contextmanager
    def request(self, name: str, headers: Mapping[str, str]) -> Iterator[Attributes]:
        """As `span`, for a request: below the caller's span if `headers` name one."""
        if self._provider is None:
            yield {}
            return
        from opentelemetry import propagate

        place = _Place(self._provider.get_tracer(SERVICE, __version__), propagate.extract(headers))
        with _start(place, name, {}, "server", current=True) as more:
            yield more

    async def flush(self) -> None:
        """Send pending spans: Lambda freezes a process once it has answered."""
        if provider := self._started_provider:
            await _in_time(provider.force_flush)

    async def close(self) -> None:
        """Send pending spans, and shut down. Gives up what the collector does not take in time: the exporter would try again for
        seconds, in a thread that outlives its server.
        """
        if provider := self._started_provider:
            await _in_time(provider.shutdown, late=self._exporter.shutdown)

    @property
    def _started_provider(self) -> TracerProvider | None:
        provider: TracerProvider | None = self.__dict__.get("_provider")
        return provider

    @cached_property
    def _provider(self) -> TracerProvider | None:
        if self._endpoint is None:
            return None
        try:
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            exporter = self._exporter
        except ImportError:
            logger.warning("traces are enabled but cannot be sent: pip install 'quarry-search[otel]'")
            return None
        ours = Resource({"service.name": SERVICE, "service.version": __version__})
        resource = Resource.create().merge(ours).merge(OTELResourceDetector().detect())
        # not OpenTelemetry's global provider: spans of other packages may contain questions
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        return provider

    @cached_property
    def _exporter(self) -> OTLPSpanExporter:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(self._endpoint)


@contextmanager
def _start(place: _Place, name: str, attributes: Attributes, kind: Kind, current: bool) -> Iterator[Attributes]:
    from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context

    started_span = place.tracer.start_span(name, place.context, SpanKind[kind.upper()], attributes)
    before = _place.get()
    if current:
        _place.set(_Place(place.tracer, set_span_in_context(started_span, place.context)))
    more: Attributes = {}
    try:
        yield more
    except Exception as error:
        started_span.set_attribute("error.type", type(error).__name__)
        started_span.set_status(StatusCode.ERROR)
        raise
    finally:
        if current:
            _place.set(before)
        started_span.set_attributes(more)
        started_span.end()


async def _in_time(work: Callable[[], object], *, late: Callable[[], object] | None = None) -> None:
    """Run blocking work in a daemon thread, and wait at most FLUSH_SECONDS for it. `late` ends work that takes longer, which is
    then waited for as long again.
    """
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        work()
        with suppress(RuntimeError):  # the loop may be closed by then
            loop.call_soon_threadsafe(done.set)

    Thread(target=run, daemon=True).start()
    for ending in (late, None):
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await done.wait()
        if done.is_set() or ending is None:
            return
        ending()
