"""Companies as a model of chat completions."""

from __future__ import annotations

from contextlib import aclosing

from quarry.companies.contract import (
    MESSAGE_CHARACTERS_MAX,
    MESSAGES_MAX,
    ChatMessage,
    ChatRequest,
    FinalAnswer,
    FinalAnswerEvent,
)
from quarry.companies.search import search_companies
from quarry.core.completions import Asked, Said, Source, Sources
from quarry.core.stream.events import PartialTextEvent


async def answer(asked: Asked) -> Said:
    """What the search found, in words, and then the companies, best first."""
    before = [
        ChatMessage(role=turn.role, content=turn.content[:MESSAGE_CHARACTERS_MAX])
        for turn in asked.before[-(MESSAGES_MAX - 1) :]
    ]
    return _said(asked, ChatRequest(messages=[*before, ChatMessage(role="user", content=asked.question)]))


async def _said(asked: Asked, request: ChatRequest) -> Said:
    events = search_companies(request, asked.caller, asked.services, asked.request_id, asked.run_id)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, PartialTextEvent):
                yield event.data.text
            elif isinstance(event, FinalAnswerEvent):
                yield _sources(event.data)


def _sources(found: FinalAnswer) -> Sources:
    return Sources(
        "Companies",
        [
            Source(each.company_name, each.reason, found.companies_by_id[each.company_id].website_url)
            for each in found.references
        ],
    )
