"""The Lambda function `migrate`, a step of each deployment, and invoked by hand: brings the database's schema up to date, and the
users that serve and load in step with their secrets.
"""

import logging
import time

import quarry.core.cold_start  # noqa: F401 -- before all else of ours
from quarry.core.custom_resource import is_request, respond
from quarry.core.errors import DatabaseUnavailable
from quarry.core.postgres.logins import make_logins, read_logins
from quarry.core.postgres.migrate import DatabaseIsNewer, migrate
from quarry.core.services import read_database_url
from quarry.core.web.lambda_app import ExecutionEnvironment, LambdaContext

ATTEMPTS = 6
PAUSE_SECONDS = 10.0
"""A paused cluster takes about 15 seconds to wake, and a table may be in use."""

logger = logging.getLogger("quarry.migrate")

environment = ExecutionEnvironment()


def handler(event: dict[str, object], context: LambdaContext) -> dict[str, list[str]]:
    """Names of the migrations applied and the functions created anew; none of either when it was up to date.

    Raises as `migrate` does. A migration that fails, or that time ends, has changed nothing. Where CloudFormation asks, it is
    told of the failure instead, and goes back.
    """
    if is_request(event):
        respond(event, _migrate_for_release)
        return {}
    return _migrate()


def _migrate_for_release() -> None:
    """Migrate, with patience. On a newer database an older release, to which a deployment goes back, runs as it is."""
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            _migrate()
        except DatabaseIsNewer as error:
            logger.warning("%s", error.message)
        except DatabaseUnavailable:
            if not attempts_left:
                raise
            time.sleep(PAUSE_SECONDS)
            continue
        return


def _migrate() -> dict[str, list[str]]:
    settings = environment.settings
    url, schema = read_database_url(settings), settings.database_schema
    done = migrate(url, embedding_dimensions=settings.embedding_dimensions, schema=schema)
    logger.info("applied %s, created anew %s functions", done.migrations, len(done.functions))
    if settings.logins:
        make_logins(url, read_logins(settings.logins), schema=schema)
    return {"migrations": list(done.migrations), "functions": list(done.functions)}
