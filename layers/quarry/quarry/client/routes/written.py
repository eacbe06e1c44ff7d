"""Routes that cannot be generated from the OpenAPI description: those that stream, have a query string, or take a key."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args
from uuid import uuid4

from quarry.answering.contract import AskedBefore, AskRequest, FinalAnswerEvent
from quarry.campaigns import contract as campaigns
from quarry.client.calls import request_of, route, streamed
from quarry.client.exchange import Call, CallInput, EventTypes
from quarry.companies import contract as companies
from quarry.ontology import contract as ontology
from quarry.people.contract import (
    Constraints,
    DiscoverRequest,
    DiscoverResponse,
    GatedProfile,
    PeopleSearchRequest,
    PeopleSearchResponse,
)
from quarry.query.contract import QueryResult, Understood, UnderstoodEvent
from quarry.records import contract as records
from quarry.records.contract import CountRequest, RecordCounts
from quarry.schema.algebra import Query
from quarry.streaming.events import (
    NDJSON,
    SSE,
    PartialTextEvent,
    TextWithdrawnEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.web.contract import Health

RecordsEvent = (
    records.IntentEvent
    | records.ToolCallEvent
    | records.ToolObservationEvent
    | records.SourcesEvent
    | records.AggregationEvent
    | records.UnderstoodEvent
    | records.ResultsEvent
    | records.AnswerChunkEvent
    | records.TextWithdrawnEvent
    | records.CitationsEvent
    | records.ConfidenceEvent
    | records.FollowupsEvent
    | records.DoneEvent
)
"""The events of an answer from records."""
CampaignsEvent = (
    ToolCallEvent
    | campaigns.ToolObservationEvent
    | UnderstoodEvent
    | PartialTextEvent
    | TextWithdrawnEvent
    | campaigns.FinalAnswerEvent
)
"""The events of an answer about campaigns."""
OntologyEvent = (
    ToolCallEvent
    | ToolObservationEvent
    | UnderstoodEvent
    | PartialTextEvent
    | TextWithdrawnEvent
    | ontology.FinalAnswerEvent
)
"""The events of an answer about projects."""
AnswerEvent = (
    ToolCallEvent | ToolObservationEvent | UnderstoodEvent | PartialTextEvent | TextWithdrawnEvent | FinalAnswerEvent
)
"""The events of an answer of a domain that has the standard routes."""
CompaniesEvent = (
    companies.ActivityEvent | UnderstoodEvent | PartialTextEvent | TextWithdrawnEvent | companies.FinalAnswerEvent
)
"""The events of a search for companies."""

RECORDS_EVENTS: EventTypes[RecordsEvent] = EventTypes(SSE, get_args(RecordsEvent), last="done")
CAMPAIGNS_EVENTS: EventTypes[CampaignsEvent] = EventTypes(NDJSON, get_args(CampaignsEvent), last="final_answer")
ONTOLOGY_EVENTS: EventTypes[OntologyEvent] = EventTypes(NDJSON, get_args(OntologyEvent), last="final_answer")
ANSWER_EVENTS: EventTypes[AnswerEvent] = EventTypes(NDJSON, get_args(AnswerEvent), last="final_answer")
COMPANIES_EVENTS: EventTypes[CompaniesEvent] = EventTypes(NDJSON, get_args(CompaniesEvent), last="final_answer")

Day = datetime.date | str
Facets = Mapping[str, str | Sequence[str]]
"""Values by the name of their facet; a dash before the name excludes them."""


class WrittenRoutes:
    @route("POST /query", QueryResult)
    def query(self, query: Query | Mapping[str, Any]) -> CallInput:
        """The exact result of one Query, given as a value or as JSON: rows, numbers or groups of any source."""
        return CallInput(body=query if isinstance(query, Query) else Query.model_validate(query))

    @streamed("POST /records/ask", RECORDS_EVENTS)
    def ask_records(
        self,
        question: str,
        *,
        history: Sequence[records.PriorTurn] | None = None,
        types: Sequence[str] | None = None,
        filters: records.AskFilters | None = None,
        fresh: bool = False,
    ) -> CallInput:
        """A cited answer, event by event; the last one is `done`."""
        fields = {"question": question, "history": history, "types": types, "filters": filters, "fresh": fresh or None}
        return CallInput(body=request_of(records.AskRequest, **fields))

    @route("GET /records/search", records.SearchResponse)
    def search_records(
        self,
        query: str,
        *,
        types: Sequence[str] = (),
        from_date: Day | None = None,
        to_date: Day | None = None,
        facets: Facets | None = None,
        limit: int | None = None,
        offset: int | None = None,
        must: bool | None = None,
        ranking: Literal["scores", "seed"] | None = None,
    ) -> CallInput:
        """One ranked list over all types of record. With `must`, quoted phrases must occur."""
        fields = {"q": query, "limit": limit, "offset": offset, "must": must, "ranking": ranking}
        filters = _filters(types, from_date, to_date, facets)
        return CallInput(query=request_of(records.SearchRequest, **fields, **filters))

    @route("GET /records/suggest", records.Suggestions)
    def suggest_records(
        self,
        typed: str,
        *,
        types: Sequence[str] = (),
        from_date: Day | None = None,
        to_date: Day | None = None,
        facets: Facets | None = None,
        limit: int | None = None,
    ) -> CallInput:
        """Titles for what was typed so far: the last word may be begun, and a word misspelt."""
        filters = _filters(types, from_date, to_date, facets)
        return CallInput(query=request_of(records.SuggestRequest, q=typed, limit=limit, **filters))

    @route("GET /records/facets", RecordCounts)
    def count_records(
        self,
        *,
        query: str | None = None,
        by: str | None = None,
        of: Sequence[str] | None = None,
        types: Sequence[str] = (),
        from_date: Day | None = None,
        to_date: Day | None = None,
        facets: Facets | None = None,
    ) -> CallInput:
        """The exact number of records, in all and by the values of a facet, or by `day`, `month` or `year`. `of` names other
        aggregates to compute (`sum:price`).
        """
        filters = _filters(types, from_date, to_date, facets)
        return CallInput(query=request_of(CountRequest, q=query, by=by, of=of, **filters))

    @route("GET /answers/{id}", records.CachedAnswer)
    def answer(self, id: str) -> CallInput:
        """A finished answer."""
        return CallInput(path={"id": id})

    @route("POST /people/search", PeopleSearchResponse)
    def search_people(
        self,
        query: str,
        *,
        open_to_work_only: bool | None = None,
        preferred_locations: Sequence[str] | None = None,
        salary_min: float | None = None,
        salary_max: float | None = None,
        understood: Understood | None = None,
        constraints: Constraints | None = None,
        idempotency_key: str | None = None,
        only_kept: bool = False,
    ) -> CallInput:
        """The people who fit best, at most five, with reasons. Costs one credit where anybody is shown, even with retries: all
        tries of a call share one key. Pass your own key to get the same answer in a later call for free; with `only_kept` that
        call never searches, and raises NotFound if nothing is stored under the key.
        """
        body = request_of(
            PeopleSearchRequest,
            query=query,
            open_to_work_only=open_to_work_only,
            preferred_locations=preferred_locations,
            salary_min=salary_min,
            salary_max=salary_max,
            understood=understood,
            constraints=constraints,
        )
        return CallInput(
            query={"only_kept": "true"} if only_kept else None,
            body=body,
            headers={"Idempotency-Key": idempotency_key or str(uuid4())},
        )

    @route("GET /people", DiscoverResponse)
    def people(self, *, limit: int | None = None, cursor: str | None = None) -> CallInput:
        """Everyone with a visible card, by name, one page at a time: `next_cursor` leads to the next one."""
        return CallInput(query=request_of(DiscoverRequest, limit=limit, cursor=cursor))

    @route("GET /people/{id}", GatedProfile)
    def person(self, id: str, *, search_id: str) -> CallInput:
        """A person whom your search found, with contact details if you have unlocked them."""
        return CallInput(path={"id": id}, query={"search_id": search_id})

    @streamed("POST /companies/chat", COMPANIES_EVENTS)
    def ask_companies(
        self,
        question: str,
        *,
        history: Sequence[companies.ChatMessage] = (),
        understood: Understood | None = None,
        constraints: companies.Constraints | None = None,
        previous_candidate_ids: Sequence[str] | None = None,
        session_id: str | None = None,
    ) -> CallInput:
        """A search for companies in plain words, step by step; the last event is `final_answer`. `history` is the conversation so
        far, `previous_candidate_ids` are the companies of the previous answer.
        """
        context = (
            request_of(companies.ClientContext, previous_candidate_ids=previous_candidate_ids)
            if previous_candidate_ids
            else None
        )
        body = request_of(
            companies.ChatRequest,
            messages=[*history, companies.ChatMessage(role="user", content=question)],
            understood=understood,
            constraints=constraints,
            client_context=context,
            session_id=session_id,
        )
        return CallInput(body=body)

    @streamed("POST /campaigns/chat", CAMPAIGNS_EVENTS)
    def ask_campaigns(
        self,
        message: str,
        *,
        history: Sequence[campaigns.HistoryMessage] | None = None,
        filters: campaigns.CampaignFilters | None = None,
        understood: Understood | None = None,
    ) -> CallInput:
        """An answer about campaigns, step by step; the last event is `final_answer`. `filters` apply to every search."""
        return _campaigns_call(message, history, filters, understood)

    @route("POST /campaigns/chat", campaigns.ChatResponse)
    def chat_about_campaigns(
        self,
        message: str,
        *,
        history: Sequence[campaigns.HistoryMessage] | None = None,
        filters: campaigns.CampaignFilters | None = None,
        understood: Understood | None = None,
    ) -> CallInput:
        """The same answer in one piece."""
        return _campaigns_call(message, history, filters, understood)

    @streamed("POST /ontology/ask", ONTOLOGY_EVENTS)
    def ask_projects(
        self,
        question: str,
        *,
        history: Sequence[AskedBefore] | None = None,
        project_id: str | None = None,
        types: Sequence[ontology.EntityType] | None = None,
        understood: Understood | None = None,
    ) -> CallInput:
        """An answer about your projects, step by step; the last event is `final_answer`."""
        return _projects_call(question, history, project_id, types, understood)

    @route("POST /ontology/ask", ontology.OntologyAnswer)
    def answer_about_projects(
        self,
        question: str,
        *,
        history: Sequence[AskedBefore] | None = None,
        project_id: str | None = None,
        types: Sequence[ontology.EntityType] | None = None,
        understood: Understood | None = None,
    ) -> CallInput:
        """The same answer in one piece."""
        return _projects_call(question, history, project_id, types, understood)

    @route("GET /health", Health, also=503)
    def health(self) -> CallInput:
        """Whether the service can answer."""
        return CallInput()

    @route("GET /health/deep", Health, also=503)
    def deep_health(self) -> CallInput:
        """The same, with its database checked even if that wakes it."""
        return CallInput()


def _filters(
    types: Sequence[str], from_date: Day | None, to_date: Day | None, facets: Facets | None
) -> dict[str, object]:
    return {**(facets or {}), "type": list(types) or None, "from": from_date, "to": to_date}


def standard_events(domain: str, question: str) -> tuple[Call, EventTypes[AnswerEvent]]:
    """What asks a domain that has the standard routes, and the events of its answer."""
    body = CallInput(body=AskRequest(question=question))
    return Call.of(f"POST /{domain}/ask", body, accept=NDJSON.media_type), ANSWER_EVENTS


def _projects_call(
    question: str,
    history: Sequence[AskedBefore] | None,
    project_id: str | None,
    types: Sequence[ontology.EntityType] | None,
    understood: Understood | None,
) -> CallInput:
    body = request_of(
        ontology.OntologyAskRequest,
        question=question,
        history=history,
        project_id=project_id,
        types=types,
        understood=understood,
    )
    return CallInput(body=body)


def _campaigns_call(
    message: str,
    history: Sequence[campaigns.HistoryMessage] | None,
    filters: campaigns.CampaignFilters | None,
    understood: Understood | None,
) -> CallInput:
    body = request_of(
        campaigns.ChatRequest,
        message=message,
        history=history,
        active_filters=filters,
        apply_filters_to_query=True if filters else None,
        understood=understood,
    )
    return CallInput(body=body)
