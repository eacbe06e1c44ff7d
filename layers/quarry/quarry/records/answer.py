"""Answering a question from records, as a stream of events.

Read `answer_question` from top to bottom: a first search for the question, and then the answer, written by a model (`written`)
or, without one, by rule: the question is read, and answered by what its Query gives, where that is likely what it asks, else by
the sources' own sentences.
"""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from quarry.agent.results import lines_of, with_list
from quarry.agent.service import answer_query
from quarry.agent.sources import what_may_be_asked
from quarry.models.step import write
from quarry.platform.budget import Budget
from quarry.platform.errors import InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import Query
from quarry.query.contract import QueryResult
from quarry.query.phrases import Phrases
from quarry.reader.constraints import doubt as in_doubt
from quarry.reader.reading import Reading
from quarry.records.answer_cache import Begun, Keys
from quarry.records.answerability import facts_of, suggest_followups
from quarry.records.checked import citations_event, source_texts
from quarry.records.contract import (
    AnswerChunkEvent,
    AskRequest,
    IntentEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.records.evidence import SOURCES_MAX, Evidence, EvidenceSource, aggregation_of
from quarry.records.extraction import BROKEN_OFF, NOTHING_FOUND, Facts, quoted
from quarry.records.finding import Searched, SearchToolset
from quarry.records.reading import classify_intent
from quarry.records.research import SOURCES_FOUND_MAX
from quarry.records.scope import Asked, as_requested, read_request, required
from quarry.records.searched_types import RecordTypes
from quarry.records.sources import acting_for, over_readable
from quarry.records.written import written_by_model
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event
from quarry.verification.check import Verifier
from quarry.verification.levels import Exact, Passages, level
from quarry.verification.trust import Trust

MAX_STEPS = 6
"""Most searches, and most model turns, of one answer, the answer itself included."""
FOLLOWUP_TURNS = 2
"""Further turns: the follow-up questions, and one repair of them."""
ANSWER_RESERVE_SECONDS = 20.0
FIRST_SEARCH, SEARCH = "search_1", "search"


async def answer_question(
    request: AskRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream, nor do collections that cannot be read
    while others can; a failing database does.

    An answer that was degraded by a failing model can be opened again as every other, and is not given again: the next one is
    asked of the model. One that nobody waited for is not kept.
    """
    types, services = await acting_for(caller, services)
    budget, logged = _budget(services), request.as_asked()
    with services.run("records", caller, request.question, logged, budget, request_id, run_id) as run:
        yield IntentEvent(intent=classify_intent(request.question))
        asker = _Asker(request, types, caller, services, run)
        by_rule = run.chat is None
        asked = await asker.asked(by_rule=by_rule)
        yield _call_event(asked, run)
        begun = await asker.begun(asked)
        for name in begun.asked.types.degraded(begun.asked.request.types):
            run.degrade(name)
        yield _observation(begun)
        answer = answered_by_rule(begun) if by_rule else written_by_model(begun, MAX_STEPS, asker.answered_by_rule)
        async with aclosing(answer) as events:
            async for event in events:
                yield event


@dataclass(frozen=True)
class _Asker:
    """A request, and who asks it of which types of record."""

    request: AskRequest
    types: RecordTypes
    caller: Caller
    services: Services
    run: Run

    async def asked(self, *, by_rule: bool) -> Asked:
        """What the request asks; the question is read if it is answered `by_rule`."""
        read = partial(read_request, self.request, self.caller, self.services, by_rule=by_rule)
        return await over_readable(self.types, self.services.memory, read)

    async def begun(self, asked: Asked) -> Begun:
        """The first search for the question."""
        return await over_readable(asked.types, self.services.memory, partial(self._begin, asked))

    async def answered_by_rule(self) -> AsyncGenerator[Event]:
        """The events of an answer whose model wrote none."""
        begun = await self.begun(await self.asked(by_rule=True))
        async with aclosing(answered_by_rule(begun)) as events:
            async for event in events:
                yield event

    async def _begin(self, asked: Asked, types: RecordTypes) -> Begun:
        """Search these types for the question. By rule, also find out what the data answers for sure."""
        caller, services, reading = self.caller, self.services, asked.reading
        if types is not asked.types:
            asked = await read_request(asked.request, caller, services, types, by_rule=reading is not None)
        sources = reading.asked if reading is not None else await what_may_be_asked(caller, services)
        evidence = Evidence(SOURCES_FOUND_MAX) if reading is None else Evidence()
        toolset = SearchToolset(
            services,
            caller,
            self.run,
            types.named(asked.request.types),
            types,
            sources,
            asked.reading,
            asked.scope,
            evidence,
        )
        query = asked.conversation.search_query
        first = await toolset.search(query)
        facts = await known_facts(query, first, toolset) if reading is not None else None
        return Begun(asked, caller, toolset, first, facts)


def _call_event(asked: Asked, run: Run) -> ToolCallEvent:
    """The first search is for the question itself. No model has to decide that."""
    run.budget.spend_call()
    told = asked.told
    filters = told.model_dump(mode="json", by_alias=True, exclude={"label"}, exclude_none=True) if told else {}
    return ToolCallEvent(id=FIRST_SEARCH, tool=SEARCH, arguments={"text": asked.conversation.search_query, **filters})


def _observation(begun: Begun) -> ToolObservationEvent:
    first = begun.first
    summary = f"{first.summary}; only {begun.asked.told.label}" if begun.asked.told else first.summary
    return ToolObservationEvent(id=FIRST_SEARCH, tool=SEARCH, count=len(first.ranked), summary=summary)


def _budget(services: Services) -> Budget:
    settings = services.settings
    return Budget(
        max_turns=MAX_STEPS + FOLLOWUP_TURNS,
        max_calls=MAX_STEPS,
        max_seconds=settings.records_ask_seconds,
        max_tokens=settings.records_ask_tokens,
        reserved_seconds=min(ANSWER_RESERVE_SECONDS, settings.records_ask_seconds / 2),
    )


async def answered_by_rule(begun: Begun) -> AsyncGenerator[Event]:
    """The events of an answer that no model writes, after its first search. Raises DatabaseUnavailable."""
    facts = begun.facts or await known_facts(begun.asked.conversation.search_query, begun.first, begun.toolset)
    ruled = Ruled(begun, facts)
    keys = begun.keys(facts.text, facts.doubt, facts.is_all, facts.counted.to_json() if facts.counted else None)
    kept = await begun.kept(keys)
    if kept is not None:
        for again in begun.given_again(kept, facts.counted):
            yield again
        return
    async with aclosing(ruled.written(keys)) as events:
        async for event in events:
            yield event


@dataclass(frozen=True)
class Ruled:
    """An answer by rule: what was found, and what is known for sure."""

    begun: Begun
    facts: Facts

    @property
    def evidence(self) -> Sequence[EvidenceSource]:
        """The sources of the answer."""
        return [] if self.facts.is_all else self.begun.toolset.evidence.sources[:SOURCES_MAX]

    @property
    def only(self) -> str:
        """The filters, where nothing was found within them, and the collections that could not be searched."""
        told = self.begun.asked.told
        is_said = told is not None and not self.evidence and self.facts.counted is None
        only = f"\n\nOnly this was searched: {told.label}." if told and is_said else ""
        return only + self.begun.missing

    async def written(self, keys: Keys) -> AsyncGenerator[Event]:
        """The events of a new answer."""
        begun, facts, evidence = self.begun, self.facts, self.evidence
        yield begun.sent(evidence)
        if facts.counted is not None:
            yield facts.counted
        answer = ""
        async with aclosing(self._text()) as chunks:
            async for chunk in chunks:
                answer += chunk
                yield AnswerChunkEvent(chunk=chunk)
        own = (facts.text, facts.doubt, BROKEN_OFF, NOTHING_FOUND, self.only)
        verifier = Verifier(source_texts(evidence), own=own)
        checked = citations_event(await off_loop(verifier.verify, answer))
        followups = partial(suggest_followups, begun.asked.conversation, answer, begun.toolset, facts)
        async with aclosing(begun.ending(answer, evidence, checked, self.trust, followups, keys)) as events:
            async for event in events:
                yield event

    @property
    def trust(self) -> Trust | None:
        """How far the answer can be believed: a result as its reading, passages claim nothing."""
        facts = self.facts
        basis = Exact("likely" if facts.doubt else "sure", facts.unread) if facts.basis else Passages()
        return level(basis, missing=() if facts.basis else self.begun.asked.left_out)

    async def _text(self) -> AsyncGenerator[str]:
        """The answer as it comes: what is known for sure, then the sources' own sentences."""
        facts, sources = self.facts, self.evidence
        beginning = facts.text or (facts.doubt if sources else "")
        if beginning:
            yield beginning
        if not facts.is_all:
            if beginning:
                yield "\n\n"
            written = write("records_answer", self.begun.toolset.run, None, self._sentences, broken_off=BROKEN_OFF)
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


async def known_facts(query: str, first: Searched, toolset: SearchToolset) -> Facts:
    """The result of the question's Query where that is surely meant; else what the records found answer, or a doubted result
    where that is likelier right. Raises DatabaseUnavailable, and SourceUnavailable where a table cannot be read.
    """
    read = _likely_query(toolset)
    if read is not None and read.is_sure and (facts := await read.facts()) is not None:
        return facts
    passages = doubted(await facts_of(query, first, toolset), first.sources, toolset.read.read.unread)
    if read is None or not read.is_likelier_than(passages) or (facts := await read.facts()) is None:
        return passages
    # records may answer the words that were not read
    is_all = not read.reading.unread or passages.is_all or not first.sources
    return replace(facts, is_all=is_all, authors=passages.authors, quotes=passages.quotes)


def doubted(passages: Facts, sources: Sequence[EvidenceSource], unread: Sequence[str]) -> Facts:
    """What these sources answer where no query was read for sure: in doubt, if all of them are rows of values. What such rows
    answer is what a query asks of them; prose may say what no query asks for.
    """
    is_prose = any(source.text.is_prose for source in sources)
    if passages.is_all or passages.doubt or is_prose or not sources:
        return passages
    return replace(passages, doubt=in_doubt(unread))


@dataclass(frozen=True)
class _LikelyQuery:
    """A question as the Query that it likely is, within the filters that hold. It has not run yet."""

    reading: Reading
    query: Query
    toolset: SearchToolset

    @property
    def is_sure(self) -> bool:
        """Whether such a reading is right often enough to be given without doubt."""
        return self.reading.verdict == "confident"

    def is_likelier_than(self, passages: Facts) -> bool:
        """Whether its result rather answers than what records say. Where the question names the records that are asked for, it
        does if nothing is left unread; a number does too if the other answer is doubtful.
        """
        if self.reading.chance > passages.chance:
            return True
        is_whole, is_number = not self.reading.unread, not self.query.asks_for_rows
        return bool(self.toolset.read.named) and (is_whole or (is_number and bool(passages.doubt)))

    async def facts(self) -> Facts | None:
        """The result of the Query; None where it cannot run, and where it is doubted and has no rows."""
        toolset, today = self.toolset, datetime.datetime.now(datetime.UTC).date()
        with toolset.run.step("records_count"):
            try:
                result = await answer_query(self.query, toolset.asked, toolset.services, today, keeps_places=True)
            except InvalidInput:
                return None
        if not (self.is_sure or result.total):
            return None
        # an empty list, or a number that no row has, is seldom what was meant; zero is an answer to "how many"
        is_empty = (result.query.asks_for_rows and not result.total) or _lacks_number(result)
        schema = toolset.asked.schema
        phrases = Phrases(schema, schema.sources[self.query.source], today)
        facts = _facts(self.reading, result, phrases, is_doubted=is_empty or not self.is_sure)
        counted = facts.counted
        if counted is not None:
            facts = replace(facts, counted=counted.model_copy(update={"filters": self._filters()}))
        return facts

    def _filters(self) -> dict[str, Any]:
        """The conditions as a request writes them. The query says the others."""
        name = self.toolset.asked.homes[self.query.source][1]
        table = self.toolset.record_types.counted.get(name)
        conditions = (*self.toolset.scope.facets, *self.query.where)
        return {"types": [name], **(as_requested(conditions, table) if table is not None else {})}


def _lacks_number(result: QueryResult) -> bool:
    """Whether something was computed from no value, or there is nothing to compute it from."""
    if result.query.asks_for_rows or all(each.fn in ("count", "count_distinct") for each in result.query.aggregate):
        return False
    computed = (row[len(result.query.group) :] for row in result.rows)
    return not result.total or (not result.query.group and any(None in cells for cells in computed))


def _likely_query(toolset: SearchToolset) -> _LikelyQuery | None:
    """The Query that the question likely is; None where none is likely, or it cannot be asked within the filters."""
    reading, asked = toolset.read.read, toolset.asked
    if reading.query is None or reading.verdict == "refused" or not reading.best[0][0].mask:
        return None  # nothing of the question was read
    name = reading.query.source
    table = toolset.record_types.counted.get(asked.homes[name][1])
    try:
        given = required(toolset.scope, table, asked.schema.sources[name]) if table is not None else []
    except InvalidInput:
        return None
    # a filter that the question repeats is one condition
    where = (*given, *(each for each in reading.query.where if each not in given))
    query = reading.query.model_copy(update={"where": where})
    return _LikelyQuery(reading, query, toolset)


def _facts(reading: Reading, result: QueryResult, phrases: Phrases, *, is_doubted: bool) -> Facts:
    """The result in words. A doubted one names what was not understood."""
    doubt = in_doubt(reading.unread) if is_doubted else ""
    lines = with_list(result.sentence, [*lines_of(result, phrases)])
    text = "\n".join([*([doubt, ""] if doubt else []), *lines])
    return Facts(
        text,
        aggregation_of([result]),
        is_all=True,
        doubt=doubt,
        basis=f"counted on {result.total:,} {'row' if result.total == 1 else 'rows'}",
        unread=tuple(reading.unread),
    )
