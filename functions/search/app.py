"""The Lambda function `search`: every search and the whole records, for signed-in users; health and OpenAPI, for all."""

from quarry import catalog
from quarry.core.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(catalog.SEARCH_ROUTERS, documented=catalog.ALL_ROUTERS)
