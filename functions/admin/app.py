"""The Lambda function `admin`, which only IAM admits to: runs one of the commands of `quarry`, and streams its output."""

from collections.abc import Mapping
from typing import Any

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry import api  # noqa: F401 -- brings FastAPI, with models that are built on first use
from quarry.local.administration import administer
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext
from quarry.web.streamed_response import StreamedResponse

environment = ExecutionEnvironment()


def handler(event: Mapping[str, Any], context: LambdaContext) -> StreamedResponse:
    return administer(environment, event, context)
