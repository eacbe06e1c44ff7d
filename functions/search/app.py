"""The Lambda function `search`: every search and the full records, for signed-in users; health and OpenAPI, for everybody."""

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.api import everything, search
from quarry.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment(search.import_the_rest)
handler = environment.stream(search.ROUTERS, documented=everything.ROUTERS, routers_at=search.routers_at)
