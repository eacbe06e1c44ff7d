"""An answer about campaigns that a model writes: it calls tools, and writes from their results."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from quarry.agent.reading import matched_values
from quarry.agent.sources import card, describe_sources
from quarry.answering.answer import Answer
from quarry.answering.loop import ToolFinished, ToolStarted
from quarry.answering.told import answer_with, event_of
from quarry.answering.written import WrittenAnswer
from quarry.campaigns.contract import (
    Campaign,
    ChatRequest,
    ToolObservationEvent,
    ToolObserved,
)
from quarry.campaigns.prompts import campaign_messages
from quarry.campaigns.results import NOTHING
from quarry.campaigns.tools import STEP, CampaignToolset
from quarry.models.interface import Message
from quarry.models.step import TextFilter
from quarry.platform.links import ALWAYS, LinkFilter, said_in
from quarry.platform.off_loop import off_loop
from quarry.streaming.events import (
    Event,
    ToolCalled,
    ToolCallEvent,
)
from quarry.verification.check import Verification, Verifier
from quarry.verification.trust import SourceText

MAX_TURNS = 5
"""Model turns for one answer. The last has no tools, so that the model must answer."""
OBSERVED_IDS = 50


@dataclass
class Written:
    """An answer that a model writes, in progress."""

    request: ChatRequest
    toolset: CampaignToolset
    answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = answer_with(self.toolset, STEP, MAX_TURNS, self._filters, self._verifier)

    async def answered(self) -> AsyncGenerator[Event]:
        """The events of the answer; a model that fails ends it. Raises DatabaseUnavailable."""
        async with aclosing(self.answer.told(await self._messages(), self.toolset.tools())) as happened:
            async for event in happened:
                match event:
                    case ToolStarted(id, tool, arguments):
                        yield ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=_given(arguments)))
                    case ToolFinished():
                        yield self._observed(event)
                    case _ if (told := event_of(event)) is not None:
                        yield told

    async def _messages(self) -> Sequence[Message]:
        toolset, request = self.toolset, self.request
        name, described = toolset.source, ""
        if name is not None:
            sources = await describe_sources(toolset.caller, toolset.services)
            matched = await matched_values(request.message, [name], toolset.asked, toolset.services)
            described = await off_loop(card, {name: sources[name]}, request.message, matched)
        return campaign_messages(request, toolset.known, described, toolset.today)

    def _filters(self, written: WrittenAnswer) -> Sequence[TextFilter]:
        """Only addresses of campaigns that were found stay links."""
        found = {each.id: each for search in self.toolset.searches for each in search.found.campaigns}
        return [LinkFilter({ALWAYS: said_in([each.model_dump() for each in found.values()])})]

    def _observed(self, event: ToolFinished) -> Event:
        found = self.toolset.found_by.get(event.result.text_for_model, NOTHING).campaigns
        return observation(event.id, event.tool, event.result.count, event.result.summary, found)

    def _verifier(self) -> Verifier:
        """What checks the text against the results of tools."""
        toolset = self.toolset
        told = [SourceText(n, "", text) for n, text in enumerate(toolset.said, start=1)]
        asked = [turn.content for turn in self.request.history if turn.role == "user"]
        question = "\n".join([*asked, self.request.message])
        return Verifier(told, toolset.results, question=question, today=toolset.today)

    def checked(self) -> Verification:
        """What the check finds in the text."""
        return self._verifier().verify(self.answer.text)


def observation(id: str, tool: str, count: int, summary: str, found: Sequence[Campaign]) -> ToolObservationEvent:
    """The event for a tool's result."""
    ids = [campaign.id for campaign in found[:OBSERVED_IDS]]
    return ToolObservationEvent(data=ToolObserved(id=id, tool=tool, count=count, summary=summary, campaign_ids=ids))


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value != []}
