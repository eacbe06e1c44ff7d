"""A domain as a model of chat completions."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from quarry.agent.completions import Chat, CitedSource, Sources, answering, heading
from quarry.answering.contract import TURN_CHARACTERS_MAX, AskedBefore, FinalAnswerEvent
from quarry.domains import module
from quarry.platform.text import CITATION, QUERY_MAX_CHARACTERS

LISTED_MAX = 10
"""How many rows are listed below an answer."""


def of(domain: str) -> SimpleNamespace:
    def listed(event: FinalAnswerEvent) -> Sources:
        answer = event.data
        return sources_of(
            domain.capitalize(), answer.response, answer.total, [(each.title, "") for each in answer.results]
        )

    def request(chat: Chat) -> object:
        return module(domain, "contract").AskRequest(question=chat.question, history=earlier_turns(chat))

    return SimpleNamespace(answer=answering(request, module(domain, "search").answer, FinalAnswerEvent, listed))


def earlier_turns(chat: Chat) -> list[AskedBefore]:
    """The questions before with their answers."""
    turns = [
        AskedBefore(question=turn.content[:QUERY_MAX_CHARACTERS], answer=reply.content[:TURN_CHARACTERS_MAX])
        for turn, reply in zip(chat.before, chat.before[1:], strict=False)
        if (turn.role, reply.role) == ("user", "assistant")
    ]
    return turns[-50:]


def sources_of(named: str, response: str, total: int, rows: Sequence[tuple[str, str]]) -> Sources:
    """The rows of an answer, each a title and a detail, under a heading."""
    cited = list(dict.fromkeys(int(number) for number in CITATION.findall(response)))
    listed = rows[:LISTED_MAX]
    # the rows of an answer that cites stand in the order of its citations
    numbers = cited if len(cited) == len(rows) else [None] * len(listed)
    items = [CitedSource(title, detail, n=n) for (title, detail), n in zip(listed, numbers, strict=False)]
    return Sources(heading(named, len(listed), total), items)
