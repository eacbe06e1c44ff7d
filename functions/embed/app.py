"""The Lambda function `embed`, run on a schedule: reads changed rows of collections, then embeds the rows whose vectors are
missing or older than their text.
"""

import datetime
import logging
from collections.abc import Sequence

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry import catalog
from quarry.collections.upkeep import embedded_tables, keep_in_step, read_collections
from quarry.platform.tables import EmbeddedTable
from quarry.platform.telemetry import EMBEDDING_BACKLOG, EMBEDDING_BACKLOG_AGE
from quarry.postgres.embed import embed_tables
from quarry.postgres.embedding_queue import read_backlog
from quarry.services.services import Services
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext

REFUSALS_MAX = 5
"""A text that the model has refused this often is skipped until it changes; `quarry embed` still tries it."""

logger = logging.getLogger("quarry.embed")

environment = ExecutionEnvironment()


def handler(event: object, context: LambdaContext) -> dict[str, dict[str, int]]:
    """Returns how many rows of each table were embedded and refused. Work that does not fit into the invocation's time is left
    to the next run. Metrics report the backlog and its age, even if the run fails.

    Raises ModelUnavailable if the model is down, ConfigurationError if another model filled the database.
    """
    with environment.invocation(context) as services:
        settings = services.settings
        # a step may take two model calls, and one statement to store the results
        reserve_ms = (2 * settings.model_timeout_seconds + settings.database_timeout_seconds + 1) * 1000

        def keep_going() -> bool:
            return context.get_remaining_time_in_millis() > reserve_ms

        environment.run(services.database.wake())
        collections = environment.run(read_collections(services.database)).values()
        tables = [*catalog.EMBEDDED.values(), *embedded_tables(collections)]
        try:
            environment.run(keep_in_step(services.database, collections, keep_going=keep_going))
            done = environment.run(
                embed_tables(
                    services.database, services.embeddings, tables, refusals_max=REFUSALS_MAX, keep_going=keep_going
                )
            )
        finally:
            _measure_backlog(services, tables)
        counts = {name: {"embedded": table.rows, "refused": len(table.failed)} for name, table in done.items()}
        logger.info("embedded %s", counts)
        return counts


def _measure_backlog(services: Services, tables: Sequence[EmbeddedTable]) -> None:
    backlog = environment.run(read_backlog(services.database, tables, refusals_max=REFUSALS_MAX)).values()
    since = min((table.since for table in backlog if table.since), default=None)
    services.metrics.count(EMBEDDING_BACKLOG, sum(table.rows for table in backlog))
    services.metrics.count(
        EMBEDDING_BACKLOG_AGE, (datetime.datetime.now(datetime.UTC) - since).total_seconds() if since else 0.0
    )
