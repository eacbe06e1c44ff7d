"""Campaigns."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.campaigns.contract import (
    CampaignFilters,
    ChatRequest,
    ChatResponse,
    Constraints,
    FinalAnswerEvent,
    HistoryMessage,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.client.calls import given, route, streamed
from quarry.client.wire import EventTypes, Sent
from quarry.streaming.events import NDJSON, PartialTextEvent

CampaignsEvent = ToolCallEvent | ToolObservationEvent | PartialTextEvent | FinalAnswerEvent
"""What an answer about campaigns consists of."""

CAMPAIGNS_EVENTS: EventTypes[CampaignsEvent] = EventTypes(
    NDJSON, (ToolCallEvent, ToolObservationEvent, PartialTextEvent, FinalAnswerEvent), last="final_answer"
)


class CampaignRoutes:
    @streamed("POST /campaigns/chat", CAMPAIGNS_EVENTS)
    def ask_campaigns(
        self,
        message: str,
        *,
        history: Sequence[HistoryMessage] | None = None,
        filters: CampaignFilters | None = None,
        constraints: Constraints | None = None,
    ) -> Sent:
        """An answer about campaigns, step by step; the last event is `final_answer`. `filters` hold in every search."""
        return _sent(message, history, filters, constraints)

    @route("POST /campaigns/chat", ChatResponse)
    def chat_about_campaigns(
        self,
        message: str,
        *,
        history: Sequence[HistoryMessage] | None = None,
        filters: CampaignFilters | None = None,
        constraints: Constraints | None = None,
    ) -> Sent:
        """The same answer in one piece."""
        return _sent(message, history, filters, constraints)


def _sent(
    message: str,
    history: Sequence[HistoryMessage] | None,
    filters: CampaignFilters | None,
    constraints: Constraints | None,
) -> Sent:
    body = given(
        ChatRequest,
        message=message,
        history=history,
        active_filters=filters,
        apply_filters_to_query=True if filters else None,
        constraints=constraints,
    )
    return Sent(body=body)
