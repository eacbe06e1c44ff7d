"""The domains that `quarry eval` can evaluate: how to query each, and its results under the names used in judgements."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import LiteralString

from psycopg.sql import SQL

from quarry.platform.errors import QuarryError
from quarry.services.services import LOCAL_USER, Caller, Services
from quarry_tools.judged import Facts, JudgedQuery
from quarry_tools.measures import DEEP

EVALUATING_USER = "eval"
"""The user of evaluations, so that nobody else is charged, limited or in the run log."""

EVALUATING_CREDITS = 1000
"""Credits for the searches of one evaluation."""


@dataclass(frozen=True)
class Results:
    """The results of a search: keys, best first. `degraded` names the steps that gave less than requested.

    `answer` is the search's answer in words, None if it has none; `total` counts all matches, if the search counts them.
    `facts` holds the facts of each result's own row. `misses` names the conditions that a result does not meet, if the search
    reports them; a result without an entry misses none. `deeper` are the results of the pages after the first.
    """

    keys: Sequence[str]
    degraded: Sequence[str] = ()
    answer: str | None = None
    total: int | None = None
    facts: Mapping[str, Facts] = field(default_factory=dict)
    misses: Mapping[str, Sequence[str]] | None = None
    deeper: Sequence[str] = ()


Find = Callable[[JudgedQuery, Caller, Services], Awaitable[Results]]
FindDeeper = Callable[[JudgedQuery, Sequence[str], Caller, Services], Awaitable[Sequence[str]]]
Ask = Callable[[JudgedQuery, Caller, Services], Awaitable[str]]
FieldValues = Callable[[str, Services], Awaitable[Collection[str]]]


@dataclass(frozen=True)
class Evaluable:
    """How a domain answers a judged query.

    `prepare` runs once before the first query, to give the caller what a search requires. `find_deeper` reads the pages after
    the keys that `find` returned, up to DEEP results in total. `answer` puts into words what `find` only lists. `values_of`
    returns all values of a field, by its name in judged queries, and raises QuarryError for an unknown field. `results_max`: how
    many results a search shows at most, if few.
    """

    find: Find
    prepare: Callable[[Caller, Services], Awaitable[None]] | None = None
    find_deeper: FindDeeper | None = None
    answer: Ask | None = None
    values_of: FieldValues | None = None
    results_max: int | None = None


def _companies() -> Evaluable:
    from quarry.companies.contract import ChatRequest, Company, FinalAnswer, FinalAnswerEvent
    from quarry.companies.search import search_companies

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Results:
        messages: list[dict[str, str]] = []
        keys: list[str] = []
        degraded: list[str] = []
        answer: FinalAnswer | None = None
        for question in (*query.earlier, query.query):
            messages.append({"role": "user", "content": question})
            request = ChatRequest.model_validate(
                {"messages": messages, "clientContext": {"previousCandidateIds": keys}}
            )
            events = [event async for event in search_companies(request, caller, services)]
            [answer] = [event.data for event in events if isinstance(event, FinalAnswerEvent)]
            messages.append({"role": "assistant", "content": answer.content})
            keys = [reference.company_id for reference in answer.references]
            degraded += answer.telemetry.degraded_steps
        companies = answer.companies_by_id if answer else {}
        facts = {id: facts_of(company) for id, company in companies.items()}
        return Results(keys, list(dict.fromkeys(degraded)), answer.content if answer else None, facts=facts)

    def facts_of(company: Company) -> Facts:
        tags = [*company.sectors, *company.categories, *company.business_models, *company.niches]
        texts = [company.company_name, company.tagline, company.description, company.product_description, *tags]
        return Facts(
            status=company.status,
            country=company.hq_country,
            city=company.hq_city,
            year=company.founded_year,
            staff=company.employee_count,
            tags=tags,
            niches=company.niches,
            text="\n".join(filter(None, texts)),
        )

    return Evaluable(find)


def _records() -> Evaluable:
    from quarry.records.answer import answer_question
    from quarry.records.contract import AnswerChunkEvent, AskRequest, PriorTurn, SearchRequest, SearchResponse
    from quarry.records.search import search_records

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Results:
        response = await search_records(SearchRequest(q=query.query), caller, services)
        return Results(keys_of(response), response.degraded)

    async def find_deeper(query: JudgedQuery, keys: Sequence[str], caller: Caller, services: Services) -> Sequence[str]:
        places = SearchRequest(q=query.query).limit
        if len(keys) < places:
            return []
        request = SearchRequest(q=query.query, offset=places, limit=DEEP - places)
        return keys_of(await search_records(request, caller, services))

    def keys_of(response: SearchResponse) -> list[str]:
        # a duplicate that is shown with another result follows it
        keys: list[str] = []
        for result in response.results:
            keys.append(f"{result.type}:{result.id}")
            keys += [f"{each.type}:{each.id}" for each in result.also]
        return keys

    async def answer(query: JudgedQuery, caller: Caller, services: Services) -> str:
        history: list[PriorTurn] = []
        text = ""
        for question in (*query.earlier, query.query):
            events = answer_question(AskRequest(question=question, history=history), caller, services)
            text = "".join([event.chunk async for event in events if isinstance(event, AnswerChunkEvent)])
            history.append(PriorTurn(question=question, answer=text))
        return text

    return Evaluable(find, find_deeper=find_deeper, answer=answer)


_CAMPAIGN_FIELDS: Mapping[str, LiteralString] = {
    "company": "company",
    "brand": "brand",
    "channel": "channel",
    "offer": "offer",
    "key_value_props": "unnest(key_value_props)",
    "imagery_sentiment": "imagery_sentiment",
    "imagery_visual_style": "imagery_visual_style",
    "year": "to_char(capture_date, 'YYYY')",
    "month": "to_char(capture_date, 'FMMonth')",
}


def _campaigns() -> Evaluable:
    from quarry.campaigns.contract import ChatRequest, ChatResponse, FinalAnswerEvent, HistoryMessage
    from quarry.campaigns.search import chat_about_campaigns

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Results:
        history: list[HistoryMessage] = []
        answer: ChatResponse | None = None
        for question in (*query.earlier, query.query):
            events = chat_about_campaigns(ChatRequest(message=question, history=history), caller, services)
            [answer] = [event.data async for event in events if isinstance(event, FinalAnswerEvent)]
            history.append(HistoryMessage(role="user", content=question))
            history.append(HistoryMessage(role="assistant", content=answer.response))
        assert answer is not None
        keys = [campaign.id for campaign in answer.campaigns]
        return Results(keys, answer.telemetry.degraded_steps, answer.response, answer.total)

    async def values_of(name: str, services: Services) -> Collection[str]:
        if name not in _CAMPAIGN_FIELDS:
            raise QuarryError(f"campaigns have no field {name!r} to expect, but {', '.join(_CAMPAIGN_FIELDS)}")
        statement = SQL("select distinct {} as value from campaigns").format(SQL(_CAMPAIGN_FIELDS[name]))
        return [row["value"] for row in await services.database.rows(statement) if row["value"]]

    return Evaluable(find, values_of=values_of)


def _ontology() -> Evaluable:
    from quarry.ontology.contract import OntologySearchRequest
    from quarry.ontology.search import search_ontology

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Results:
        # a workspace belongs to a user, whom the judgement names
        owner = Caller(query.user or LOCAL_USER)
        response = await search_ontology(OntologySearchRequest(query=query.query), owner, services)
        return Results([f"{result.type}:{result.id}" for result in response.results])

    return Evaluable(find)


def _people() -> Evaluable:
    from quarry.people.access import grant
    from quarry.people.contract import PeopleSearchRequest
    from quarry.people.ranking import TOP_PEOPLE
    from quarry.people.search import search_people

    async def prepare(caller: Caller, services: Services) -> None:
        await grant(services.database, services.settings, caller.user_id, EVALUATING_CREDITS)

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Results:
        response = await search_people(PeopleSearchRequest(query=query.query), caller, services)
        misses: dict[str, Sequence[str]] = {
            person.id: [str(miss) for miss in getattr(person, "misses", ())] for person in response.people
        }
        reports_misses = any(hasattr(person, "misses") for person in response.people)
        return Results(
            [person.id for person in response.people], response.degraded, misses=misses if reports_misses else None
        )

    return Evaluable(find, prepare, results_max=TOP_PEOPLE)


EVALUABLE: dict[str, Callable[[], Evaluable]] = {
    "campaigns": _campaigns,
    "companies": _companies,
    "ontology": _ontology,
    "people": _people,
    "records": _records,
}
"""Each imports its domain when it is called."""
