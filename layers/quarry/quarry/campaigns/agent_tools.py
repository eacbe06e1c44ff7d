"""Campaigns for agents and as a chat model: the text search for the tools over all sources, resources, and prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quarry.agent.completions import Chat, CitedSource, Sources, answering, heading
from quarry.agent.domain_tools import TEXT_CHARACTERS_MAX, AgentPrompt, AgentTemplate
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Filters, Hit, condition_on
from quarry.campaigns.contract import (
    HISTORY_MESSAGES_MAX,
    MESSAGE_CHARACTERS_MAX,
    Campaign,
    ChatRequest,
    FinalAnswerEvent,
    HistoryMessage,
)
from quarry.campaigns.retrieval import campaign_by_id, find_by_theme
from quarry.campaigns.search import chat_about_campaigns
from quarry.platform.text import shorten
from quarry.services.services import Caller, Services


async def search_text(
    text: str, names: Sequence[str], filters: Filters, limit: int, access: DataAccess, services: Services
) -> list[Hit]:
    """The campaigns about a text, by meaning and words. Raises DatabaseUnavailable."""
    with services.run("campaigns", access.caller, text, {"text": text}) as run:
        vector = await services.queries.embed_for(run, text)
        matches = await find_by_theme(services.reader, text, vector, (), condition=condition_on("campaigns", filters))
        run.end_reason = "answered"
    return [
        Hit(
            source="campaigns",
            id=each.id,
            title=f"{each.company} on {each.channel}",
            text=shorten(each.campaign_text, TEXT_CHARACTERS_MAX),
            date=each.capture_date,
        )
        for each in matches.campaigns[:limit]
    ]


async def read_whole(name: str, id: str, caller: Caller, services: Services) -> dict[str, Any]:
    """All fields of one campaign. Raises NotFound and DatabaseUnavailable."""
    return (await campaign_by_id(services.reader, id)).model_dump(mode="json", exclude_none=True)


AGENT_TEMPLATES = (
    AgentTemplate(
        "quarry://campaigns/{id}", "campaign", "A campaign", "One campaign, whole, with all of its copy.", read_whole
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "compare_advertisers",
        "Compare two advertisers",
        "How two advertisers differ in channels, offers, promises and tone.",
        {"first": "the one advertiser", "second": "the other advertiser"},
        "Compare how {first} and {second} advertise. Find the campaigns of each with `search`, take numbers from `query` alone, "
        "and read a few of each whole with `get`. Say what differs in channels, offers, promises and tone, and quote the copy.",
    ),
)


LISTED_MAX = 10
"""How many campaigns are listed below an answer."""


def _chat_request(chat: Chat) -> ChatRequest:
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


complete = answering(_chat_request, chat_about_campaigns, FinalAnswerEvent, _sources)
"""The text of the answer, and then its campaigns."""
