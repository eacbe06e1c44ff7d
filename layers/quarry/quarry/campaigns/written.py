"""An answer about campaigns that a model writes: it calls tools, and writes from their results."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from quarry.answering.answer import Answer, Told
from quarry.answering.loop import ToolFinished, ToolStarted
from quarry.answering.toolset import answer_with, event_of, events_of
from quarry.answering.written import WrittenAnswer
from quarry.campaigns.contract import (
    Campaign,
    ChatRequest,
    ToolObservationEvent,
    ToolObserved,
)
from quarry.campaigns.prompts import ABOUT, campaign_messages
from quarry.campaigns.results import NOTHING
from quarry.campaigns.tools import STEP, CampaignToolset
from quarry.models.step import TextFilter
from quarry.platform.text import ALWAYS, LinkFilter, said_in
from quarry.streaming.events import Event, ToolCalled, ToolCallEvent
from quarry.verification.check import Verifier

MAX_TURNS = 5
"""Model turns for one answer. The last has no tools, so that the model must answer."""
OBSERVED_IDS = 50


@dataclass
class ModelAnswer:
    """An answer that a model writes, in progress."""

    request: ChatRequest
    toolset: CampaignToolset
    answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = answer_with(self.toolset, STEP, MAX_TURNS, self._filters, self._verifier)

    async def answered(self) -> AsyncGenerator[Event]:
        """The events of the answer; a model that fails ends it. Raises DatabaseUnavailable."""
        toolset, request = self.toolset, self.request
        messages = campaign_messages(request, toolset.values, await toolset.card(request.message), toolset.today)
        async with aclosing(events_of(self.answer, messages, toolset.tools(), self._event)) as events:
            async for event in events:
                yield event

    def _event(self, told: Told) -> Event | None:
        match told:
            case ToolStarted(id, tool, arguments):
                return ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=_set_arguments(arguments)))
            case ToolFinished(id, tool, result):
                found = self.toolset.found_by.get(result.text_for_model, NOTHING).campaigns
                return observation(id, tool, result.count, result.summary, found)
        return event_of(told)

    def _filters(self, written: WrittenAnswer) -> Sequence[TextFilter]:
        """Only addresses of campaigns that were found stay links."""
        found = {each.id: each for search in self.toolset.searches for each in search.found.campaigns}
        return [LinkFilter({ALWAYS: said_in([each.model_dump() for each in found.values()])})]

    def _verifier(self) -> Verifier:
        """What checks the text against the results of tools."""
        questions = [turn.content for turn in self.request.history if turn.role == "user"]
        told = [turn.content for turn in self.request.history if turn.role == "assistant"]
        return self.toolset.verifier((), "\n".join([*questions, self.request.message]), about=ABOUT, told=told)


def observation(id: str, tool: str, count: int, summary: str, found: Sequence[Campaign]) -> ToolObservationEvent:
    """The event for a tool's result."""
    ids = [campaign.id for campaign in found[:OBSERVED_IDS]]
    return ToolObservationEvent(data=ToolObserved(id=id, tool=tool, count=count, summary=summary, campaign_ids=ids))


def _set_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value != []}
