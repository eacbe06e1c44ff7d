"""Companies as a model of chat completions."""

from __future__ import annotations

from quarry.agent.completions import Chat, CitedSource, Sources, answering
from quarry.companies.contract import MESSAGE_CHARACTERS_MAX, MESSAGES_MAX, ChatMessage, ChatRequest, FinalAnswerEvent
from quarry.companies.search import search_companies


def _request(chat: Chat) -> ChatRequest:
    before = [
        ChatMessage(role=turn.role, content=turn.content[:MESSAGE_CHARACTERS_MAX])
        for turn in chat.before[-(MESSAGES_MAX - 1) :]
    ]
    return ChatRequest(messages=[*before, ChatMessage(role="user", content=chat.question)])


def _sources(event: FinalAnswerEvent) -> Sources:
    found = event.data
    return Sources(
        "Companies",
        [
            CitedSource(each.company_name, each.reason, found.companies_by_id[each.company_id].website_url)
            for each in found.references
        ],
    )


answer = answering(_request, search_companies, FinalAnswerEvent, _sources)
"""The text of the answer, and then the companies, best first."""
