"""The Lambda function `cache_lookup`: finished answers by their id, for whoever holds the link. It never calls a model."""

from quarry import catalog
from quarry.core.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(catalog.CACHE_LOOKUP_ROUTERS, documented=catalog.ALL_ROUTERS)
