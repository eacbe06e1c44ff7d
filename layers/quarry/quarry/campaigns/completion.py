"""Campaigns as a model of chat completions."""

from __future__ import annotations

from quarry.agent.completions import Chat, ChatAnswer, CitedSource, Sources, answer_of
from quarry.campaigns.contract import (
    HISTORY_MESSAGES_MAX,
    MESSAGE_CHARACTERS_MAX,
    Campaign,
    ChatRequest,
    ChatResponse,
    FinalAnswerEvent,
    HistoryMessage,
)
from quarry.campaigns.search import chat_about_campaigns

LISTED_MAX = 10
"""How many campaigns are listed below an answer."""


async def answer(chat: Chat) -> ChatAnswer:
    """The text of the answer, and then its campaigns."""
    history = [
        HistoryMessage(role=turn.role, content=turn.content[:MESSAGE_CHARACTERS_MAX])
        for turn in chat.before[-HISTORY_MESSAGES_MAX:]
    ]
    request = ChatRequest(message=chat.question, history=history)
    events = chat_about_campaigns(request, chat.caller, chat.services, chat.request_id, chat.run_id)
    return answer_of(events, FinalAnswerEvent, lambda event: _sources(event.data))


def _sources(found: ChatResponse) -> Sources:
    listed = found.campaigns[:LISTED_MAX]
    is_cut = found.total > len(listed)
    heading = f"Campaigns, the first {len(listed)} of {found.total:,}" if is_cut else "Campaigns"
    return Sources(heading, [_source(campaign) for campaign in listed])


def _source(campaign: Campaign) -> CitedSource:
    captured = campaign.capture_date.isoformat() if campaign.capture_date else None
    detail = ", ".join(filter(None, (campaign.channel, captured, campaign.offer)))
    title = f"{campaign.brand}, {campaign.company}" if campaign.brand else campaign.company
    return CitedSource(title, detail, campaign.url)
