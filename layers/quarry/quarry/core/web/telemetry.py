"""What a Lambda function tells of itself: its log as JSON lines, and metrics that CloudWatch reads from the log."""

from __future__ import annotations

import logging
from typing import Any, cast

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from mangum.types import LambdaContext

from quarry.core.settings import Settings

NAMESPACE = "Quarry"
SERVICE = "quarry"  # also the parent of all our loggers, being the package's name
TIME_TO_FIRST_EVENT = "TimeToFirstEvent"
EMBEDDING_BACKLOG = "EmbeddingBacklog"
EMBEDDING_BACKLOG_AGE = "EmbeddingBacklogAge"


def configure_logging(settings: Settings) -> Logger | None:
    """Have our modules log as JSON lines; the logger that they all log to. None in a test, which sets logging up itself.

    Other packages log as the runtime has it, from warnings on.
    """
    under_the_runtime = any(hasattr(handler, "log_sink") for handler in logging.getLogger().handlers)
    return Logger(service=SERVICE, level=settings.log_level, utc=True) if under_the_runtime else None


class Telemetry:
    """The log and the metrics of one process. Metrics have the dimensions `function_name` and `service`."""

    def __init__(self, settings: Settings) -> None:
        self._function = settings.aws_lambda_function_name or SERVICE
        self._metrics = Metrics(namespace=NAMESPACE, service=SERVICE, function_name=self._function)
        self._invoked = False
        self._logger = configure_logging(settings)

    def begin(self, context: LambdaContext) -> None:
        """Count a cold start, and name this invocation in each line of the log from now on."""
        cold_start, self._invoked = not self._invoked, True
        if self._logger is not None:
            self._logger.append_keys(
                function_name=self._function, function_request_id=context.aws_request_id, cold_start=cold_start
            )
        if cold_start:
            self._metrics.provider.add_cold_start_metric(cast("Any", context))

    def first_event_after(self, seconds: float) -> None:
        """Count how long a stream's reader waited for its first event."""
        self._metrics.add_dimension("function_name", self._function)
        self._metrics.add_metric(TIME_TO_FIRST_EVENT, MetricUnit.Milliseconds, seconds * 1000)

    def embedding_backlog(self, rows: int, seconds: float) -> None:
        """Count the rows that wait to be embedded, and for how long at most."""
        self._metrics.add_dimension("function_name", self._function)
        self._metrics.add_metric(EMBEDDING_BACKLOG, MetricUnit.Count, rows)
        self._metrics.add_metric(EMBEDDING_BACKLOG_AGE, MetricUnit.Seconds, seconds)

    def flush(self) -> None:
        """Write what was counted to the log."""
        if self._metrics.metric_set:
            self._metrics.flush_metrics()
