"""The answer that a domain writes with its tools, and what happens meanwhile as the events that the streams of domains share.
Records have a wire of their own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from quarry.answering.answer import Answer, Said, Told, Withdrawn, never
from quarry.answering.loop import Tool, ToolFinished, ToolProgress, ToolStarted
from quarry.answering.toolset import Toolset
from quarry.answering.written import WrittenAnswer
from quarry.models.interface import Message
from quarry.models.step import TextFilter
from quarry.streaming.events import (
    Event,
    PartialText,
    PartialTextEvent,
    TextWithdrawnEvent,
    ToolCalled,
    ToolCallEvent,
    ToolObservationEvent,
    ToolObserved,
    Withdrawal,
)
from quarry.verification.check import Verifier


def answer_with(
    toolset: Toolset,
    step: str,
    max_turns: int,
    filters: Callable[[WrittenAnswer], Sequence[TextFilter]],
    verifier: Callable[[], Verifier],
    cites: Callable[[str], bool] = never,
) -> Answer:
    """The answer of a domain that is written with these tools."""
    return Answer(toolset.run, step, max_turns, filters, cites, verifier, has_found=lambda: toolset.has_found)


def event_of(happened: Told) -> Event | None:
    """The event; None where nothing of it is told."""
    match happened:
        case Said(piece):
            return PartialTextEvent(data=PartialText(text=piece))
        case Withdrawn(reason):
            return TextWithdrawnEvent(data=Withdrawal(reason=reason))
        case ToolProgress(progress):
            return progress
        case ToolStarted(id, tool, arguments):
            return ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=arguments))
        case ToolFinished(id, tool, result):
            told = ToolObserved(id=id, tool=tool, count=result.count, summary=result.summary)
            return ToolObservationEvent(data=told)
    return None


async def events_of(
    answer: Answer,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    own: Callable[[Told], Event | None] = event_of,
) -> AsyncGenerator[Event]:
    """The events of an answer as it is written: the `own` ones of a domain. A model that fails ends them. Raises
    DatabaseUnavailable.
    """
    async with aclosing(answer.told(messages, tools)) as happened:
        async for each in happened:
            if (event := own(each)) is not None:
                yield event
