"""A model step: something that a model decides or writes, with a fallback that needs no model."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from pydantic import BaseModel

from quarry.models.interface import ChatModel, Message, StreamPart, ToolCall, ToolDefinition, Usage
from quarry.platform.budget import Budget, in_time
from quarry.platform.errors import ModelError, ModelOutputInvalid, ModelTimedOut, ModelUnavailable, TimeIsUp
from quarry.platform.off_loop import off_loop
from quarry.runs.run_log import Run, StepRecord

Inputs = TypeVar("Inputs")
Output = TypeVar("Output", bound=BaseModel)

CHARACTERS_OF_A_TOKEN = 4
REPAIR_REQUEST = "That output was not valid: {problem}. Answer again with the corrected JSON object and nothing else."


@dataclass(frozen=True)
class ModelStep(Generic[Inputs, Output]):
    """`name` is also the name of the JSON schema on the wire and of the step in the run log."""

    name: str
    prompt: Callable[[Inputs], Sequence[Message]]
    output: type[Output]
    fallback: Callable[[Inputs], Output]


async def decide(step: ModelStep[Inputs, Output], inputs: Inputs, run: Run) -> Output:
    """The model's decision, or the fallback's output if there is no model, no budget, or no valid output.

    An invalid output is sent back once with the problem. The same question is asked only once in a run. A failing model marks the
    step as degraded in `run`; this never raises a ModelError. A model that was too slow once is not asked again in the run. The
    time of a valid decision leaves that of later calls as it is.
    """
    with run.step(step.name) as record:
        if run.chat is None:
            return await off_loop(step.fallback, inputs)
        failure: ModelError | None = ModelTimedOut() if run.has_timed_out else None
        if failure is None and run.budget.allows_turn():
            try:
                return await _ask(step, inputs, run, run.chat, record)
            except ModelError as error:
                failure = error
        run.degrade(step.name, record, failure)
        return await off_loop(step.fallback, inputs)


async def _ask(
    step: ModelStep[Inputs, Output], inputs: Inputs, run: Run, chat: ChatModel, record: StepRecord
) -> Output:
    messages = list(await off_loop(step.prompt, inputs))
    key = (step.name, tuple(messages))
    if key in run.decided:
        record.counts["asked_before"] = 1
        return cast(Output, run.decided[key])
    try:
        output = await _ask_once(step, messages, run, chat, record)
    except ModelOutputInvalid as error:
        if not run.budget.allows_turn():
            raise
        repair = Message("user", REPAIR_REQUEST.format(problem=error.message))
        output = await _ask_once(step, [*messages, repair], run, chat, record)
    run.decided[key] = output
    return output


async def _ask_once(
    step: ModelStep[Inputs, Output], messages: Sequence[Message], run: Run, chat: ChatModel, record: StepRecord
) -> Output:
    budget, usage = run.budget, _about(messages)
    budget.spend_turn()
    record.counts["cut_off"] = record.counts.get("cut_off", 0) + 1
    waited, seconds = budget.waited, min(budget.seconds_for_work, budget.model_seconds)
    try:
        with budget.waiting():
            answer = await chat.decide(messages, name=step.name, output_type=step.output, seconds=seconds)
        budget.waited, usage = waited, answer.usage
        _ended(record)
    except ModelTimedOut:
        run.has_timed_out = True
        raise
    except ModelError:
        usage = Usage()
        _ended(record)
        raise
    finally:
        budget.tokens += usage.total
        record.usage += usage
    return answer.output


def _about(messages: Sequence[Message], characters: int = 0) -> Usage:
    """The tokens of a call that was cut off, of which no server tells: about one for four characters."""
    prompt_characters = sum(len(message.content) for message in messages)
    return Usage(prompt_characters // CHARACTERS_OF_A_TOKEN, characters // CHARACTERS_OF_A_TOKEN)


def _ended(record: StepRecord) -> None:
    """A call that was counted as cut off has ended by itself."""
    record.counts["cut_off"] -= 1
    if not record.counts["cut_off"]:
        del record.counts["cut_off"]


async def write(
    name: str,
    run: Run,
    messages: Callable[[], Sequence[Message]] | None,
    by_rule: Callable[[], Iterable[str]],
    *,
    broken_off: str,
) -> AsyncGenerator[str]:
    """A text as it comes: the model's answer to `messages`, or without a model or messages the pieces of
    `by_rule`. If the model fails or writes only blanks, these follow what it wrote and `broken_off`, and the step is marked as
    degraded.
    """
    with run.step(name) as record:
        text = ""
        if run.chat is not None and messages is not None:
            try:
                async with aclosing(text_of(streamed(await off_loop(messages), run, record))) as pieces:
                    async for piece in pieces:
                        text += piece
                        yield piece
                if not text.strip():
                    raise ModelOutputInvalid("The model wrote nothing.")
                record.counts["characters"] = len(text)
                return
            except ModelError as error:
                run.degrade(name, record, error)
        if text.strip():
            yield broken_off
        for piece in await off_loop(lambda: [*by_rule()]):
            yield piece
            # send each piece before the next
            await asyncio.sleep(0)


class TextFilter(Protocol):
    """Checks a text that comes in pieces."""

    def feed(self, piece: str, /) -> str:
        """The text that can be sent now."""
        ...

    def finish(self) -> str:
        """The rest, once no more pieces come."""
        ...


async def streamed(
    messages: Sequence[Message],
    run: Run,
    record: StepRecord,
    *,
    tools: Sequence[ToolDefinition] = (),
    seconds: float = math.inf,
) -> AsyncGenerator[str | tuple[ToolCall, ...]]:
    """One turn of the model: the pieces of its text, then the tools that it calls, if any.

    It takes at most `seconds`, and may use the time that the budget keeps for the answer. Its time and tokens count in the
    budget, the tokens also in `record`, about so many if it was cut off.

    Raises ModelError, before a piece or after some, also if there is no model, no time left, or the model was too slow before.
    """
    budget = run.budget
    if run.has_timed_out or (budget.seconds_left and not budget.model_seconds):
        raise ModelTimedOut
    seconds = min(seconds, budget.seconds_left)
    if run.chat is None or not seconds:
        raise ModelUnavailable("The search's time is spent.")
    budget.spend_turn()
    usage: Usage | None = None
    characters, is_over = 0, False
    try:
        async with aclosing(run.chat.stream(messages, tools=tools, seconds=seconds)) as parts:
            while (part := await _next(parts, budget)) is not None:
                if isinstance(part, Usage):
                    usage = part
                else:
                    characters += len(part) if isinstance(part, str) else 0
                    yield part
        is_over = True
    except ModelTimedOut:
        run.has_timed_out = True
        raise
    except ModelError:
        is_over = True
        raise
    finally:
        if not is_over:
            record.counts["cut_off"] = 1
            usage = usage or _about(messages, characters)
        record.usage += usage or Usage()
        budget.tokens += usage.total if usage else 0


async def _next(parts: AsyncGenerator[StreamPart], budget: Budget) -> StreamPart | None:
    """The next part of a turn, None at its end. The reader's time between two parts is not the model's. Raises ModelError."""
    try:
        async with in_time(budget.model_seconds):
            with budget.waiting():
                return await anext(parts, None)
    except TimeIsUp:
        raise ModelTimedOut from None


async def text_of(turn: AsyncGenerator[str | tuple[ToolCall, ...]]) -> AsyncGenerator[str]:
    """The pieces of text of a turn."""
    async with aclosing(turn):
        async for part in turn:
            if isinstance(part, str):
                yield part
