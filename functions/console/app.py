"""The Lambda function `console`: what the page needs before sign-in."""

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.api.routers import CONSOLE
from quarry.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(tuple(CONSOLE))
