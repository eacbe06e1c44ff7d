"""The Lambda function `console`: what the page needs to know before anybody has signed in."""

from quarry import api
from quarry.core.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(api.CONSOLE_ROUTERS, documented=api.ALL_ROUTERS)
