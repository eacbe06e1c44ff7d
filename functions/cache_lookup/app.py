"""The Lambda function `cache_lookup`: finished answers by their id, for whoever holds the link. It never calls a model."""

from quarry import api
from quarry.core.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(api.CACHE_LOOKUP_ROUTERS, documented=api.ALL_ROUTERS)
