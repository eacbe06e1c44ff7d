"""The Lambda function `search`: every search and the whole records, for signed-in users; health and OpenAPI, for all."""

from quarry import api
from quarry.core.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.stream(api.SEARCH_ROUTERS, documented=api.ALL_ROUTERS)
