"""Answers without a model: what is certain, then sentences from the sources."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from quarry.models.step import write
from quarry.platform.off_loop import off_loop
from quarry.records.answer_cache import FinishedAnswer, KeptAnswer, Keys
from quarry.records.begun import BROKEN_OFF, Begun
from quarry.records.by_reader import known_facts
from quarry.records.confidence import confidence
from quarry.records.contract import (
    AnswerChunkEvent,
    Citation,
    CitationsEvent,
    ConfidenceEvent,
    FollowupsEvent,
    Source,
    SourcesEvent,
)
from quarry.records.evidence import SOURCES_MAX, EvidenceSource
from quarry.records.extraction import quoted
from quarry.records.facts import NOTHING_FOUND, Facts
from quarry.records.followups import suggest_followups
from quarry.records.support import support
from quarry.streaming.events import Event


async def answered_by_rule(begun: Begun) -> AsyncGenerator[Event]:
    """The events of an answer that no model writes, after its first search. Raises DatabaseUnavailable."""
    facts = begun.facts or await known_facts(begun.conversation.search_query, begun.first, begun.toolset)
    ruled = Ruled(begun, facts)
    keys = begun.keys(facts.text, facts.doubt, facts.is_all, facts.counted.to_json() if facts.counted else None)
    kept = await begun.kept(keys)
    async with aclosing(ruled.given_again(kept) if kept is not None else ruled.written(keys)) as events:
        async for event in events:
            yield event


@dataclass(frozen=True)
class Ruled:
    """An answer by rule: what was found, and what is known for sure."""

    begun: Begun
    facts: Facts

    @property
    def evidence(self) -> Sequence[EvidenceSource]:
        """What is answered from, as far as it was found."""
        return [] if self.facts.is_all else self.begun.toolset.evidence.sources[:SOURCES_MAX]

    @property
    def only(self) -> str:
        """That no more was searched than what is asked for, where nothing was found there, and what could not be; else empty."""
        told = self.begun.told
        is_said = told is not None and not self.evidence and self.facts.counted is None
        only = f"\n\nOnly this was searched: {told.label}." if told and is_said else ""
        return only + self.begun.missing

    async def written(self, keys: Keys) -> AsyncGenerator[Event]:
        """The events of an answer that is made now."""
        begun, facts, run, evidence = self.begun, self.facts, self.begun.run, self.evidence
        sources = [source.to_source() for source in evidence]
        yield SourcesEvent(sources=sources)
        begun.note_results(zip(sources, (source.weight for source in evidence), strict=True))
        if facts.counted is not None:
            yield facts.counted
        answer = ""
        async with aclosing(self._text()) as chunks:
            async for chunk in chunks:
                answer += chunk
                yield AnswerChunkEvent(chunk=chunk)
        own = (facts.text, facts.doubt, BROKEN_OFF, NOTHING_FOUND, self.only)
        supported = await off_loop(support, answer, {source.n: source.text for source in evidence}, own)
        citations, trust = self._checked(sources, supported.citations, supported.unsupported)
        yield citations
        yield trust
        followups = await suggest_followups(begun.conversation, answer, begun.toolset, facts)
        yield FollowupsEvent(questions=followups)
        finished = FinishedAnswer(answer, sources, followups, trust.level, supported.citations, supported.unsupported)
        run.answer_id = await begun.keep(finished, None if run.degraded else keys)
        run.end_reason = "answered" if sources else "nothing_found"
        yield begun.done(run.answer_id, run.degraded)

    async def given_again(self, kept: KeptAnswer) -> AsyncGenerator[Event]:
        """The events of an answer that was given before."""
        given, run = kept.finished, self.begun.run
        run.end_reason, run.answer_id = "kept_answer", kept.id
        self.begun.note_results((source, source.similarity or 0.0) for source in given.sources)
        yield SourcesEvent(sources=[*given.sources])
        if self.facts.counted is not None:
            yield self.facts.counted
        yield AnswerChunkEvent(chunk=given.answer)
        for event in self._checked(given.sources, given.citations, given.unsupported):
            yield event
        yield FollowupsEvent(questions=[*given.followups])
        yield self.begun.done(kept.id, [], cached=True)

    def _checked(
        self, sources: Sequence[Source], citations: Sequence[Citation], unsupported: Sequence[str]
    ) -> tuple[CitationsEvent, ConfidenceEvent]:
        """What supports an answer with these citations, and how far it can be trusted."""
        is_left_out = bool(self.begun.asked.left_out) and not self.facts.basis
        is_doubtful = self.facts.is_doubted_with(citations) or is_left_out
        numbers = {citation.n for citation in citations}
        cited = [source for source in sources if source.n in numbers]
        model = self.begun.services.embeddings.name
        likely = self.facts.likely
        level, label = confidence(cited, self.facts.basis, model=model, likely=likely, is_doubtful=is_doubtful)
        return (
            CitationsEvent(citations=[*citations], unsupported=[*unsupported]),
            ConfidenceEvent(level=level, source_count=len(cited), label=label),
        )

    async def _text(self) -> AsyncGenerator[str]:
        """The answer as it comes: what is known for sure, then the sources' own sentences."""
        facts, sources = self.facts, self.evidence
        beginning = facts.text or (facts.doubt if sources else "")
        if beginning:
            yield beginning
        if not facts.is_all:
            if beginning:
                yield "\n\n"
            written = write("records_answer", self.begun.run, None, self._sentences, broken_off=BROKEN_OFF)
            async with aclosing(written) as pieces:
                async for piece in pieces:
                    yield piece
        if self.only:
            yield self.only

    def _sentences(self) -> Iterator[str]:
        """The sources' own sentences; an exact count needs none."""
        if self.facts.quotes and self.evidence:
            yield from quoted(self.facts.quotes)
        elif not self.facts.text:
            yield NOTHING_FOUND
