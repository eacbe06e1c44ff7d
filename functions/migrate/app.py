"""The Lambda function `migrate`, a step of each deployment that can also be invoked by hand: brings the database's schema up to
date, and sets the passwords of the users that serve and load to those in their secrets.
"""

import logging
import time

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.platform.custom_resource import is_request, respond
from quarry.platform.errors import Unavailable
from quarry.postgres.migrate import DatabaseIsNewer, make_logins, migrate, read_logins
from quarry.postgres.tenants import migrate_tenants
from quarry.services.services import read_database_url
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext

PAUSE_SECONDS = 10.0
RESERVE_SECONDS = 600.0
"""Time kept in reserve for migrating. Until then, temporary faults are retried: a secret that the new role cannot read yet, a
network that is not ready, a paused cluster, a table in use.
"""

logger = logging.getLogger("quarry.migrate")

environment = ExecutionEnvironment()


def handler(event: dict[str, object], context: LambdaContext) -> dict[str, list[str]]:
    """Returns the names of the migrations applied and the functions recreated; both empty if it was up to date.

    Raises as `migrate` does. A migration that fails or runs out of time changes nothing. For CloudFormation, a failure is
    reported instead of raised, and it rolls back.
    """
    if is_request(event):
        respond(event, lambda: _migrate_for_release(context))
        return {}
    return _migrate()


def _migrate_for_release(context: LambdaContext) -> None:
    """Migrates, with retries. An older release, after a rollback, runs on the newer database unchanged."""
    while True:
        try:
            _migrate()
        except DatabaseIsNewer as error:
            logger.warning("%s", error.message)
        except Unavailable as error:
            if context.get_remaining_time_in_millis() < (RESERVE_SECONDS + PAUSE_SECONDS) * 1000:
                raise
            logger.warning("tried again in %s s: %s", PAUSE_SECONDS, error.message)
            time.sleep(PAUSE_SECONDS)
            continue
        return


def _migrate() -> dict[str, list[str]]:
    settings = environment.settings
    url, schema = read_database_url(settings), settings.database_schema
    done = migrate(url, embedding_dimensions=settings.embedding_dimensions, schema=schema)
    logger.info("applied %s, recreated %s functions", done.migrations, len(done.functions))
    for tenant in migrate_tenants(url, own_schema=schema, embedding_dimensions=settings.embedding_dimensions):
        if tenant.problem:  # the others are up to date, and this one is tried again by the next run
            logger.error("the tenant %s was not migrated: %s", tenant.tenant.name, tenant.problem)
    if settings.logins:
        make_logins(url, read_logins(settings.logins), schema=schema)
    return {"migrations": list(done.migrations), "functions": list(done.functions)}
