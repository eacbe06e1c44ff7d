"""Answers with a model: it calls tools, and writes from their results."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from quarry.agent.loop import Text, ToolFinished, ToolStarted, TurnEnded, converse
from quarry.agent.reading import matched_values
from quarry.agent.sources import card, describe_sources
from quarry.campaigns.contract import (
    Campaign,
    ChatRequest,
    ToolCalled,
    ToolCallEvent,
    ToolObservationEvent,
    ToolObserved,
)
from quarry.campaigns.prompts import LOOK_FIRST, answer_messages
from quarry.campaigns.results import NOTHING
from quarry.campaigns.tools import STEP, CampaignToolset
from quarry.language.numerals import SaidText, sentences_with_own_numbers
from quarry.models.interface import Message
from quarry.platform.errors import ModelError
from quarry.platform.links import ALWAYS, LinkFilter, said_in
from quarry.platform.off_loop import off_loop
from quarry.streaming.events import Event, PartialText, PartialTextEvent

MAX_TURNS = 5
"""Model turns for one answer. The last has no tools, so that the model must answer."""
OBSERVED_IDS = 50
PARAGRAPH = "\n\n"


@dataclass
class Led:
    """An answer in progress. `text` is what was sent so far: nothing before a tool has returned data."""

    request: ChatRequest
    toolset: CampaignToolset
    text: str = ""
    is_grounded: bool = False
    _links: LinkFilter | None = None

    async def answered(self) -> AsyncGenerator[Event]:
        """The events of the answer. Raises ModelError, perhaps after a part, and DatabaseUnavailable."""
        conversation = converse(
            await self._messages(),
            self.toolset.tools(),
            self.toolset.run,
            step_name=STEP,
            max_turns=MAX_TURNS,
            look_first=LOOK_FIRST,
        )
        try:
            async with aclosing(conversation) as happened:
                async for event in happened:
                    match event:
                        case Text(piece):
                            said = self._sent(await self._checked(piece)) if self.is_grounded else []
                            # let each piece leave before the next
                            await asyncio.sleep(0)
                        case TurnEnded(called):
                            said = self._turn_ended(is_last=not called)
                        case ToolStarted(id, tool, arguments):
                            said = [ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=_given(arguments)))]
                        case ToolFinished():
                            said = [self._observed(event)]
                    for each in said:
                        yield each
        except ModelError:
            for each in self._turn_ended(is_last=True):
                yield each
            raise

    async def _messages(self) -> Sequence[Message]:
        toolset, request = self.toolset, self.request
        name, described = toolset.source, ""
        if name is not None:
            sources = await describe_sources(toolset.caller, toolset.services)
            matched = await matched_values(request.message, [name], toolset.asked, toolset.services)
            described = await off_loop(card, {name: sources[name]}, request.message, matched)
        return answer_messages(request, toolset.known, described)

    async def _checked(self, piece: str) -> str:
        """The text that can be sent now. Only addresses of campaigns found earlier stay links."""
        if self._links is None:
            self._links = await off_loop(self._link_filter)
        return self._links.feed(piece)

    def _link_filter(self) -> LinkFilter:
        found = {each.id: each for search in self.toolset.searches for each in search.found.campaigns}
        return LinkFilter({ALWAYS: said_in([each.model_dump() for each in found.values()])})

    def _turn_ended(self, *, is_last: bool) -> list[Event]:
        """The rest of the turn's text. The next turn begins a new paragraph."""
        if self._links is None:
            return []
        said = self._links.finish()
        self._links = None
        return self._sent(said if is_last else said + PARAGRAPH)

    def _sent(self, piece: str) -> list[Event]:
        piece = piece if self.text else piece.lstrip()
        self.text += piece
        return [PartialTextEvent(data=PartialText(text=piece))] if piece else []

    def _observed(self, event: ToolFinished) -> Event:
        self.is_grounded = self.is_grounded or event.result.is_of_data
        found = self.toolset.found_by.get(event.result.text_for_model, NOTHING).campaigns
        return observation(event.id, event.tool, event.result.count, event.result.summary, found)

    def unsupported(self) -> list[str]:
        """The sentences with a number that neither a result nor the question contains."""
        asked = (turn.content for turn in self.request.history if turn.role == "user")
        known = SaidText("\n".join([*self.toolset.said, *asked, self.request.message]))
        return sentences_with_own_numbers(self.text, known)


def observation(id: str, tool: str, count: int, summary: str, found: Sequence[Campaign]) -> ToolObservationEvent:
    """The event for a tool's result."""
    ids = [campaign.id for campaign in found[:OBSERVED_IDS]]
    return ToolObservationEvent(data=ToolObserved(id=id, tool=tool, count=count, summary=summary, campaign_ids=ids))


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value != []}
