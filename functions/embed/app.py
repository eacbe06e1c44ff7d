"""The Lambda function `embed`, run on a schedule: reads changed rows of collections, then embeds the rows whose vectors are
missing or older than their text.
"""

import datetime
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry import catalog
from quarry.collections.apply import read_collections
from quarry.collections.upkeep import embedded_tables, keep_in_step
from quarry.platform.errors import QuarryError
from quarry.platform.telemetry import EMBEDDING_BACKLOG, EMBEDDING_BACKLOG_AGE
from quarry.postgres.embed import Backlog, embed_tables, read_backlog
from quarry.services.services import Services
from quarry.services.tenants import everyone
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext, in_turns

REFUSALS_MAX = 5
"""A text that the model has refused this often is skipped until it changes; `quarry embed` still tries it."""

logger = logging.getLogger("quarry.embed")

environment = ExecutionEnvironment()


def handler(event: object, context: LambdaContext) -> dict[str, dict[str, int]]:
    """Returns how many rows of each table were embedded and refused. Work that does not fit into the invocation's time is left
    to the next run. Metrics report the backlog and its age, even if the run fails.

    Tenants have equal shares of the time, and a fault of one keeps no other waiting.

    Raises ModelUnavailable if the model is down, ConfigurationError if another model filled the database.
    """
    with environment.invocation(context) as services:
        settings = services.settings
        # a step may take two model calls, and one statement to store the results
        reserve_ms = (2 * settings.model_timeout_seconds + settings.database_timeout_seconds + 1) * 1000
        environment.run(services.database.wake())
        done, backlog, faults = defaultdict[str, Counter[str]](Counter), list[Backlog](), list[QuarryError]()
        for each, keep_going in in_turns(environment.run(everyone(services)), context, reserve_ms):
            try:
                environment.run(_embed(each, keep_going, done, backlog))
            except QuarryError as error:
                faults.append(error)
        _report(services, backlog)
        counts = {name: dict(of_table) for name, of_table in done.items()}
        logger.info("embedded %s", counts)
        if faults:
            raise faults[0]
        return counts


async def _embed(
    services: Services, keep_going: Callable[[], bool], done: dict[str, Counter[str]], backlog: list[Backlog]
) -> None:
    """Work on the tables of one schema, and add to what was done and what is left."""
    database = services.database
    collections = (await read_collections(database)).values()
    tables = [*catalog.EMBEDDED.values(), *embedded_tables(collections)]
    try:
        await keep_in_step(database, collections, rows_max=services.rows_max, keep_going=keep_going)
        embedded = await embed_tables(
            database, services.embeddings, tables, refusals_max=REFUSALS_MAX, keep_going=keep_going
        )
        for name, table in embedded.items():
            done[name].update(embedded=table.rows, refused=len(table.failed))
    finally:
        backlog += (await read_backlog(database, tables, refusals_max=REFUSALS_MAX)).values()


def _report(services: Services, backlog: Sequence[Backlog]) -> None:
    since = min((table.since for table in backlog if table.since), default=None)
    services.metrics.count(EMBEDDING_BACKLOG, sum(table.rows for table in backlog))
    services.metrics.count(
        EMBEDDING_BACKLOG_AGE, (datetime.datetime.now(datetime.UTC) - since).total_seconds() if since else 0.0
    )
