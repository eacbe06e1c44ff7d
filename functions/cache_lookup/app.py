"""The Lambda function `cache_lookup`: returns finished answers by id to anybody with the link. It never calls a model."""

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.api.routers import CACHE_LOOKUP
from quarry.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(tuple(CACHE_LOOKUP))
