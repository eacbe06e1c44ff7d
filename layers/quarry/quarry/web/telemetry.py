"""The log of a Lambda function as JSON lines, and metrics that CloudWatch reads from it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from mangum.types import LambdaContext

from quarry.platform.settings import Settings
from quarry.platform.telemetry import BY_VERSION, Counts, Metric

NAMESPACE = "Quarry"
SERVICE = "quarry"  # the name of the package, so the parent of all our loggers

logger = logging.getLogger(__name__)


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
        found = configure_logging(settings)
        self._name_invocation = found.inject_lambda_context(_nothing) if found is not None else _nothing

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
