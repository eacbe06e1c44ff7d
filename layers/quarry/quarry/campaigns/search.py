"""Answering a question about campaigns, as a stream of events.

Read `chat_about_campaigns` from top to bottom. The model calls its tools and writes; without a model, or if it looked nothing up,
the reader answers. The final event has the campaigns that the answer names.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from uuid import UUID

from quarry.agent.sources import what_may_be_asked
from quarry.campaigns.answer import conclude
from quarry.campaigns.by_model import MAX_TURNS, PARAGRAPH, Led
from quarry.campaigns.by_reader import Read
from quarry.campaigns.checks import check_constraints, check_filters
from quarry.campaigns.conditions import from_wire
from quarry.campaigns.contract import ChatRequest, FinalAnswerEvent
from quarry.campaigns.results import KnownValues
from quarry.campaigns.retrieval import known_values
from quarry.campaigns.tools import STEP, CampaignToolset
from quarry.platform.budget import Budget
from quarry.platform.errors import ModelError
from quarry.platform.off_loop import off_loop
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent

MAX_CALLS = 12
ANSWER_RESERVE_SECONDS = 10.0
VALUES_KEPT_SECONDS = 60.0


async def chat_about_campaigns(
    request: ChatRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does.

    Raises InvalidInput when the page's filters name what does not exist.
    """
    budget, said = _budget(services), request.as_asked()
    with services.run("campaigns", caller, request.message, said, budget, request_id, run_id) as run:
        known = await values_of(services)
        base = await check_filters(request, known, services.reader)
        request = await check_constraints(request, services.reader)
        asked = await what_may_be_asked(caller, services)
        toolset = CampaignToolset(services, caller, run, known, asked, base)
        if request.constraints is not None:
            toolset.given = from_wire(request.constraints.conditions, "required")
            toolset.preferred = from_wire(request.constraints.conditions, "preferred")
        led, read = Led(request, toolset), Read(request, toolset)
        if run.chat is not None:
            try:
                async with aclosing(led.answered()) as events:
                    async for event in events:
                        yield event
            except ModelError:
                led.is_grounded = False
            if not led.is_grounded:
                run.degrade(STEP)
        if run.chat is None or not led.is_grounded:
            if led.text:
                yield PartialTextEvent(data=PartialText(text=PARAGRAPH))
            async with aclosing(read.answered()) as events:
                async for event in events:
                    yield event
        text = PARAGRAPH.join(filter(None, (led.text, read.text)))
        unsupported = await off_loop(led.unsupported)
        yield FinalAnswerEvent(data=await conclude(request, toolset, read.question, text, unsupported))


async def values_of(services: Services) -> KnownValues:
    """The known values of filters, looked up once a minute."""
    look_up = partial(known_values, services.reader)
    known = await services.memory.read("campaign values", look_up, seconds=VALUES_KEPT_SECONDS)
    # an empty table may be filled at any moment
    return known or await look_up()


def _budget(services: Services) -> Budget:
    settings = services.settings
    return Budget(
        max_turns=MAX_TURNS,
        max_calls=MAX_CALLS,
        max_seconds=settings.campaigns_chat_seconds,
        max_tokens=settings.campaigns_chat_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.campaigns_chat_seconds / 2),
    )
