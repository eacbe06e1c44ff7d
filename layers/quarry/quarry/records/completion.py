"""Civic records as a model of chat completions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from quarry.agent.completions import Chat, ChatAnswer, CitedSource, Sources, Turn, cited_in
from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.records.answer import answer_question
from quarry.records.contract import (
    HISTORY_CHARACTERS_MAX,
    HISTORY_TURNS,
    AnswerChunkEvent,
    AskRequest,
    CitationsEvent,
    ConfidenceEvent,
    PriorTurn,
    SourcesEvent,
    TextWithdrawnEvent,
)
from quarry.records.contract import Source as RecordSource
from quarry.verification.wire import CheckedStatement, MarkedText, marked_end


async def answer(chat: Chat) -> ChatAnswer:
    """A cited answer, followed by the records that it cites."""
    return _answer(chat, AskRequest(question=chat.question, history=_prior_turns(chat.before)))


async def _answer(chat: Chat, request: AskRequest) -> ChatAnswer:
    events = answer_question(request, chat.caller, chat.services, chat.request_id, run_id=chat.run_id)
    text, sources, marked = "", list[RecordSource](), MarkedText()
    statements, label = list[CheckedStatement](), ""
    async with aclosing(events):
        async for event in events:
            match event:
                case AnswerChunkEvent(chunk=chunk):
                    text += chunk
                    if shown := marked.feed(chunk):
                        yield shown
                case TextWithdrawnEvent(reason=reason):
                    text = ""
                    if shown := marked.withdrawn(reason):
                        yield shown
                case SourcesEvent():
                    sources = event.sources
                case CitationsEvent():
                    statements = event.statements
                case ConfidenceEvent():
                    label = event.label
    yield marked_end(marked, statements, label)
    yield Sources("Sources", cited_in(text, [_source(each) for each in sources]))


def _source(source: RecordSource) -> CitedSource:
    known = (source.type.replace("_", " "), source.date.isoformat() if source.date else "")
    return CitedSource(source.title, ", ".join(filter(None, known)), source.url, source.n)


def _prior_turns(before: Sequence[Turn]) -> list[PriorTurn]:
    """The latest questions with their answers."""
    turns: list[PriorTurn] = []
    for turn in before:
        if turn.role == "user":
            turns.append(PriorTurn(question=turn.content[:QUERY_MAX_CHARACTERS], answer=""))
        elif turns:
            answered = f"{turns[-1].answer}\n{turn.content}".strip()[:HISTORY_CHARACTERS_MAX]
            turns[-1] = PriorTurn(question=turns[-1].question, answer=answered)
    return turns[-HISTORY_TURNS:]
