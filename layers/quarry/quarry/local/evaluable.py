"""The domains that `quarry eval` can evaluate: how each is asked, and what it found by the names that a judgement uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from quarry.core.services import Caller, Services
from quarry.local.judged import JudgedQuery

EVALUATING_USER = "eval"
"""Who asks: nobody else is charged, limited or found in the run log."""


@dataclass(frozen=True)
class Found:
    """What a search found: keys, best first. `degraded` names the steps that less than was asked for served."""

    keys: Sequence[str]
    degraded: Sequence[str] = ()


@dataclass(frozen=True)
class Evaluable:
    """How a domain answers a judged query. `prepare` runs once before the first, to give the caller what a search takes."""

    find: Callable[[JudgedQuery, Caller, Services], Awaitable[Found]]
    prepare: Callable[[Caller, Services], Awaitable[None]] | None = None


def _companies() -> Evaluable:
    from quarry.companies.contract import ChatRequest, FinalAnswerEvent
    from quarry.companies.search import search_companies

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Found:
        messages: list[dict[str, str]] = []
        found: list[str] = []
        degraded: list[str] = []
        for question in (*query.earlier, query.query):
            messages.append({"role": "user", "content": question})
            request = ChatRequest.model_validate(
                {"messages": messages, "clientContext": {"previousCandidateIds": found}}
            )
            events = [event async for event in search_companies(request, caller, services)]
            [answer] = [event.data for event in events if isinstance(event, FinalAnswerEvent)]
            messages.append({"role": "assistant", "content": answer.content})
            found = [reference.company_id for reference in answer.references]
            degraded += answer.telemetry.degraded_steps
        return Found(found, list(dict.fromkeys(degraded)))

    return Evaluable(find)


def _records() -> Evaluable:
    from quarry.records.contract import SearchRequest
    from quarry.records.search import search_records

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Found:
        response = await search_records(SearchRequest(q=query.query), caller, services)
        return Found([f"{result.type}:{result.id}" for result in response.results], response.degraded)

    return Evaluable(find)


EVALUABLE: dict[str, Callable[[], Evaluable]] = {"companies": _companies, "records": _records}
"""Each imports its domain when it is called."""
