"""What agents are offered of every source alike."""

from __future__ import annotations

from typing import Any

from quarry.agent.service import run_query
from quarry.core.agent_tools import AgentTool
from quarry.core.services import Caller, Services
from quarry.query.algebra import Query
from quarry.query.contract import QueryResult


async def _query(query: Query, caller: Caller, services: Services) -> dict[str, Any]:
    return (await run_query(query, caller, services)).model_dump(mode="json", by_alias=True, exclude_defaults=True)


AGENT_TOOLS = (
    AgentTool(
        "query",
        "Query",
        "The exact answer to one Query about a source: its rows, numbers or groups, and a sentence that says them. The resource "
        "`quarry://collections` describes sources and fields. A field may follow references (`agent.team.name`) or count "
        "related rows (`count(orders)`). An unknown source, field or value is answered with the nearest that exist.",
        Query,
        QueryResult,
        _query,
    ),
)
