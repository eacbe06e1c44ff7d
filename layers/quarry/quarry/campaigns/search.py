"""Answering a question about campaigns, as a stream of events.

Read `chat_about_campaigns` from top to bottom. The model calls its tools and writes; without a model, and where it fails, the
reader answers. The final event has the campaigns that the answer speaks of.
"""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from uuid import UUID

from quarry.agent.sources import data_access
from quarry.answering.answer import BROKEN_OFF
from quarry.campaigns.answer import conclude
from quarry.campaigns.by_reader import ReaderAnswer
from quarry.campaigns.conditions import NAME
from quarry.campaigns.contract import ChatRequest, FinalAnswerEvent
from quarry.campaigns.results import KnownValues
from quarry.campaigns.retrieval import known_values
from quarry.campaigns.tools import CampaignToolset, check_filters, check_understood
from quarry.campaigns.written import MAX_TURNS, ModelAnswer
from quarry.language.messages import in_language_of_question
from quarry.platform.budget import Budget
from quarry.platform.off_loop import off_loop
from quarry.query.describe import ending
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent

MAX_CALLS = 12
VALUES_KEPT_SECONDS = 60.0


@in_language_of_question
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
    settings = services.settings
    budget = Budget.for_answer(MAX_TURNS, MAX_CALLS, settings.campaigns_chat_seconds, settings.campaigns_chat_tokens)
    stated = request.as_asked()
    with services.run("campaigns", caller, request.message, stated, budget, request_id, run_id) as run:
        values = await values_of(services)
        base = await check_filters(request, values, services.reader)
        request = await check_understood(request, services.reader)
        access = await data_access(caller, services)
        name = access.name_of(NAME, NAME)
        toolset = CampaignToolset(
            services=services,
            caller=caller,
            run=run,
            access=access,
            # relative days count from the latest capture, since campaigns are collected, not live
            today=values.latest or datetime.datetime.now(datetime.UTC).date(),
            names=[name] if name is not None else [],
            values=values,
            base=base,
        )
        if request.understood is not None:
            toolset.requested = (*request.understood.query.where, *request.understood.assumed)
            toolset.preferred = request.understood.preferred
        written, read = ModelAnswer(request, toolset), ReaderAnswer(request, toolset)
        answer = written.answer
        if run.chat is not None:
            async with aclosing(written.answered()) as events:
                async for event in events:
                    yield event
        if run.chat is None or answer.failed:
            if answer.text:
                yield PartialTextEvent(data=PartialText(text=BROKEN_OFF))
            async with aclosing(read.answered()) as events:
                async for event in events:
                    yield event
        text = BROKEN_OFF.join(filter(None, (answer.text, read.text)))
        checked = await off_loop(answer.checked)
        by_model = None if read.text else answer.written
        data = await conclude(request, toolset, read.question, by_model, text, checked)
        for event in ending(FinalAnswerEvent(data=data), data.understood):
            yield event


async def values_of(services: Services) -> KnownValues:
    """The known values of filters, looked up once a minute."""
    look_up = partial(known_values, services.reader)
    values = await services.memory.read("campaign values", look_up, seconds=VALUES_KEPT_SECONDS)
    # an empty table may be filled at any moment
    return values or await look_up()
