"""An answer in a chat that a model leads: the conversation before it, the addresses that stay links, and what checks its text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

from quarry.answering.answer import Answer, AnswerEvent
from quarry.answering.toolset import Toolset, answer_with, event_of, events_of
from quarry.answering.written import WrittenAnswer, answer_messages, earlier
from quarry.models.step import TextFilter
from quarry.platform.text import ALWAYS, LinkFilter, said_in
from quarry.streaming.events import Event
from quarry.verification.check import Verifier
from quarry.verification.wire import SourceText

Tools = TypeVar("Tools", bound=Toolset)


class ChatTurn(Protocol):
    """One message of a chat."""

    @property
    def role(self) -> Literal["user", "assistant"]: ...

    @property
    def content(self) -> str: ...


@dataclass
class ChatAnswer(ABC, Generic[Tools]):
    """An answer that a model writes with the tools of a domain, in progress. `history` are the messages before the question.

    A domain says `about` what its data is, adds `notes` for the model, and says how the text is to `cite` rows. At most
    `max_turns` turns of the model make the answer, and `history_max` earlier messages are shown to it.
    """

    step: ClassVar[str]
    max_turns: ClassVar[int]
    history_max: ClassVar[int]
    about: ClassVar[str]
    notes: ClassVar[str]
    cite: ClassVar[str]

    question: str
    history: Sequence[ChatTurn]
    toolset: Tools
    answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = answer_with(self.toolset, self.step, self.max_turns, self._filters, self._verifier)

    # ---- what a domain says ----

    @abstractmethod
    async def card(self) -> str:
        """The data in words for the model."""

    @abstractmethod
    def texts(self) -> Iterable[object]:
        """What the tools found. Only addresses in it stay links."""

    def sources(self) -> Sequence[SourceText]:
        """What the text is checked against, apart from the results of the toolset."""
        return ()

    @property
    def facts(self) -> str:
        """The filters that the user set."""
        return ""

    @property
    def leads(self) -> str:
        """What is known of the question before a tool is called."""
        return ""

    def event(self, happened: AnswerEvent) -> Event | None:
        """The event that the client gets; None for none."""
        return event_of(happened)

    # ---- the answer ----

    async def events(self) -> AsyncGenerator[Event]:
        """The events of the answer; a model that fails ends it. Raises DatabaseUnavailable."""
        messages = answer_messages(
            self.question,
            [earlier(turn.role, turn.content) for turn in self.history[-self.history_max :]],
            about=self.about,
            card=await self.card(),
            today=self.toolset.today,
            notes=self.notes,
            cite=self.cite,
            facts=self.facts,
            hits=self.leads,
        )
        async with aclosing(events_of(self.answer, messages, self.toolset.tools(), self.event)) as events:
            async for event in events:
                yield event

    def _filters(self, written: WrittenAnswer) -> Sequence[TextFilter]:
        return [LinkFilter({ALWAYS: said_in([*self.texts()])})]

    def _verifier(self) -> Verifier:
        questions = [turn.content for turn in self.history if turn.role == "user"]
        answers = [turn.content for turn in self.history if turn.role == "assistant"]
        question = "\n".join([*questions, self.question])
        return self.toolset.verifier(self.sources(), question, about=self.about, earlier=answers)
