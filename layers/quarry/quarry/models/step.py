"""A model step: something that a model decides or writes, with a fallback that needs no model."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from pydantic import BaseModel

from quarry.models.interface import ChatModel, Message, ToolCall, ToolDefinition, Usage
from quarry.platform.errors import ModelError, ModelOutputInvalid, ModelUnavailable
from quarry.platform.off_loop import off_loop
from quarry.runs.run_log import Run, StepRecord

Inputs = TypeVar("Inputs")
Output = TypeVar("Output", bound=BaseModel)

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
    step as degraded in `run`; this never raises a ModelError.
    """
    with run.step(step.name) as record:
        if run.chat is None:
            return await off_loop(step.fallback, inputs)
        failure: ModelError | None = None
        if run.budget.allows_turn():
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
    asked = (step.name, tuple(messages))
    if asked in run.decided:
        record.counts["asked_before"] = 1
        return cast(Output, run.decided[asked])
    try:
        output = await _ask_once(step, messages, run, chat, record)
    except ModelOutputInvalid as error:
        if not run.budget.allows_turn():
            raise
        repair = Message("user", REPAIR_REQUEST.format(problem=error.message))
        output = await _ask_once(step, [*messages, repair], run, chat, record)
    run.decided[asked] = output
    return output


async def _ask_once(
    step: ModelStep[Inputs, Output], messages: Sequence[Message], run: Run, chat: ChatModel, record: StepRecord
) -> Output:
    run.budget.spend_turn()
    answer = await chat.decide(messages, name=step.name, output_type=step.output, seconds=run.budget.seconds_for_work)
    run.budget.tokens += answer.usage.total
    record.usage += answer.usage
    return answer.output


async def write(
    name: str,
    run: Run,
    messages: Callable[[], Sequence[Message]] | None,
    by_rule: Callable[[], Iterable[str]],
    *,
    broken_off: str,
    checked: Callable[[AsyncGenerator[str]], AsyncGenerator[str]] | None = None,
) -> AsyncGenerator[str]:
    """A text as it comes: the model's answer to `messages`, filtered by `checked`, or without a model or messages the pieces of
    `by_rule`. If the model fails or writes only blanks, these follow what it wrote and `broken_off`, and the step is marked as
    degraded.
    """
    with run.step(name) as record:
        written = ""
        if run.chat is not None and messages is not None:
            try:
                said = text_of(streamed(await off_loop(messages), run, record))
                async with aclosing(checked(said) if checked else said) as pieces:
                    async for piece in pieces:
                        written += piece
                        yield piece
                if not written.strip():
                    raise ModelOutputInvalid("The model wrote nothing.")
                record.counts["characters"] = len(written)
                return
            except ModelError as error:
                run.degrade(name, record, error)
        if written.strip():
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


async def filtered(through: TextFilter, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """The text that the filter returns for these pieces."""
    async with aclosing(pieces):
        async for piece in pieces:
            if passed := through.feed(piece):
                yield passed
    if rest := through.finish():
        yield rest


async def streamed(
    messages: Sequence[Message],
    run: Run,
    record: StepRecord,
    *,
    tools: Sequence[ToolDefinition] = (),
    seconds: float = math.inf,
) -> AsyncGenerator[str | tuple[ToolCall, ...]]:
    """One turn of the model: the pieces of its text, then the tools that it calls, if any.

    It takes at most `seconds`, and may use the time that the budget keeps for the answer. Its tokens count in `record` and in the
    budget, even if it breaks off.

    Raises ModelError, before a piece or after some, also if there is no model or no time left.
    """
    seconds = min(seconds, run.budget.seconds_left)
    if run.chat is None or not seconds:
        raise ModelUnavailable("The search's time is spent.")
    run.budget.spend_turn()
    usage = Usage()
    try:
        async with aclosing(run.chat.stream(messages, tools=tools, seconds=seconds)) as parts:
            async for part in parts:
                if isinstance(part, Usage):
                    usage = part
                else:
                    yield part
    finally:
        record.usage += usage
        run.budget.tokens += usage.total


async def text_of(turn: AsyncGenerator[str | tuple[ToolCall, ...]]) -> AsyncGenerator[str]:
    """The pieces of text of a turn."""
    async with aclosing(turn):
        async for part in turn:
            if isinstance(part, str):
                yield part
