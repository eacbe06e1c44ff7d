"""The Lambda function `embed`, run on a schedule: reads changed rows of collections again, then embeds the rows whose vectors are
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
"""A text that the model has refused this often is left alone until it changes; `quarry embed` tries it all the same."""

logger = logging.getLogger("quarry.embed")

environment = ExecutionEnvironment()


def handler(event: object, context: LambdaContext) -> dict[str, dict[str, int]]:
    """How many rows of each table were embedded and refused. What does not fit into the invocation's time is left to the next.
    Metrics tell what waits still, and for how long at most, also where the run fails.

    Raises ModelUnavailable when the model is down, ConfigurationError when another one filled the database.
    """
    with environment.invocation(context) as services:
        settings = services.settings
        # a step that is begun now may take two calls of the model, and storing what it gave a statement's time
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
