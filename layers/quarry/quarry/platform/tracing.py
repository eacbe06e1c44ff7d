"""Traces of requests by OpenTelemetry, off unless its environment variables turn them on.

Steps, statements and model calls are spans below the request's. They hold names, numbers and ids of runs, and nothing that was
asked, answered or stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import Context as Variables
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cached_property
from threading import Thread
from typing import TYPE_CHECKING, Literal

from quarry import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

SERVICE = "quarry"
FLUSH_SECONDS = 1.0
"""So long the end of an invocation, or of the process, waits for spans to be sent."""

Kind = Literal["internal", "server", "client"]
Attributes = dict[str, str | int]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Place:
    """Where in a trace something happens: beneath the span of `context`."""

    tracer: Tracer
    context: Context


# Our own, since OpenTelemetry's complains where a generator is closed by another task than began it.
_place: ContextVar[_Place | None] = ContextVar("quarry.trace", default=None)


@contextmanager
def span(
    name: str | Callable[[], str],
    attributes: Attributes | None = None,
    *,
    kind: Kind = "internal",
    current: bool = True,
) -> Iterator[Attributes]:
    """A span for as long as the block lasts, where it is within a traced request; what is put into the yielded attributes joins
    `attributes`. Spans that begin in the block are beneath it, unless it is not `current`. Of an error only its type is recorded.
    """
    place = _place.get()
    if place is None:
        yield {}
    else:
        with _begun(place, name if isinstance(name, str) else name(), attributes or {}, kind, current) as more:
            yield more


def untraced() -> Variables:
    """The context for a background task that is no part of a request."""
    variables = copy_context()
    variables.run(_place.set, None)
    return variables


class Tracing:
    """The traces of one process, sent to `endpoint` in batches by a thread of the SDK; None: there are none. OpenTelemetry's own
    variables set the rest. The SDK is imported with the first request.
    """

    def __init__(self, endpoint: str | None) -> None:
        self._endpoint = endpoint

    @property
    def is_on(self) -> bool:
        return self._endpoint is not None

    @contextmanager
    def request(self, name: str, headers: Mapping[str, str]) -> Iterator[Attributes]:
        """As `span`, for a request: beneath its caller's, where `headers` name one."""
        if self._provider is None:
            yield {}
            return
        from opentelemetry import propagate

        place = _Place(self._provider.get_tracer(SERVICE, __version__), propagate.extract(headers))
        with _begun(place, name, {}, "server", current=True) as more:
            yield more

    async def flush(self) -> None:
        """Send what waits. A Lambda is frozen once it has answered."""
        if provider := self._provider_made:
            await _in_time(provider.force_flush)

    async def close(self) -> None:
        """Send what waits, and end."""
        if provider := self._provider_made:
            await _in_time(provider.shutdown)

    @property
    def _provider_made(self) -> TracerProvider | None:
        provider: TracerProvider | None = self.__dict__.get("_provider")
        return provider

    @cached_property
    def _provider(self) -> TracerProvider | None:
        if self._endpoint is None:
            return None
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            logger.warning("traces are asked for and not sent: pip install 'quarry-search[otel]'")
            return None
        ours = Resource({"service.name": SERVICE, "service.version": __version__})
        resource = Resource.create().merge(ours).merge(OTELResourceDetector().detect())
        # not OpenTelemetry's global one: what other packages trace may quote what was asked
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(self._endpoint)))
        return provider


@contextmanager
def _begun(place: _Place, name: str, attributes: Attributes, kind: Kind, current: bool) -> Iterator[Attributes]:
    from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context

    begun = place.tracer.start_span(name, place.context, SpanKind[kind.upper()], attributes)
    before = _place.get()
    if current:
        _place.set(_Place(place.tracer, set_span_in_context(begun, place.context)))
    more: Attributes = {}
    try:
        yield more
    except Exception as error:
        begun.set_attribute("error.type", type(error).__name__)
        begun.set_status(StatusCode.ERROR)
        raise
    finally:
        if current:
            _place.set(before)
        begun.set_attributes(more)
        begun.end()


async def _in_time(work: Callable[[], object]) -> None:
    """Do blocking work, and wait for it FLUSH_SECONDS at most. Its thread holds up no end of the process."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        work()
        with suppress(RuntimeError):  # the loop may be closed by then
            loop.call_soon_threadsafe(done.set)

    Thread(target=run, daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(FLUSH_SECONDS):
            await done.wait()
