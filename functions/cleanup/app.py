"""The Lambda function `cleanup`, run on a schedule: deletes expired rows, and recounts values and words."""

import logging
import random

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry import catalog
from quarry.collections.upkeep import read_collections
from quarry.retrieval.values import refresh
from quarry.runs.run_log import delete_expired
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext

REFRESH_SECONDS = 60.0
"""Time limit for counting the values or words of a table; `quarry cleanup` counts larger tables."""

logger = logging.getLogger("quarry.cleanup")

environment = ExecutionEnvironment()


def handler(event: object, context: LambdaContext) -> dict[str, int]:
    """Returns how many rows of each kind were deleted. Work that does not fit into the invocation's time is left to the next
    run. If a table cannot be counted, the invocation fails after counting all others.
    """
    with environment.invocation(context) as services:
        # a batch may take as long as the statement timeout
        reserve_ms = (services.settings.database_timeout_seconds + 1) * 1000
        environment.run(services.database.wake())
        deleted = environment.run(
            delete_expired(
                services.database,
                catalog.EXPIRING,
                run_log_days=services.settings.run_log_days,
                keep_going=lambda: context.get_remaining_time_in_millis() > reserve_ms,
            )
        )
        logger.info("deleted %s", deleted)
        rows = [each.rows for each in environment.run(read_collections(services.database)).values()]
        work = catalog.counted(rows)
        # in another order each day, so that it is not always the same tables that time runs out for
        random.shuffle(work)
        counted = environment.run(
            refresh(
                services.database,
                work,
                timeout_seconds=REFRESH_SECONDS,
                keep_going=lambda: context.get_remaining_time_in_millis() > (REFRESH_SECONDS + 1) * 1000,
            )
        )
        logger.info("counted %s", {str(each): count for each, count in counted.items()})
        return deleted
