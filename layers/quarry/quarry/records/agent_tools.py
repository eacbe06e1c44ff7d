"""Records for the tools that search every source, and the resources and prompts for agents, and records as a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from quarry.agent.completions import Chat, ChatAnswer, CitedSource, Sources, Turn, cited_in
from quarry.agent.domain_tools import AgentPrompt, AgentResource, AgentTemplate
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Filters, Hit
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
from quarry.records.finding import rank_records
from quarry.records.retrieval import RecordText, describe, describe_collections, passage, read_record
from quarry.records.sources import RecordTypes, acting_for, skipping_broken_collections
from quarry.services.services import Caller, Services
from quarry.verification.wire import CheckedStatement, MarkedText, marked_end


async def search_text(
    text: str, names: Sequence[str], filters: Filters, limit: int, access: DataAccess, services: Services
) -> list[Hit]:
    """The best records of these types for a text, as the page's search ranks them. Raises SourceUnavailable where none
    of them can be read, and DatabaseUnavailable.
    """
    types, acting = await acting_for(access.caller, services)
    searched = [name for name in names if name in types.whole]
    if not searched:
        return []
    with services.run("records", access.caller, text, {"text": text, "types": list(names)}) as run:

        async def search(types: RecordTypes) -> list[RecordText]:
            searched_types = [each.narrowed(filters.get(each.name)) for each in types.by_names(searched)]
            ranked = await rank_records(text, searched_types, acting, run)
            texts = await describe(acting.reader, [item.key for item in ranked[:limit]], types, text)
            return [texts[item.key] for item in ranked[:limit] if item.key in texts]

        texts_found = await skipping_broken_collections(types, services.memory, search)
        run.end_reason = "answered"
    return [
        Hit(source=each.type, id=each.id, title=each.title, text=passage(each), date=each.date, url=each.url)
        for each in texts_found
    ]


async def read_whole(name: str, id: str, caller: Caller, services: Services) -> dict[str, Any]:
    """One whole record with what it is part of. Raises NotFound and DatabaseUnavailable."""
    record = await read_record(name, id, caller, services)
    return record.model_dump(mode="json", exclude_none=True)


async def _types(caller: Caller, services: Services) -> dict[str, Any]:
    return (await describe_collections(caller, services)).model_dump(mode="json", exclude_defaults=True)


AGENT_RESOURCES = (
    AgentResource(
        "quarry://collections",
        "collections",
        "Types of record",
        "The types of record that there are, and the facets that each can be filtered and counted by; of these and every other "
        "source the fields that a Query can name.",
        _types,
    ),
)

AGENT_TEMPLATES = (
    AgentTemplate(
        "quarry://records/{type}/{id}",
        "record",
        "A record",
        "One whole record with what it is part of, by the source and id of a result.",
        read_whole,
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "answer_from_records",
        "Answer from the records",
        "A question answered from the records alone, with a source for each statement.",
        {"question": "the question, in plain words"},
        "Answer this from the records alone: {question}\n\nFind what speaks of it with `search`, in several wordings where the "
        "first finds little, and read what matters whole with `get`. Take numbers from `query` only. After each statement name "
        "the record that it rests on, by title and date. Say plainly what the records do not say.",
    ),
)


async def complete(chat: Chat) -> ChatAnswer:
    """A cited answer, followed by the records that it cites."""
    return _completion(chat, AskRequest(question=chat.question, history=_prior_turns(chat.before)))


async def _completion(chat: Chat, request: AskRequest) -> ChatAnswer:
    events = answer_question(request, chat.caller, chat.services, chat.request_id, run_id=chat.run_id)
    text, sources, marked = "", list[RecordSource](), MarkedText()
    statements, label = list[CheckedStatement](), ""
    async with aclosing(events):
        async for event in events:
            match event:
                case AnswerChunkEvent(chunk=chunk):
                    text += chunk
                    if visible := marked.feed(chunk):
                        yield visible
                case TextWithdrawnEvent(reason=reason):
                    text = ""
                    if visible := marked.withdrawn(reason):
                        yield visible
                case SourcesEvent():
                    sources = event.sources
                case CitationsEvent():
                    statements = event.statements
                case ConfidenceEvent():
                    label = event.label
    yield marked_end(marked, statements, label)
    yield Sources("Sources", cited_in(text, [_source(each) for each in sources]))


def _source(source: RecordSource) -> CitedSource:
    details = (source.type.replace("_", " "), source.date.isoformat() if source.date else "")
    return CitedSource(source.title, ", ".join(filter(None, details)), source.url, source.n)


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
