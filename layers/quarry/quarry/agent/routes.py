"""HTTP for queries over every source. The code that answers is imported with the first request."""

from __future__ import annotations

from fastapi import APIRouter

from quarry.query.contract import Explanation, ExplanationRequest, QueryResult
from quarry.schema.algebra import Query
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["query"])


@router.post("/query", response_model_exclude_defaults=True)
async def query(body: Query, caller: PlainCaller, services: ServicesDependency) -> QueryResult:
    """The exact result of one Query: rows, numbers or groups of any source, under the caller's own rights."""
    from quarry.agent.service import run_query

    return await run_query(body, caller, services)


@router.post("/query/explain", response_model_exclude_none=True)
async def explain(body: ExplanationRequest, caller: PlainCaller, services: ServicesDependency) -> Explanation:
    """How a question is read without a chat model: what its words may mean, the likeliest queries, and the unread words."""
    from quarry.agent.reading import explain as explained

    return await explained(body, caller, services)
