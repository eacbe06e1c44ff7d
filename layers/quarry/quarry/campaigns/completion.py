"""Campaigns as a model of chat completions."""

from __future__ import annotations

from quarry.agent.completions import Chat, CitedSource, Sources, answering, heading
from quarry.campaigns.contract import (
    HISTORY_MESSAGES_MAX,
    MESSAGE_CHARACTERS_MAX,
    Campaign,
    ChatRequest,
    FinalAnswerEvent,
    HistoryMessage,
)
from quarry.campaigns.search import chat_about_campaigns

LISTED_MAX = 10
"""How many campaigns are listed below an answer."""


def _request(chat: Chat) -> ChatRequest:
    history = [
        HistoryMessage(role=turn.role, content=turn.content[:MESSAGE_CHARACTERS_MAX])
        for turn in chat.before[-HISTORY_MESSAGES_MAX:]
    ]
    return ChatRequest(message=chat.question, history=history)


def _sources(event: FinalAnswerEvent) -> Sources:
    listed = event.data.campaigns[:LISTED_MAX]
    return Sources(heading("Campaigns", len(listed), event.data.total), [_source(campaign) for campaign in listed])


def _source(campaign: Campaign) -> CitedSource:
    captured = campaign.capture_date.isoformat() if campaign.capture_date else None
    detail = ", ".join(filter(None, (campaign.channel, captured, campaign.offer)))
    title = f"{campaign.brand}, {campaign.company}" if campaign.brand else campaign.company
    return CitedSource(title, detail, campaign.url)


answer = answering(_request, chat_about_campaigns, FinalAnswerEvent, _sources)
"""The text of the answer, and then its campaigns."""
