"""The domains that `quarry eval` can evaluate: how each is asked, and what it found by the names that a judgement uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from quarry.core.services import LOCAL_USER, Caller, Services
from quarry.local.judged import JudgedQuery

EVALUATING_USER = "eval"
"""Who asks: nobody else is charged, limited or found in the run log."""

EVALUATING_CREDITS = 1000
"""What the searches of one evaluation may cost."""


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


def _campaigns() -> Evaluable:
    from quarry.campaigns.contract import ChatRequest, FinalAnswerEvent, HistoryMessage
    from quarry.campaigns.search import chat_about_campaigns

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Found:
        history = [HistoryMessage(role="user", content=question) for question in query.earlier]
        events = chat_about_campaigns(ChatRequest(message=query.query, history=history), caller, services)
        [answer] = [event.data async for event in events if isinstance(event, FinalAnswerEvent)]
        return Found([campaign.id for campaign in answer.campaigns], answer.telemetry.degraded_steps)

    return Evaluable(find)


def _ontology() -> Evaluable:
    from quarry.ontology.contract import OntologySearchRequest
    from quarry.ontology.search import search_ontology

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Found:
        # a workspace is somebody's: the judgement says whose
        owner = str((query.model_extra or {}).get("user", LOCAL_USER))
        response = await search_ontology(OntologySearchRequest(query=query.query), Caller(owner), services)
        return Found([f"{result.type}:{result.id}" for result in response.results])

    return Evaluable(find)


def _people() -> Evaluable:
    from quarry.people.contract import PeopleSearchRequest
    from quarry.people.credits import grant
    from quarry.people.search import search_people

    async def prepare(caller: Caller, services: Services) -> None:
        await grant(services.database, services.settings, caller.user_id, EVALUATING_CREDITS)

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Found:
        response = await search_people(PeopleSearchRequest(query=query.query), caller, services)
        return Found([person.id for person in response.people], response.degraded)

    return Evaluable(find, prepare)


EVALUABLE: dict[str, Callable[[], Evaluable]] = {
    "campaigns": _campaigns,
    "companies": _companies,
    "ontology": _ontology,
    "people": _people,
    "records": _records,
}
"""Each imports its domain when it is called."""
