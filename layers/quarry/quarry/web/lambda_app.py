"""Lambda: the application behind API Gateway's proxy integration.

An execution environment is one process with one event loop. It builds its services at the first invocation, so that a snapshot
contains neither connections nor secrets.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from mangum.types import LambdaContext as _MangumContext
from snapshot_restore_py import register_after_restore, register_before_snapshot

from quarry.platform import cold_start
from quarry.platform.settings import Settings
from quarry.platform.telemetry import BY_VERSION, Counts, Metric
from quarry.services.services import Services, build_services, import_what_services_use

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI
    from mangum import Mangum

    from quarry.web.streamed_response import StreamedResponse

logger = logging.getLogger(__name__)

NAMESPACE = "Quarry"
SERVICE = "quarry"  # the name of the package, so the parent of all our loggers


def configure_logging(settings: Settings) -> Logger | None:
    """Make our modules log JSON lines; return their parent logger. None in a test, which configures logging itself.

    Other packages log warnings and worse, in the runtime's format.
    """
    under_the_runtime = any(hasattr(handler, "log_sink") for handler in logging.getLogger().handlers)
    return Logger(service=SERVICE, level=settings.log_level, utc=True) if under_the_runtime else None


def _nothing(event: dict[str, Any], context: LambdaContext) -> None:
    """Something for Powertools' logger to wrap. It cannot wrap a handler: a stream continues after its handler has returned."""


class Telemetry:
    """The log and the metrics of one process. Metrics have the dimensions `function_name` and `service`, those counted by
    domain also `domain`, and those that a release is judged by also `function_version`.
    """

    def __init__(self, settings: Settings) -> None:
        self._function = settings.aws_lambda_function_name or SERVICE
        self._version = settings.aws_lambda_function_version
        self._invoked = False
        log = configure_logging(settings)
        self._name_invocation = log.inject_lambda_context(_nothing) if log is not None else _nothing

    def begin(self, context: LambdaContext) -> None:
        """Count a cold start, and add this invocation to each log line from now on."""
        self._name_invocation({}, context)
        cold_start, self._invoked = not self._invoked, True
        if cold_start:
            self._line().add_cold_start_metric(cast("Any", context))

    def write(self, counts: Counts) -> None:
        """Write the counts to the log: one line for the function, one for each domain, one for the version."""
        try:
            for domain, values in counts.items():
                self._write(values, {"domain": domain} if domain else {})
            # with zeros: a share needs its numerator
            if self._version and (values := counts.get(None, {})).keys() & set(BY_VERSION):
                self._write({each: values.get(each, [0]) for each in BY_VERSION}, {"function_version": self._version})
        except Exception:
            # the answer was sent: a failure to count it must not fail the invocation
            logger.exception("metrics are not written")

    def _write(self, values: Mapping[Metric, Sequence[float]], dimensions: Mapping[str, str]) -> None:
        line = self._line()
        for name, text in {"function_name": self._function, **dimensions}.items():
            line.add_dimension(name, text)
        for metric, each in values.items():
            for value in each:
                line.add_metric(metric.name, metric.unit, value)
        line.flush_metrics()

    def _line(self) -> EphemeralMetrics:
        return EphemeralMetrics(namespace=NAMESPACE, service=SERVICE, function_name=self._function)


Result = TypeVar("Result")
Work = TypeVar("Work")

# All our answers are text; other media types would reach the client as base64.
TEXT_MEDIA_TYPES = ["text/", "image/svg+xml", "application/json", "application/problem+json", "application/x-ndjson"]


APPLICATIONS_MAX = 12
"""How many sets of routers, one for each kind of path, a process serves at once."""


class HashableRouters(Hashable, Iterable["APIRouter"], Protocol):
    """Routers that are equal where they are the same."""


class LambdaContext(_MangumContext, Protocol):
    """Lambda's information about an invocation."""

    def get_remaining_time_in_millis(self) -> int: ...


HttpHandler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]
StreamHandler = Callable[[dict[str, Any], LambdaContext], "dict[str, Any] | StreamedResponse"]


def in_turns(
    work: Sequence[Work], context: LambdaContext, reserve_ms: float
) -> Iterator[tuple[Work, Callable[[], bool]]]:
    """Each piece of work, with whether its turn goes on. All that are left share the time evenly, but for a reserve."""
    for place, each in enumerate(work):
        left_ms = context.get_remaining_time_in_millis()
        ends_ms = left_ms - (left_ms - reserve_ms) / (len(work) - place)
        yield each, partial(_has_more_than, context, max(ends_ms, reserve_ms))


def _has_more_than(context: LambdaContext, milliseconds: float) -> bool:
    return context.get_remaining_time_in_millis() > milliseconds


class ExecutionEnvironment:
    """One process of a Lambda function. Only functions that serve HTTP import the web framework."""

    def __init__(self, import_the_rest: Callable[[], None] = lambda: None) -> None:
        """`import_the_rest` imports what a request would import, for a snapshot or for provisioned concurrency."""

        def import_all() -> None:
            import_the_rest()
            import_what_services_use(self.settings)
            cold_start.end()

        register_before_snapshot(import_all)
        register_after_restore(self._reset)
        if cold_start.is_ahead_of_requests():
            import_all()
        cold_start.end()

    @cached_property
    def settings(self) -> Settings:
        """Raises ConfigurationError for invalid settings; then every invocation fails."""
        settings = Settings.from_environment()
        configure_logging(settings)
        return settings

    @cached_property
    def telemetry(self) -> Telemetry:
        return Telemetry(self.settings)

    @cached_property
    def services(self) -> Services:
        """Raises ConfigurationError as `settings` does."""
        return build_services(self.settings)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work` on the event loop of this process."""
        return self._loop.run_until_complete(work)

    @contextmanager
    def invocation(self, context: LambdaContext) -> Iterator[Services]:
        """One invocation, which ends with the block: then its runs and metrics are written."""
        self.telemetry.begin(context)
        services = self.services
        try:
            yield services
        finally:
            # Lambda freezes the process once it has the response
            self.run(self._finish())

    def serve(self, routers: Iterable[APIRouter], documented: Iterable[APIRouter] = ()) -> HttpHandler:
        """A handler of API Gateway's REST proxy events that serves `routers`, with buffered responses."""
        from mangum import Mangum

        from quarry.web.app import create_app

        if not cold_start.is_ahead_of_requests():
            cold_start.go_on()

        @lru_cache(maxsize=1)
        def adapter(services: Services) -> Mangum:
            asyncio.set_event_loop(self._loop)  # where Mangum runs its requests
            app = create_app(services, routers, documented)
            return Mangum(app, lifespan="off", text_mime_types=TEXT_MEDIA_TYPES)

        def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            with self.invocation(context) as services:
                return adapter(services)(event, context)

        return handler

    def stream(
        self,
        routers: Iterable[APIRouter],
        documented: Iterable[APIRouter],
        routers_at: Callable[[str], HashableRouters] | None = None,
    ) -> StreamHandler:
        """As `serve`, with streamed responses, for a function that runs under `lambda_stream`. `routers_at` gives those of
        `routers` that may serve a path: an application of only these serves it.
        """
        from quarry.web.app import create_app
        from quarry.web.streamed_response import respond

        serve_whole = self.serve(routers, documented)

        @lru_cache(maxsize=APPLICATIONS_MAX)
        def application(services: Services, some: HashableRouters | None) -> FastAPI:
            return create_app(services, routers if some is None else some, documented)

        def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any] | StreamedResponse:
            if self.settings.aws_sam_local:
                return serve_whole(event, context)
            began = time.perf_counter()
            self.telemetry.begin(context)
            serving = application(self.services, routers_at(event["path"]) if routers_at else None)
            response = self.run(respond(serving, event, context, began=began))
            return replace(response, body=self._finishing(response.body))

        return handler

    def close(self) -> None:
        """Close everything; the next invocation starts afresh."""
        if "services" in self.__dict__:
            self.run(self.services.close())
        if "_loop" in self.__dict__:
            self._loop.close()
            asyncio.set_event_loop(None)
        self.__dict__.clear()

    def _reset(self) -> None:
        """Reset after a restore: many environments start from the same snapshot."""
        self.close()
        random.seed()

    async def _finishing(self, body: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        """The same body; the invocation ends when it ends or is closed."""
        try:
            async with aclosing(body):
                async for piece in body:
                    yield piece
        finally:
            await self._finish()

    async def _finish(self) -> None:
        cold_start.end()
        await self.services.drain()
        self.telemetry.write(self.services.metrics.take())
        await self.services.tracing.flush()

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.new_event_loop()
