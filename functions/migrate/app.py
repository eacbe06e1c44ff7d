"""The Lambda function `migrate`, a step of each deployment that can also be invoked by hand: brings the database's schema up to
date, and sets the passwords of the users that serve and load to those in their secrets.
"""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import Request, urlopen

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry.platform.errors import QuarryError, Unavailable
from quarry.postgres.migrate import DatabaseIsNewer, make_logins, migrate, read_logins
from quarry.postgres.tenants import migrate_tenants
from quarry.services.services import read_database_url
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext

PAUSE_SECONDS = 10.0
RESERVE_SECONDS = 600.0
"""Time kept in reserve for migrating. Until then, temporary faults are retried: a secret that the new role cannot read yet, a
network that is not ready, a paused cluster, a table in use.
"""

RELEASE = "QUARRY_RELEASE"
"""The property that names the release: CloudFormation sends a request only if a property changes."""

LOGINS = "Logins"
"""The property that names the database logins: a change needs work even if the release is the same."""

ANSWER_SECONDS = 30.0
REASON_MAX = 1000

logger = logging.getLogger("quarry.migrate")
deployment_logger = logging.getLogger("quarry.deployment")

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


def is_request(event: object) -> bool:
    """Whether CloudFormation sent the event, rather than a person."""
    return isinstance(event, dict) and "ResponseURL" in event


def respond(event: Mapping[str, Any], work: Callable[[], object]) -> None:
    """Do the work of a custom resource if it is created or updated, and report the result to CloudFormation in any case. The
    physical id names the release and the logins of the last run, so that a rollback does not repeat the work.

    Raises OSError if the report cannot be sent.
    """
    id, failure = event.get("PhysicalResourceId", "none"), ""
    if event["RequestType"] != "Delete" and id != (next_id := _id(event["ResourceProperties"])):
        try:
            work()
            id = next_id
        except Exception as error:  # without a report CloudFormation would wait
            deployment_logger.exception("the deployment's work failed")
            failure = error.message if isinstance(error, QuarryError) else type(error).__name__
    answer = {
        "Status": "FAILED" if failure else "SUCCESS",
        "Reason": failure[:REASON_MAX],
        "PhysicalResourceId": id,
        **{key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")},
    }
    # the address is CloudFormation's, signed for a body without a type
    request = Request(  # noqa: S310
        event["ResponseURL"], json.dumps(answer).encode(), headers={"Content-Type": ""}, method="PUT"
    )
    with urlopen(request, timeout=ANSWER_SECONDS):  # noqa: S310
        pass


def _id(properties: Mapping[str, str]) -> str:
    logins = properties.get(LOGINS)
    # by hash: those of secrets are long
    return properties[RELEASE] + (f"-{hashlib.sha256(logins.encode()).hexdigest()[:8]}" if logins else "")
