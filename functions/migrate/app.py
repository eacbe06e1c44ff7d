"""The Lambda function `migrate`, invoked by hand after a deployment: brings the database's schema up to date."""

import logging

from quarry.core.postgres.migrate import migrate
from quarry.core.services import read_database_url
from quarry.core.web.lambda_app import ExecutionEnvironment, LambdaContext

logger = logging.getLogger("quarry.migrate")

environment = ExecutionEnvironment()


def handler(event: object, context: LambdaContext) -> dict[str, list[str]]:
    """Names of the migrations applied and the functions created anew; none of either when it was up to date.

    Raises as `migrate` does. A migration that fails, or that time ends, has changed nothing.
    """
    settings = environment.settings
    done = migrate(
        read_database_url(settings),
        embedding_dimensions=settings.embedding_dimensions,
        schema=settings.database_schema,
    )
    logger.info("applied %s, created anew %s functions", done.migrations, len(done.functions))
    return {"migrations": list(done.migrations), "functions": list(done.functions)}
