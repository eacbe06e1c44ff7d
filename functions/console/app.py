"""The Lambda function `console`: what the page needs to know before anybody has signed in."""

from quarry.api import console
from quarry.core.web.lambda_app import ExecutionEnvironment

environment = ExecutionEnvironment()
handler = environment.serve(console.ROUTERS)
