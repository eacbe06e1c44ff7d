"""The Lambda function `unlock`: contact details for a credit, and the number of credits left. It never calls a model."""

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.api.routers import UNLOCK
from quarry.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(tuple(UNLOCK))
