"""The Lambda function `search`: every search and the full records, for signed-in users; health and OpenAPI, for everybody."""

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.api.routers import EVERYTHING, SEARCH, import_the_rest, routers_at
from quarry.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment(import_the_rest)
handler = environment.stream(SEARCH, documented=EVERYTHING, routers_at=routers_at)
