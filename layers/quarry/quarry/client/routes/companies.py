"""Companies."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.client.calls import given, streamed
from quarry.client.wire import EventTypes, Sent
from quarry.companies.contract import (
    ActivityEvent,
    ChatMessage,
    ChatRequest,
    ClientContext,
    Constraints,
    FinalAnswerEvent,
)
from quarry.streaming.events import NDJSON, PartialTextEvent

CompaniesEvent = ActivityEvent | PartialTextEvent | FinalAnswerEvent
"""What a search for companies consists of."""

COMPANIES_EVENTS: EventTypes[CompaniesEvent] = EventTypes(
    NDJSON, (ActivityEvent, PartialTextEvent, FinalAnswerEvent), last="final_answer"
)


class CompanyRoutes:
    @streamed("POST /companies/chat", COMPANIES_EVENTS)
    def ask_companies(
        self,
        question: str,
        *,
        history: Sequence[ChatMessage] = (),
        constraints: Constraints | None = None,
        previous_candidate_ids: Sequence[str] | None = None,
        session_id: str | None = None,
    ) -> Sent:
        """A search for companies in plain words, step by step; the last event is `final_answer`. `history` is what was said
        before, `previous_candidate_ids` are the companies that the answer before this referred to.
        """
        context = (
            given(ClientContext, previous_candidate_ids=previous_candidate_ids) if previous_candidate_ids else None
        )
        body = given(
            ChatRequest,
            messages=[*history, ChatMessage(role="user", content=question)],
            constraints=constraints,
            client_context=context,
            session_id=session_id,
        )
        return Sent(body=body)
