"""A phrase in quotes that nothing holds empties no list of what is searched for; of campaigns it is asked who says it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from quarry.companies.contract import ChatMessage, ChatRequest, FinalAnswerEvent
from quarry.companies.search import search_companies
from quarry.ontology.contract import OntologySearchRequest
from quarry.ontology.search import search_ontology
from quarry.people.contract import PeopleSearchRequest
from quarry.people.search import search_people
from quarry.records.contract import SearchRequest
from quarry.records.search import search_records
from quarry.services.services import Caller, Services

USER = Caller("demo")


async def _companies(text: str, services: Services) -> int:
    request = ChatRequest(messages=[ChatMessage(role="user", content=text)])
    *_, answer = [event async for event in search_companies(request, USER, services)]
    assert isinstance(answer, FinalAnswerEvent)
    return len(answer.data.references)


async def _people(text: str, services: Services) -> int:
    return len((await search_people(PeopleSearchRequest(query=text), USER, services)).people)


async def _records(text: str, services: Services) -> int:
    return len((await search_records(SearchRequest(q=text), USER, services)).results)


async def _projects(text: str, services: Services) -> int:
    return len((await search_ontology(OntologySearchRequest(query=text), USER, services)).results)


@pytest.mark.parametrize(
    ("search", "query"),
    [
        (_companies, '"robots farming weeds" drones'),
        (_people, '"engineer backend python" data'),
        (_records, '"budget water park" street'),
        (_projects, '"oven kitchen budget" bakery'),
    ],
)
async def test_a_phrase_that_nothing_holds_empties_no_list(
    sample_services: Services, search: Callable[[str, Services], Awaitable[int]], query: str
) -> None:
    assert await search(query, sample_services)
