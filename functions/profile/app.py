"""The Lambda function `profile`: shows people, one by one or in a list. It never calls a model."""

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.api.routers import PROFILE
from quarry.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(tuple(PROFILE))
