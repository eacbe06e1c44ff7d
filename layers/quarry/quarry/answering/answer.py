"""An answer while a model writes it, the same behind every door: what is answer and what is talk between two calls, held back
until that is known; the citations and links that may leave; and what is no answer at all.

A domain brings its messages, its tools and the filters for its text, and turns what happens here into its own events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from quarry.answering.loop import Text, Tool, ToolFinished, ToolProgress, ToolStarted, TurnEnded, converse
from quarry.answering.repeated import Repeated, check_loop
from quarry.answering.written import WrittenAnswer
from quarry.models.interface import Message
from quarry.models.step import TextFilter
from quarry.platform.errors import ModelError, ModelOutputInvalid
from quarry.platform.off_loop import off_loop
from quarry.runs.run_log import Run

BROKEN_OFF = "\n\n"
"""Stands between a text that broke off and what follows it."""


@dataclass(frozen=True)
class Began:
    """The first piece of the text follows: what it rests on is known now, as far as its first line says."""

    written: WrittenAnswer


@dataclass(frozen=True)
class Said:
    """The next piece of the text."""

    piece: str


Told = ToolStarted | ToolProgress | ToolFinished | Began | Said


def _never(text: str) -> bool:
    return False


def _no_fault(text: str) -> str:
    return ""


@dataclass
class Answer:
    """The answer of one run, led by a model. `text` is what was sent so far; `failed` says that the model did not finish it.

    `filters` are what the text passes through, made when its first piece is known. Text that `cites` a source is part of an
    answer, whatever follows it. `verify` is asked about the whole text at its end and names a fault for which it is no answer.
    `has_found`: whether a tool has found something.
    """

    run: Run
    step_name: str
    max_turns: int
    filters: Callable[[WrittenAnswer], Sequence[TextFilter]]
    cites: Callable[[str], bool] = _never
    verify: Callable[[str], str] = _no_fault
    has_found: Callable[[], bool] = lambda: False
    text: str = ""
    written: WrittenAnswer = field(default_factory=WrittenAnswer)
    has_begun: bool = False
    failed: bool = False
    _through: Sequence[TextFilter] = ()
    _held: str = ""
    _has_called: bool = False

    async def told(self, messages: Sequence[Message], tools: Sequence[Tool]) -> AsyncGenerator[Told]:
        """The calls of tools and the text, as they come. A model that fails ends it, before the text or after a part of it.
        Raises DatabaseUnavailable.
        """
        try:
            async with aclosing(self._told(messages, tools)) as events:
                async for event in events:
                    yield event
        except ModelError:
            self.failed = True
            self.run.degrade(self.step_name)
            if self.has_begun and (rest := await off_loop(self._released)):
                self.text += rest
                yield Said(rest)

    async def _told(self, messages: Sequence[Message], tools: Sequence[Tool]) -> AsyncGenerator[Told]:
        conversation = converse(
            messages, tools, self.run, step_name=self.step_name, max_turns=self.max_turns, has_found=self.has_found
        )
        repeated = await off_loop(Repeated, [each.content for each in messages if each.role == "system"])
        async with aclosing(conversation) as happened:
            async for event in happened:
                match event:
                    case Text(piece):
                        for said in await self._read(piece, repeated):
                            yield said
                        # let each piece leave before the next
                        await asyncio.sleep(0)
                    case TurnEnded(called=True):
                        for said in await self._next_turn():
                            yield said
                    case TurnEnded():
                        for said in await self._ended(repeated):
                            yield said
                    case _:
                        yield event

    async def _read(self, piece: str, repeated: Repeated) -> Iterable[Told]:
        """What a piece of the model's text brings. What it writes before its first call is no answer, unless it has the form of
        one or cites a source: it is held back until that is known, or the turn ends.
        """
        check_loop(self.text + self._held)
        text = self._held + self.written.feed(piece)
        is_known = self._has_called or self.has_begun or self.written.kept is not None
        is_answer = is_known or self.cites(text)
        if not self.has_begun and repeated.may_be(text):
            is_answer = False
            repeated.check(text)
        self._held = "" if is_answer else text
        return await self._sent(text) if is_answer else ()

    async def _next_turn(self) -> Iterable[Told]:
        """The turn called tools. Text held back was no answer, and text after an answer begins a paragraph."""
        self._has_called, self._held = True, ""
        if self.has_begun:
            return await self._sent("\n\n")
        self.written = WrittenAnswer()
        return ()

    async def _ended(self, repeated: Repeated) -> Sequence[Told]:
        """The rest of the text."""
        text = self._held + self.written.finish()
        if not self.has_begun:
            repeated.check(text)
        told = [*await self._sent(text)]
        if not self.has_begun:
            raise ModelOutputInvalid("The model wrote no answer.")
        if rest := await off_loop(self._released):
            self.text += rest
            told.append(Said(rest))
        if fault := await off_loop(self.verify, self.text):
            raise ModelOutputInvalid(fault)
        return told

    async def _sent(self, text: str) -> Iterable[Told]:
        """The events of more of the text."""
        told: list[Told] = []
        if not self.has_begun:
            text = text.lstrip()
            if not text:
                return told
            self.has_begun = True
            self._through = await off_loop(self.filters, self.written)
            told.append(Began(self.written))
        for each in self._through:
            text = each.feed(text)
        self.text += text
        return [*told, Said(text)] if text else told

    def _released(self) -> str:
        """The text that the filters still hold back."""
        text = ""
        for each in self._through:
            text = (each.feed(text) if text else "") + each.finish()
        return text
