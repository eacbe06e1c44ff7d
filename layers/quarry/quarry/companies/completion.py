"""Companies as a model of chat completions."""

from __future__ import annotations

from quarry.agent.completions import Chat, ChatAnswer, CitedSource, Sources, answer_of
from quarry.companies.contract import (
    MESSAGE_CHARACTERS_MAX,
    MESSAGES_MAX,
    ChatMessage,
    ChatRequest,
    FinalAnswer,
    FinalAnswerEvent,
)
from quarry.companies.search import search_companies


async def answer(chat: Chat) -> ChatAnswer:
    """The text of the answer, and then the companies, best first."""
    before = [
        ChatMessage(role=turn.role, content=turn.content[:MESSAGE_CHARACTERS_MAX])
        for turn in chat.before[-(MESSAGES_MAX - 1) :]
    ]
    request = ChatRequest(messages=[*before, ChatMessage(role="user", content=chat.question)])
    events = search_companies(request, chat.caller, chat.services, chat.request_id, chat.run_id)
    return answer_of(events, FinalAnswerEvent, lambda event: _sources(event.data))


def _sources(found: FinalAnswer) -> Sources:
    return Sources(
        "Companies",
        [
            CitedSource(each.company_name, each.reason, found.companies_by_id[each.company_id].website_url)
            for each in found.references
        ],
    )
