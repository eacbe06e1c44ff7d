"""Answering with a model that leads: it asks the tools what it needs, and writes from what they found.

Nothing made by rule stands before its answer. Where it fails before it wrote anything, the answer by rule serves.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncGenerator, Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from quarry.agent.loop import Text, ToolFinished, ToolStarted, TurnEnded, converse
from quarry.agent.reading import matched_values
from quarry.agent.results import result_text
from quarry.agent.service import answer_query
from quarry.agent.sources import card, stems_of, what_may_be_asked
from quarry.models.interface import Message
from quarry.platform.errors import InvalidInput, ModelError
from quarry.platform.links import LinkFilter, plain_links
from quarry.platform.off_loop import off_loop
from quarry.platform.text import shorten, significant_words
from quarry.postgres.failures import UNREADABLE
from quarry.query.contract import QueryResult
from quarry.records.answer_cache import (
    AskedQuery,
    Begun,
    FinishedAnswer,
    KeptAnswer,
    Keys,
    cited_of,
    confidence,
    kept_label,
)
from quarry.records.answerability import FOLLOWUP_CHARACTERS_MAX, answered, filled_up, suggest_followups
from quarry.records.citations import CitationFilter
from quarry.records.contract import (
    AnswerChunkEvent,
    ConfidenceEvent,
    Source,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.records.evidence import SOURCES_MAX, EvidenceSource, aggregation_of
from quarry.records.extraction import BROKEN_OFF, Facts, candidates, chosen, quoted
from quarry.records.finding import SearchToolset
from quarry.records.prompts import WrittenAnswer, answer_messages
from quarry.records.research import STEP, Research
from quarry.records.scope import Conversation
from quarry.records.support import Support, denials_cite, support
from quarry.streaming.events import Event

COUNTED = "counted on the records"
ByRule = Callable[[Begun], AsyncGenerator[Event]]
CITATION_CHARACTERS_MAX = 8
"""Length of a citation such as `[12]`."""


async def answered_by_model(begun: Begun, max_turns: int, by_rule: ByRule) -> AsyncGenerator[Event]:
    """The events of an answer that a model gives, after the first search; where it fails before it wrote anything, those of the
    answer `by_rule`. Raises DatabaseUnavailable.
    """
    asked = await what_may_be_asked(begun.caller, begun.toolset.services)
    today, is_open = datetime.datetime.now(datetime.UTC).date(), not begun.asked.request.types
    led = Led(begun, Research(begun.toolset, asked, today, is_open), by_rule)
    keys = begun.keys("model")
    kept = await begun.kept(keys)
    current = await led.current(kept) if kept is not None else None
    if kept is not None and current is not None:
        for again in begun.given_again(kept, aggregation_of(current), _kept_trust(kept.finished)):
            yield again
        return
    async with aclosing(led.answered(keys, max_turns)) as events:
        async for event in events:
            yield event


@dataclass
class Led:
    """An answer led by a model, while it is written. `answer` is the text sent so far."""

    begun: Begun
    research: Research
    by_rule: ByRule
    answer: str = ""
    written: WrittenAnswer = field(default_factory=WrittenAnswer)
    sent: Sequence[EvidenceSource] | None = None
    """The sources that were sent, once the answer has begun."""
    _filters: tuple[CitationFilter, LinkFilter] | None = None
    _held: str = ""
    _names: frozenset[str] = frozenset()
    """The stems of the names of sources and fields."""
    _has_called: bool = False

    async def answered(self, keys: Keys, max_turns: int) -> AsyncGenerator[Event]:
        """The events of a new answer."""
        begun = self.begun
        try:
            async with aclosing(self._conversation(max_turns)) as events:
                async for event in events:
                    yield event
        except ModelError:
            if self.sent is None:
                async with aclosing(self.by_rule(begun)) as events:
                    async for event in events:
                        yield event
                return
            for event in await off_loop(self._broken_off):
                yield event
        async with aclosing(self._ending(keys)) as events:
            async for event in events:
                yield event

    async def _conversation(self, max_turns: int) -> AsyncGenerator[Event]:
        """The model's calls, and its answer as it comes."""
        messages = await self._messages()
        conversation = converse(
            messages, self.research.tools(), self.begun.toolset.run, step_name=STEP, max_turns=max_turns
        )
        async with aclosing(conversation) as happened:
            async for event in happened:
                match event:
                    case Text(piece):
                        said = self._read(piece)
                        # let each piece leave before the next
                        await asyncio.sleep(0)
                    case TurnEnded(called):
                        said = (
                            self._next_turn() if called else self._say(self._held + self.written.finish(), is_last=True)
                        )
                    case ToolStarted(id, tool, arguments):
                        said = [ToolCallEvent(id=id, tool=tool, arguments=arguments)]
                    case ToolFinished(id, tool, result):
                        said = [ToolObservationEvent(id=id, tool=tool, count=result.count, summary=result.summary)]
                for each in said:
                    yield each

    def _read(self, piece: str) -> list[Event]:
        """What a piece of the model's text brings. What it writes before its first call is no answer, unless it has the form of
        one or cites a source: it is held back until that is known, or the turn ends.
        """
        text = self._held + self.written.feed(piece)
        is_known = self._has_called or self.sent is not None or self.written.kept is not None
        is_answer = is_known or self._cites(text[max(0, len(self._held) - CITATION_CHARACTERS_MAX) :])
        self._held = "" if is_answer else text
        return self._say(text) if is_answer else []

    def _cites(self, text: str) -> bool:
        return any(f"[{source.n}]" in text for source in self.begun.toolset.evidence.sources)

    def _next_turn(self) -> list[Event]:
        """The turn called tools. Text held back was no answer, and text after an answer begins a paragraph."""
        self._has_called, self._held = True, ""
        if self.sent is not None:
            return self._say("\n\n")
        self.written = WrittenAnswer()
        return []

    async def _messages(self) -> Sequence[Message]:
        begun, research = self.begun, self.research
        question = begun.asked.conversation.question
        described = await research.described()
        matched = await matched_values(question, research.names, research.asked, begun.toolset.services)
        self._names = await off_loop(stems_of, described.values())
        history = begun.asked.request.recent_history
        # a question that follows others names fewer things
        talk = " ".join([*(turn.question for turn in history if turn.question), question])
        label = begun.asked.told.label if begun.asked.told else ""

        def written() -> Sequence[Message]:
            described_card = card(described, talk, matched)
            return answer_messages(
                question, history, begun.toolset.evidence.sources, described_card, label, research.today
            )

        return await off_loop(written)

    def _say(self, text: str, *, is_last: bool = False) -> list[Event]:
        """The events of more of the answer; before its first piece, the sources that it may cite and the last numbers."""
        events: list[Event] = []
        if self._filters is None and (text.strip() or is_last):
            self.sent = self._kept_sources()
            said = {each.n: " ".join((each.text.title, each.text.body, each.text.url or "")) for each in self.sent}
            # the sources that a model names are taken as those of its answer
            is_named = self.written.kept is not None
            texts = {each.n: each.text for each in self.sent}
            citations = CitationFilter(said) if is_named else CitationFilter(said, denials_cite(texts))
            self._filters = citations, LinkFilter(said)
            events.append(self.begun.sent(self.sent))
            events += [event for event in [aggregation_of(self._results())] if event is not None]
            text = text.lstrip()
        if self._filters is None:
            return events
        citations, links = self._filters
        chunk = links.feed(citations.feed(text))
        if is_last:
            chunk += self._released() + self.begun.missing
        self.answer += chunk
        return [*events, *([AnswerChunkEvent(chunk=chunk)] if chunk else [])]

    def _released(self) -> str:
        """The text that the filters still hold back."""
        if self._filters is None:
            return ""
        citations, links = self._filters
        return links.feed(citations.finish()) + links.finish()

    def _kept_sources(self) -> list[EvidenceSource]:
        """The sources that the model says it answers from; where it does not say, the first ones."""
        found, kept = self.begun.toolset.evidence.sources, self.written.kept
        return found[:SOURCES_MAX] if kept is None else [source for source in found if source.n in kept]

    def _results(self) -> list[QueryResult]:
        """The results, first the one that the model says it answers from; where it does not say, the latest."""
        results, main = [*self.research.results], self.written.main_result
        place = main - 1 if main is not None and 1 <= main <= len(results) else len(results) - 1
        return [*results[place : place + 1], *results[:place], *results[place + 1 :]]

    def _broken_off(self) -> list[Event]:
        """The rest of an answer whose model failed: the text held back, then the sources' own sentences."""
        question = self.begun.asked.conversation.search_query
        pieces = [self._released(), BROKEN_OFF, *quoted(chosen(candidates(question, self.sent or ())))]
        self.answer += "".join(pieces)
        return [AnswerChunkEvent(chunk=piece) for piece in pieces if piece]

    async def _ending(self, keys: Keys) -> AsyncGenerator[Event]:
        """What supports the answer, how far it can be trusted, what to ask next, and the id that it is kept by."""
        begun, evidence = self.begun, self.sent or ()
        sources = [source.to_source() for source in evidence]
        supported = await off_loop(self._support, evidence)
        trust = _trust(
            sources, supported, begun.toolset.services.embeddings.name, is_partial=bool(begun.asked.left_out)
        )
        own = self.written.followups
        followups = partial(_followups, own, begun.asked.conversation, self.answer, begun.toolset, self._names)
        queries = [AskedQuery.of(each) for each in self._results()]
        ending = begun.ending(self.answer, evidence, supported, trust, followups, keys, queries)
        async with aclosing(ending) as events:
            async for event in events:
                yield event

    def _support(self, evidence: Sequence[EvidenceSource]) -> Support:
        return support(
            self.answer,
            {source.n: source.text for source in evidence},
            (BROKEN_OFF, self.begun.missing),
            question=self.begun.asked.conversation.question,
            results=[result_text(result) for result in self.research.results],
        )

    async def current(self, kept: KeptAnswer) -> list[QueryResult] | None:
        """The results of a kept answer's queries, where they are what they were; else None."""
        results: list[QueryResult] = []
        for each in kept.finished.queries:
            try:
                result = await answer_query(
                    each.query, self.research.asked, self.begun.toolset.services, self.research.today
                )
            except (InvalidInput, *UNREADABLE):
                return None
            if AskedQuery.of(result) != each:
                return None
            results.append(result)
        return results


def _kept_trust(given: FinishedAnswer) -> ConfidenceEvent:
    """How far a kept answer can be trusted, as it was rated then."""
    count = len({citation.n for citation in given.citations})
    label = kept_label(given.confidence, count, has_queries=bool(given.queries))
    return ConfidenceEvent(level=given.confidence, source_count=count, label=label)


def _trust(sources: Sequence[Source], supported: Support, model: str, *, is_partial: bool) -> ConfidenceEvent:
    """How far an answer can be trusted: one that begins with the result of a query by that, which is exact, else by the sources
    that it cites. One from a part of the data is not trusted far.
    """
    cited = cited_of(sources, supported.citations)
    is_counted = supported.leads_with_result or (supported.rests_on_results and not cited and not supported.unsupported)
    return confidence(
        cited,
        COUNTED if is_counted else "",
        model=model,
        is_doubtful=not is_counted and (not cited or is_partial),
        is_partial=bool(supported.unsupported) or is_partial,
    )


async def _followups(
    own: Sequence[str], conversation: Conversation, answer: str, toolset: SearchToolset, names: AbstractSet[str]
) -> list[str]:
    """Two or three questions that the records can answer: those that the model wrote with its answer where it did, else as
    `suggest_followups` gives them. One that speaks of a source or a field, by the stems of their `names`, can be queried.
    """
    if not own:
        return await suggest_followups(conversation, answer, toolset, Facts())
    held = await answered(own, toolset)
    asked = [plain_links(shorten(question, FOLLOWUP_CHARACTERS_MAX)) for question in dict.fromkeys(own)]
    questions = [each for each in asked if each in held or not names.isdisjoint(significant_words(each))]
    return await filled_up(questions, conversation.question, toolset)
