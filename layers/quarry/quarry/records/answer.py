"""Answering a question from records, as a stream of events.

Read `answer_question` from top to bottom: a first search for the question, and then the answer, written by a model
(`model_answer`) or, without one, the exact result of the Query that it likely is, else the best sentences of the records
(`passages`).
"""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator, Iterable, Sequence, Set
from contextlib import aclosing
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from quarry.agent.service import answer_query, answer_read_query
from quarry.agent.sources import data_access
from quarry.language.messages import gettext, in_language_of_question
from quarry.language.writing import listed_label
from quarry.platform.budget import Budget
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words, words
from quarry.query.contract import DECIDING, QueryResult
from quarry.query.describe import as_read, lines_of, understood, with_list
from quarry.query.filters import RANGES, labels, parts_of
from quarry.query.phrases import Phrases
from quarry.reader.reading import Reading
from quarry.records.answer_cache import AnswerContext, RuleAnswer, citations_event, source_texts
from quarry.records.contract import (
    AnswerChunkEvent,
    Applied,
    AskRequest,
    CitationsEvent,
    IntentEvent,
    PriorTurn,
    RecordType,
    ToolCallEvent,
    ToolObservationEvent,
    UnderstoodEvent,
)
from quarry.records.finding import Searched, SearchToolset
from quarry.records.model_answer import SOURCES_FOUND_MAX, written_by_model
from quarry.records.passages import passages_of
from quarry.records.reading import (
    DENYING,
    NEGATED,
    TO,
    RecordsReading,
    SearchScope,
    classify_intent,
    facet_conditions,
    filtered_types,
    read_records,
    required,
    sources_of,
)
from quarry.records.retrieval import NumberedSources, aggregation_of
from quarry.records.sources import RecordTypes, acting_for, skipping_broken_collections
from quarry.runs.run_log import Run
from quarry.schema.algebra import Comparison, Condition, Not, Query
from quarry.schema.source import Source
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event
from quarry.verification.check import Exact, Verifier, level

STANDALONE_WORDS_MIN = 4
"""A question with fewer words of its own leans on the previous one."""
NEW_WORDS_MIN = 2
"""This many new words make a topic where few are known: an answer mentions many words in passing."""
_PRONOUNS = frozenset("it its this that these those they them their he him his she her hers".split())
"""A question that ends in one of these refers back ("who voted against it?"), and so does one with a single other word of its own
("what did it cost?")."""
_DEFINITE = _PRONOUNS | {"the"}
"""Words that refer to something already mentioned."""


class Conversation(NamedTuple):
    """The place of a question in its conversation. `history` is what still matters; `search_query` is what to search for, so that
    "who was against it?" finds the same thing.
    """

    history: Sequence[PriorTurn]
    topic_changed: bool
    search_query: str


def resolve_conversation(question: str, history: Sequence[PriorTurn], *, stays: bool = False) -> Conversation:
    """Place `question` in its conversation. `stays`: it is known to go on.

    A question that shares no significant word with the history starts a new topic and forgets the history; so does one that
    shares few, none of them asked about before, and refers to nothing known. One without any significant word of its own
    ("why?") cannot, nor can one that ends in a pronoun ("who moved it?") or has one beside a single such word ("what did it
    cost?").
    """
    own = set(significant_words(question))
    if history and own and not stays and _is_new(question, own, history):
        return Conversation((), topic_changed=True, search_query=question)
    search_query = question
    if history and len(own) < STANDALONE_WORDS_MIN:
        previous = history[-1].question or history[-1].answer
        search_query = f"{question} {previous}"[:QUERY_MAX_CHARACTERS]
    return Conversation(tuple(history), topic_changed=False, search_query=search_query)


def _is_new(question: str, own: Set[str], history: Sequence[PriorTurn]) -> bool:
    question_words = words(question)
    if question_words[-1] in _PRONOUNS or (len(own) == 1 and not _PRONOUNS.isdisjoint(question_words)):
        return False
    words_before = {word for turn in history for word in significant_words(turn.question)}
    answered = {word for turn in history for word in significant_words(turn.answer)}
    shared = own & (words_before | answered)
    if not shared or not words_before or own & words_before or not _DEFINITE.isdisjoint(question_words):
        return not shared
    return len(own - shared) >= max(NEW_WORDS_MIN, 2 * len(shared))


LABELLED_TYPES_MAX = 4


def with_filters_in_force(request: AskRequest, history: Sequence[PriorTurn]) -> AskRequest:
    """The request with the types and filters of the turn before, unless it has its own."""
    if request.filters_itself or not history:
        return request
    last = history[-1]
    return request.model_copy(update={"types": last.types, "filters": last.filters})


def check_filters(
    request: AskRequest, types: RecordTypes, *, types_at: str = "/types", facets_at: str = "/filters/facets"
) -> None:
    """Raises InvalidInput for a type that there is not and a facet that no such type has, also of the turn before; `types_at` and
    `facets_at` are the pointers to the request's own.
    """
    facet_conditions(request.filters.facets, types.by_names(request.types, at=types_at), at=facets_at)
    if request.history and not request.filters_itself:
        last, at = request.history[-1], f"/history/{len(request.history) - 1}"
        facet_conditions(last.filters.facets, types.by_names(last.types, at=f"{at}/types"), at=f"{at}/filters/facets")


def applied(request: AskRequest, types: RecordTypes, scope: SearchScope) -> Applied | None:
    """The types and filters in force, with a label; None where all records are searched."""
    if not request.types and not scope.required_conditions:
        return None
    chosen_types = types.by_names(request.types)
    table = chosen_types[0].table if len(chosen_types) == 1 else types.union
    names = (
        [each.label.lower() for each in chosen_types[:LABELLED_TYPES_MAX]] if request.types else [gettext("records")]
    )
    if len(chosen_types) > LABELLED_TYPES_MAX and request.types:
        names[-1] = gettext("{number} other types", number=len(chosen_types) - LABELLED_TYPES_MAX + 1)
    label = ", ".join([listed_label(names, is_choice=False), *labels(table, scope.required_conditions)])
    return Applied(types=request.types, filters=request.filters, label=label)


class RecordsInquiry(NamedTuple):
    """What a request asks of the types that can be read: the request with the filters in force, the question in its
    conversation, and `applied`, the types and filters in words. `reading` is the question as it was read; None where a model
    reads it.
    """

    types: RecordTypes
    request: AskRequest
    conversation: Conversation
    scope: SearchScope
    applied: Applied | None
    reading: RecordsReading | None = None

    @property
    def left_out(self) -> list[RecordType]:
        """The requested collections that cannot be read."""
        return self.types.left_out(self.request.types)


async def read_request(
    request: AskRequest, caller: Caller, services: Services, types: RecordTypes, *, by_rule: bool
) -> RecordsInquiry:
    """The request over these types. Its question is read here if it is answered `by_rule`, and nowhere else."""
    history = request.recent_history
    if by_rule:
        conversation, reading = await _read_in_conversation(request, caller, services, types)
    else:
        stays = len(significant_words(request.question)) < NEW_WORDS_MIN
        conversation, reading = resolve_conversation(request.question, history, stays=stays), None
    request = with_filters_in_force(request, conversation.history)
    _, scope = await filtered_types(request.filters, request.types, types, services.reader)
    return RecordsInquiry(types, request, conversation, scope, applied(request, types, scope), reading)


async def _read_in_conversation(
    request: AskRequest, caller: Caller, services: Services, types: RecordTypes
) -> tuple[Conversation, RecordsReading]:
    """The question in its conversation, and how it is read: after the question before it, unless it begins a new topic. A
    question with nothing but conditions does not begin one: "and in March?".
    """
    history = request.recent_history
    read_question = partial(read_records, caller, services, types, request.question, request.types)
    conversation = await off_loop(resolve_conversation, request.question, history)
    if conversation.topic_changed:
        alone = await read_question()
        if not alone.only_conditions:
            return conversation, alone
        conversation = resolve_conversation(request.question, history, stays=True)
    earlier = next((turn.question for turn in reversed(conversation.history) if turn.question), "")
    return conversation, await read_question(earlier=earlier)


class LikelyQuery(NamedTuple):
    """A question as the Query that it likely is, within the filters that hold. It has not run yet. Without a `reading` it is the
    one that the request gives.
    """

    reading: Reading | None
    query: Query
    toolset: SearchToolset

    @property
    def is_sure(self) -> bool:
        """Whether such a reading is right often enough to be given before any passage is looked at."""
        return self.reading is None or self.reading.verdict == "confident"

    def is_likelier_than(self, chance: float) -> bool:
        """Whether its result is the better answer than passages that answer with this `chance`. Where the question names the
        type of record that it wants, a number always is, and rows are if no word is left unread.
        """
        is_named, is_number = bool(self.toolset.reading_by_rule.named_types), not self.query.asks_for_rows
        if self.reading is None:
            return True
        return self.reading.chance > chance or (is_named and (is_number or not self.reading.unread))

    async def answer(self) -> RuleAnswer | None:
        """The result in words; None where the Query cannot run, and where its reading is doubted and no row is like it.
        Raises InvalidInput for one that the request gives and that cannot run.
        """
        toolset, today = self.toolset, self.toolset.access.today
        with toolset.run.step("records_count"):
            try:
                answered = answer_query if self.reading is None else answer_read_query
                result = await answered(self.query, toolset.access, toolset.services, today, keeps_places=True)
            except InvalidInput:
                if self.reading is None:
                    raise
                return None
        if not (self.is_sure or result.total):
            return None
        return self._in_words(result, today)

    def _in_words(self, result: QueryResult, today: datetime.date) -> RuleAnswer:
        schema, unread = self.toolset.access.schema, [*self.reading.unread] if self.reading is not None else []
        phrases = Phrases(schema, schema.sources[self.query.source], today)
        explanation = understood(result.query, phrases, unread=unread, choices=DECIDING)
        lines = with_list(result.sentence, [*lines_of(result, phrases)])
        # an empty list, or a number that no row has, is seldom what was meant; zero is an answer to "how many"
        is_empty = (result.query.last.asks_for_rows and not result.total) or _lacks_number(result)
        aggregation = aggregation_of([result])
        return RuleAnswer(
            ("\n".join(lines), f"\n\n{as_read(explanation.sentence, unread, phrases)}"),
            understood=UnderstoodEvent(**dict(explanation)),
            aggregation=aggregation and aggregation.model_copy(update={"filters": self._filters()}),
            basis=Exact.read(is_sure=self.is_sure and not is_empty, unread=unread) if self.reading else Exact("given"),
        )

    def _filters(self) -> dict[str, Any]:
        """The conditions as a request writes them. The query says the others."""
        access, conditions = self.toolset.access, (*self.toolset.scope.facets, *self.query.where)
        name = access.homes[self.query.source][1]
        return {"types": [name], **as_requested(conditions, access.schema.sources[self.query.source])}


def as_requested(conditions: Iterable[Condition], table: Source) -> dict[str, Any]:
    """The conditions as a request writes them: `from` and `to` for the date of the rows, and `facets`. What no request can ask is
    left out.
    """
    days: dict[str, str] = {}
    facets: dict[str, list[str]] = {}
    for condition in conditions:
        met = condition.negated if isinstance(condition, Not) else condition
        parts = [part for part in parts_of(met) if isinstance(part, Comparison)]
        is_alike = len(parts) == 1 or all(part.op in ("=", "is_null") for part in parts)
        is_of_one = len(parts) == len(parts_of(met)) and len({part.field for part in parts}) == 1
        if not (is_alike and is_of_one) or parts[0].field not in table.facets:
            continue
        facet, (first, last) = table.facets[parts[0].field], _ends(parts[0])
        is_denied = isinstance(condition, Not) != (parts[0].op in DENYING)
        if facet.name == table.dated and facet.facet == "date" and not is_denied and (first or last):
            days |= {key: day for key, day in (("from", first), ("to", last)) if day}
        elif values := [value for part in parts for value in _values(part)]:
            facets[f"{NEGATED if is_denied else ''}{facet.name}"] = values
    return {**days, **({"facets": facets} if facets else {})}


def _ends(comparison: Comparison) -> tuple[str | None, str | None]:
    """The ends of what a comparison allows; None where it is open."""
    values, op = [str(value) for value in comparison.scalars], comparison.op
    low = values[0] if values and op in ("=", "between", ">", ">=") else None
    high = values[-1] if values and op in ("=", "between", "<", "<=") else None
    return low, high


def _values(comparison: Comparison) -> list[str]:
    """What a request writes for a comparison."""
    if comparison.op in ("is_null", "not_null"):
        return [""]
    if comparison.op not in RANGES:
        return [str(value) for value in comparison.scalars] if comparison.op in ("=", "!=") else []
    least, most = _ends(comparison)
    return [f"{least or ''}{TO}{most or ''}"]


def _lacks_number(result: QueryResult) -> bool:
    """Whether something was computed from no value, or there is nothing to compute it from."""
    query = result.query.last
    if query.asks_for_rows or all(each.fn in ("count", "count_distinct") for each in query.aggregate):
        return False
    return not result.total or (not query.group and any(None in row for row in result.rows))


def query_of_request(toolset: SearchToolset, query: Query) -> LikelyQuery:
    """The Query that a request gives, within the filters that hold. Raises InvalidInput for one that asks of no record type."""
    names = sources_of(toolset.record_types, toolset.access)
    if query.source not in names:
        raise InvalidInput([FieldError("/understood/query/source", f"use one of {', '.join(names)}")])
    return LikelyQuery(None, _within_filters(query, toolset), toolset)


def _within_filters(query: Query, toolset: SearchToolset) -> Query:
    """The query within the filters that hold. Raises InvalidInput where its source cannot tell one."""
    conditions = required(toolset.scope, toolset.access.schema.sources[query.source])
    # a filter that the question repeats is one condition
    where = (*conditions, *(each for each in query.where if each not in conditions))
    return query.model_copy(update={"where": where})


def likely_query(toolset: SearchToolset) -> LikelyQuery | None:
    """The Query that the question likely is; None where none is likely, or it cannot be asked within the filters."""
    reading = toolset.reading_by_rule.reading
    if reading.query is None or reading.verdict == "refused" or not reading.best[0][0].mask:
        return None  # nothing of the question was read
    try:
        return LikelyQuery(reading, _within_filters(reading.query, toolset), toolset)
    except InvalidInput:
        return None


MAX_STEPS = 6
"""Most searches, and most model turns, of one answer, the answer itself included."""
FOLLOWUP_TURNS = 2
"""Further turns: the follow-up questions, and one repair of them."""
ANSWER_RESERVE_SECONDS = 20.0
FIRST_SEARCH, SEARCH = "search_1", "search"


@in_language_of_question
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
    settings = services.settings
    budget = Budget.for_answer(
        MAX_STEPS + FOLLOWUP_TURNS,
        MAX_STEPS,
        settings.records_ask_seconds,
        settings.records_ask_tokens,
        ANSWER_RESERVE_SECONDS,
    )
    logged = request.as_asked()
    with services.run("records", caller, request.question, logged, budget, request_id, run_id) as run:
        yield IntentEvent(intent=classify_intent(request.question))
        asker = _Asker(request, types, caller, services, run)
        # what the user set is run as it stands
        by_rule = run.chat is None or request.understood is not None
        inquiry = await asker.inquiry(by_rule=by_rule)
        yield _call_event(inquiry, run)
        context = await asker.context(inquiry)
        for name in context.inquiry.types.degraded(context.inquiry.request.types):
            run.degrade(name)
        yield _observation(context)
        answer = answered_by_rule(context) if by_rule else written_by_model(context, MAX_STEPS, asker.answered_by_rule)
        async with aclosing(answer) as events:
            async for event in events:
                yield event


class _Asker(NamedTuple):
    """A request, and who asks it of which types of record."""

    request: AskRequest
    types: RecordTypes
    caller: Caller
    services: Services
    run: Run

    async def inquiry(self, *, by_rule: bool) -> RecordsInquiry:
        """What the request asks; the question is read if it is answered `by_rule`."""
        work = partial(read_request, self.request, self.caller, self.services, by_rule=by_rule)
        return await skipping_broken_collections(self.types, self.services.memory, work)

    async def context(self, inquiry: RecordsInquiry) -> AnswerContext:
        """The first search for the question."""
        return await skipping_broken_collections(inquiry.types, self.services.memory, partial(self._begin, inquiry))

    async def answered_by_rule(self) -> AsyncGenerator[Event]:
        """The events of an answer whose model wrote none."""
        context = await self.context(await self.inquiry(by_rule=True))
        async with aclosing(answered_by_rule(context)) as events:
            async for event in events:
                yield event

    async def _begin(self, inquiry: RecordsInquiry, types: RecordTypes) -> AnswerContext:
        """Search these types for the question. By rule, also find out what the data answers for sure."""
        caller, services, reading = self.caller, self.services, inquiry.reading
        if types is not inquiry.types:
            inquiry = await read_request(inquiry.request, caller, services, types, by_rule=reading is not None)
        sources = reading.access if reading is not None else await data_access(caller, services)
        evidence = NumberedSources(SOURCES_FOUND_MAX) if reading is None else NumberedSources()
        toolset = SearchToolset(
            services,
            caller,
            self.run,
            types.by_names(inquiry.request.types),
            types,
            sources,
            inquiry.reading,
            inquiry.scope,
            evidence,
        )
        query = inquiry.conversation.search_query
        first = await toolset.search(query)
        answer = await rule_answer_of(query, first, toolset, inquiry.request) if reading is not None else None
        return AnswerContext(inquiry, toolset, first, answer)


def _call_event(inquiry: RecordsInquiry, run: Run) -> ToolCallEvent:
    """The first search is for the question itself. No model has to decide that."""
    run.budget.spend_call()
    applied = inquiry.applied
    filters = applied.model_dump(mode="json", by_alias=True, exclude={"label"}, exclude_none=True) if applied else {}
    return ToolCallEvent(id=FIRST_SEARCH, tool=SEARCH, arguments={"text": inquiry.conversation.search_query, **filters})


def _observation(context: AnswerContext) -> ToolObservationEvent:
    first = context.first
    summary = first.summary
    if context.inquiry.applied:
        summary = gettext("{summary}; only {label}", summary=summary, label=context.inquiry.applied.label)
    return ToolObservationEvent(id=FIRST_SEARCH, tool=SEARCH, count=len(first.ranked), summary=summary)


async def answered_by_rule(context: AnswerContext) -> AsyncGenerator[Event]:
    """The events of an answer that no model writes, after its first search. Raises DatabaseUnavailable."""
    answer = context.rule_answer or await rule_answer_of(
        context.inquiry.conversation.search_query, context.first, context.toolset, context.inquiry.request
    )
    keys = context.keys(*answer.identity)
    stored = await context.stored_answer(keys)
    if stored is not None:
        for again in context.stored_events(stored, answer.aggregation, answer.understood):
            yield again
        return
    if answer.understood is not None:
        yield answer.understood
    yield context.sources_event(answer.sources)
    if answer.aggregation is not None:
        yield answer.aggregation
    text, notes = "", _searched(context, answer)
    for piece in filter(None, (*answer.pieces, notes)):
        text += piece
        yield AnswerChunkEvent(chunk=piece)
    checked = CitationsEvent(citations=[], unsupported=[])
    if answer.understood is None:  # an exact result rests on no source
        verifier = Verifier(source_texts(answer.sources), own=(*answer.own, notes))
        checked = citations_event(await off_loop(verifier.verify, text))
    trust = level(answer.basis, missing=context.inquiry.left_out if answer.understood else ())
    ended = context.ending(text, answer.sources, checked, trust, None, keys, is_found=answer.is_found)
    async with aclosing(ended) as events:
        async for event in events:
            yield event


def _searched(context: AnswerContext, answer: RuleAnswer) -> str:
    """The filters, where nothing near was found within them, and the collections that could not be searched."""
    applied = context.inquiry.applied
    if applied is None or answer.is_found:
        return context.missing
    only = gettext("Only this was searched: {label}.", label=applied.label)
    return f"\n\n{only}{context.missing}"


async def rule_answer_of(query: str, first: Searched, toolset: SearchToolset, request: AskRequest) -> RuleAnswer:
    """The result of the question's Query where that is surely meant; else the passages of the records found, or a doubted result
    where that is likelier right. Raises DatabaseUnavailable, and SourceUnavailable where a table cannot be read.
    """
    understood = request.understood
    likely = likely_query(toolset) if understood is None else query_of_request(toolset, understood.query)
    if likely is not None and likely.is_sure and (exact := await likely.answer()) is not None:
        return exact
    passages, chance = await passages_of(query, first, toolset)
    if likely is not None and likely.is_likelier_than(chance) and (exact := await likely.answer()) is not None:
        return exact
    return passages
