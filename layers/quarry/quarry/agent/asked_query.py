"""What a question asks of a searched table, as the Query that asks the same by `POST /query`."""

from __future__ import annotations

from quarry.agent.sources import what_may_be_asked
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import Query
from quarry.query.of_question import TableQuestion, query_of
from quarry.services.services import Caller, Services


async def query_for(domain: str, name: str, asked: TableQuestion, caller: Caller, services: Services) -> Query | None:
    """The query that asks the same of a domain's source, for this caller; None where no query says it. Raises
    DatabaseUnavailable.
    """
    may_be = await what_may_be_asked(caller, services)
    source = next((may_be.schema.sources[key] for key, home in may_be.homes.items() if home == (domain, name)), None)
    return None if source is None else await off_loop(query_of, asked, source)
