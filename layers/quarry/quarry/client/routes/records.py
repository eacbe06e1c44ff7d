"""Records."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Literal

from quarry.client.calls import given, route, streamed
from quarry.client.wire import EventTypes, Sent
from quarry.records.collections_contract import CountRequest, RecordCounts
from quarry.records.contract import (
    AggregationEvent,
    AnswerChunkEvent,
    AskFilters,
    AskRequest,
    CachedAnswer,
    CitationsEvent,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    IntentEvent,
    PriorTurn,
    SearchRequest,
    SearchResponse,
    SourcesEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.streaming.events import SSE

RecordsEvent = (
    IntentEvent
    | ToolCallEvent
    | ToolObservationEvent
    | SourcesEvent
    | AggregationEvent
    | AnswerChunkEvent
    | CitationsEvent
    | ConfidenceEvent
    | FollowupsEvent
    | DoneEvent
)
"""What an answer from records consists of."""

RECORDS_EVENTS: EventTypes[RecordsEvent] = EventTypes(
    SSE,
    (
        IntentEvent,
        ToolCallEvent,
        ToolObservationEvent,
        SourcesEvent,
        AggregationEvent,
        AnswerChunkEvent,
        CitationsEvent,
        ConfidenceEvent,
        FollowupsEvent,
        DoneEvent,
    ),
    last="done",
)

Day = datetime.date | str
Facets = Mapping[str, str | Sequence[str]]
"""Values by the name of their facet; with a dash before the name, those that are left out."""


class RecordRoutes:
    @streamed("POST /records/ask", RECORDS_EVENTS)
    def ask_records(
        self,
        question: str,
        *,
        history: Sequence[PriorTurn] | None = None,
        types: Sequence[str] | None = None,
        filters: AskFilters | None = None,
        fresh: bool = False,
    ) -> Sent:
        """A cited answer, event by event; the last one is `done`."""
        fields = {"question": question, "history": history, "types": types, "filters": filters, "fresh": fresh or None}
        return Sent(body=given(AskRequest, **fields))

    @route("GET /records/search", SearchResponse)
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
    ) -> Sent:
        """One ranked list over all types of record. With `must`, phrases in quotes must hold."""
        fields = {"q": query, "limit": limit, "offset": offset, "must": must, "ranking": ranking}
        filters = _filters(types, from_date, to_date, facets)
        return Sent(query=given(SearchRequest, **fields, **filters))

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
    ) -> Sent:
        """How many records there are, exactly, in all and by the values of a facet, or by `day`, `month` or `year`. `of` says
        what is reckoned beside (`sum:price`).
        """
        filters = _filters(types, from_date, to_date, facets)
        return Sent(query=given(CountRequest, q=query, by=by, of=of, **filters))

    @route("GET /answers/{id}", CachedAnswer)
    def answer(self, id: str) -> Sent:
        """A finished answer, as it was given."""
        return Sent(path={"id": id})


def _filters(
    types: Sequence[str], from_date: Day | None, to_date: Day | None, facets: Facets | None
) -> dict[str, object]:
    return {**(facets or {}), "type": list(types) or None, "from": from_date, "to": to_date}
