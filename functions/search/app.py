"""The Lambda function `search`: every search and the whole records, for signed-in users; health and OpenAPI, for all."""

from quarry.api import everything, search
from quarry.core.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.stream(search.ROUTERS, documented=everything.ROUTERS)
