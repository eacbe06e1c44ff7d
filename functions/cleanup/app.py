"""The Lambda function `cleanup`, run on a schedule: deletes expired rows, and recounts values and words."""

import logging
import random
from collections import Counter
from collections.abc import Callable

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry import catalog
from quarry.collections.apply import read_collections
from quarry.platform.errors import QuarryError
from quarry.retrieval.values import refresh
from quarry.runs.run_log import delete_expired
from quarry.services.services import Services
from quarry.services.tenants import everyone
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext, in_turns

REFRESH_SECONDS = 60.0
"""Time limit for counting the values or words of a table; `quarry cleanup` counts larger tables."""

logger = logging.getLogger("quarry.cleanup")

environment = ExecutionEnvironment()


def handler(event: object, context: LambdaContext) -> dict[str, int]:
    """Returns how many rows of each kind were deleted. Work that does not fit into the invocation's time is left to the next
    run; tenants have equal shares of the time. If a table cannot be counted, or a tenant cleaned up, the invocation fails after
    all others.
    """
    with environment.invocation(context) as services:
        # a batch may take as long as the statement timeout
        reserve_ms = (services.settings.database_timeout_seconds + 1) * 1000
        environment.run(services.database.wake())
        tenants = environment.run(everyone(services))
        deleted, faults = Counter[str](), list[QuarryError]()
        for each, keep_going in in_turns(tenants, context, reserve_ms):
            try:
                deleted.update(environment.run(_delete(each, keep_going)))
            except QuarryError as error:
                faults.append(error)
        logger.info("deleted %s", dict(deleted))
        for each, keep_going in in_turns(tenants, context, (REFRESH_SECONDS + 1) * 1000):
            try:
                environment.run(_count(each, keep_going))
            except QuarryError as error:
                faults.append(error)
        if faults:
            raise faults[0]
        return dict(deleted)


async def _delete(services: Services, keep_going: Callable[[], bool]) -> dict[str, int]:
    days = services.settings.run_log_days
    return await delete_expired(services.database, catalog.EXPIRING, run_log_days=days, keep_going=keep_going)


async def _count(services: Services, keep_going: Callable[[], bool]) -> None:
    rows = [each.rows for each in (await read_collections(services.database)).values()]
    work = catalog.counted(rows)
    # in another order each day, so that it is not always the same tables that time runs out for
    random.shuffle(work)
    counted = await refresh(services.database, work, timeout_seconds=REFRESH_SECONDS, keep_going=keep_going)
    logger.info("counted %s", {str(each): count for each, count in counted.items()})
