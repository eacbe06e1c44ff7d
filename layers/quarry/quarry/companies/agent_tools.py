"""Companies for other people's agents."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from quarry.companies.contract import ChatRequest, Company, FinalAnswer, FinalAnswerEvent, Reference
from quarry.companies.search import search_companies
from quarry.core.agent_tools import RESULTS_MAX, TEXT_CHARACTERS_MAX, AgentTool
from quarry.core.contract import Request
from quarry.core.services import Caller, Services
from quarry.core.text import QueryText, shorten

_SHOWN = ("tagline", "status", "website_url", "hq_city", "hq_country", "founded_year", "funding_stage", "sectors")


class SearchCompaniesArguments(Request):
    """Arguments of `search_companies`."""

    question: QueryText = Field(
        description="The companies wanted, in plain words: what they make, for whom, where, of which status, how many, or "
        "like which other company."
    )
    limit: int = Field(default=8, ge=1, le=RESULTS_MAX, description="How many to give at most.")


async def _search(arguments: SearchCompaniesArguments, caller: Caller, services: Services) -> dict[str, Any]:
    request = ChatRequest.model_validate({"messages": [{"role": "user", "content": arguments.question}]})
    events = search_companies(request, caller, services)
    answer: FinalAnswer = [event.data async for event in events if isinstance(event, FinalAnswerEvent)][-1]
    shown = answer.references[: arguments.limit]
    return {
        "summary": answer.content,
        "total": answer.aggregation.total if answer.aggregation else len(answer.references),
        "companies": [_short(reference, answer.companies_by_id[reference.company_id]) for reference in shown],
        "end_reason": answer.telemetry.end_reason,
    } | ({"aggregation": answer.aggregation.model_dump(mode="json")} if answer.aggregation else {})


def _short(reference: Reference, company: Company) -> dict[str, Any]:
    fields = company.model_dump(mode="json", include=set(_SHOWN), exclude_none=True)
    return {
        "id": reference.company_id,
        "name": reference.company_name,
        "reason": reference.reason,
        "evidence": reference.evidence_chips,
        "confidence": reference.confidence,
        "description": shorten(company.description or "", TEXT_CHARACTERS_MAX),
    } | fields


AGENT_TOOLS = (
    AgentTool(
        "search_companies",
        "Search startup companies",
        "Find startup companies by a question in plain words, or by an exact name. Runs a whole search with ranking, and gives "
        "a summary and the companies, best first, each with the reason why it fits and how sure that is. How many there are, "
        "their groups, the newest and the largest are counted over all of them, exactly.",
        SearchCompaniesArguments,
        _search,
        route_class="model",
    ),
)
