"""A question about a domain's rows, and its answer in progress.

Read `answered` from top to bottom. The model calls the general tools and writes; without a model, and where it fails, the
question is read: a likely Query is run and put into words, else the rows found by its words are listed. A domain says what its
rows are about and how they are searched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

from quarry.agent.reading import read_over
from quarry.agent.service import answer_query, answer_read_query
from quarry.agent.tools import Hit
from quarry.answering.answer import BROKEN_OFF, Answer
from quarry.answering.contract import HISTORY_TURNS, RESULTS_MAX, AnswerData, AskRequest, Telemetry
from quarry.answering.toolset import Toolset, answer_with, events_of, hit_block
from quarry.answering.written import RESULT, CitationFilter, WrittenAnswer, answer_messages, earlier
from quarry.language.messages import in_language_of_question
from quarry.models.interface import Message
from quarry.models.step import TextFilter
from quarry.platform.budget import Budget
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import ALWAYS, CITATION, LinkFilter
from quarry.query.contract import DECIDING, QueryResult, Understood
from quarry.query.describe import ending, lines_of, understood, with_list
from quarry.query.phrases import Phrases
from quarry.reader.reading import Reading
from quarry.runs.run_log import ResultRecord, Run
from quarry.schema.algebra import Query
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent
from quarry.verification.check import Exact, Verifier, level
from quarry.verification.passages import folded
from quarry.verification.wire import SourceText, checked_statements, confidence_of

MAX_TURNS, MAX_CALLS = 5, 12
FIRST_HITS = 8


class Scored(Protocol):
    """A row that was found."""

    @property
    def score(self) -> float: ...


Row = TypeVar("Row", bound=Scored)


@dataclass
class Asking(ABC, Generic[Row]):
    """A question, and the answer in progress. `matches` are the rows that a first search found, or that the answer by rule speaks
    of, and `total` how many there are; `understood` is the Query that the answer gives the result of, and `is_read` says that no
    model made it. `about` says to a model what the rows are, `notes` what else it should know.
    """

    step: ClassVar[str]
    about: ClassVar[str]
    notes: ClassVar[str] = ""

    request: AskRequest
    tools: Toolset
    matches: Sequence[Row] = ()
    total: int = 0
    understood: Understood | None = None
    is_read: bool = False
    answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = answer_with(self.tools, self.step, MAX_TURNS, self._filters, self._verifier, self._cites)

    # ---- what a domain says ----

    @abstractmethod
    async def search(self, text: str) -> str:
        """Set what a text finds; what was found in a line. Raises DatabaseUnavailable."""

    @abstractmethod
    async def rows(self, keys: Sequence[tuple[str, str]]) -> Sequence[Row]:
        """The rows of these sources and ids, in this order. Raises DatabaseUnavailable."""

    @abstractmethod
    def hit(self, row: Row) -> Hit:
        """A row as the tools find it."""

    @abstractmethod
    def final(self, data: AnswerData) -> Event:
        """The last event, with the rows found."""

    async def by_words(self, reading: Reading) -> str:
        """Set what the words of the question find, where no Query is likely; what was found in a line."""
        return await self.search(self.request.question)

    @property
    def facts(self) -> str:
        """What the user has set."""
        return ""

    # ---- by a model ----

    async def by_model(self) -> AsyncGenerator[Event]:
        """The events of an answer that a model writes."""
        async with aclosing(events_of(self.answer, await self._messages(), self.tools.tools())) as events:
            async for event in events:
                yield event

    async def _messages(self) -> Sequence[Message]:
        request, tools = self.request, self.tools
        await self.search(request.question)
        hits = [self.hit(each) for each in self.matches[:FIRST_HITS]]
        turns = request.history[-HISTORY_TURNS:]
        history = [
            each for turn in turns for each in (earlier("user", turn.question), earlier("assistant", turn.answer))
        ]
        return answer_messages(
            request.question,
            history,
            about=self.about,
            card=await tools.card(request.question),
            today=tools.today,
            notes=self.notes,
            facts=self.facts,
            hits="\n".join(hit_block(tools.numbered(each), each) for each in hits) or "(nothing was found)",
        )

    def _cites(self, text: str) -> bool:
        return any(f"[{n}]" in text for n in range(1, len(self.tools.hits) + 1))

    def _filters(self, form: WrittenAnswer) -> Sequence[TextFilter]:
        numbers = range(1, len(self.tools.hits) + 1)
        text = "\n".join(f"{each.title}\n{each.text}" for each in self.tools.hits)
        return CitationFilter(numbers), LinkFilter({ALWAYS: text})

    def _verifier(self) -> Verifier:
        """What checks the text against the results and the rows found: those that it says it rests on, if it says so."""
        source_numbers = self.answer.form.source_numbers
        cited = {*map(int, CITATION.findall(self.answer.text))}
        numbers = None if source_numbers is None else source_numbers | cited
        hits = [(n, each) for n, each in enumerate(self.tools.hits, start=1) if numbers is None or n in numbers]
        sources = [SourceText(n, each.title, each.text) for n, each in hits]
        questions = [*(turn.question for turn in self.request.history), self.request.question]
        answers = [turn.answer for turn in self.request.history]
        return self.tools.verifier(sources, "\n".join(questions), about=self.about, earlier=answers)

    # ---- by rule ----

    async def by_rule(self) -> str:
        """The text of an answer without a model. Raises DatabaseUnavailable, and InvalidInput for a Query of the request that
        cannot run.
        """
        if self.request.understood is not None:
            query, names = self.request.understood.query, self.tools.names
            if query.source not in names:
                raise InvalidInput([FieldError("/understood/query/source", f"use one of {', '.join(names)}")])
            return await self._sentence(self._required(query))
        reading = await self._reading()
        if reading.query is not None and reading.verdict == "confident":
            with suppress(InvalidInput):
                return await self._sentence(self._required(reading.query), reading)
        return await self.by_words(reading)

    async def _reading(self) -> Reading:
        tools, history = self.tools, self.request.history
        names = [each for each in tools.names if each in tools.access.schema.sources]
        before = None
        if history:
            before = await read_over(history[-1].question, names, tools.access, tools.services, tools.today)
        return await read_over(self.request.question, names, tools.access, tools.services, tools.today, before)

    def _required(self, query: Query) -> Query:
        """The query within what the user has set."""
        required = [each for each in self.tools.required(query.source) if each not in query.where]
        return query.model_copy(update={"where": (*required, *query.where)})

    async def _sentence(self, query: Query, reading: Reading | None = None) -> str:
        """The result of a Query, maybe of a reading, in words. Raises InvalidInput where it cannot run."""
        tools = self.tools
        with tools.run.step("query"):
            answered = answer_read_query if reading else answer_query
            result = await answered(query, tools.access, tools.services, tools.today)
            tools.results.append(result)
            self.matches, self.total = await self._rows_of(result), result.total
        phrases, self.is_read = self._phrases(query), True
        self.understood = understood(result.query, phrases, unread=reading.unread if reading else (), choices=DECIDING)
        return "\n".join(with_list(result.sentence, [*lines_of(result, phrases)]))

    def _phrases(self, query: Query) -> Phrases:
        tools = self.tools
        return Phrases(tools.access.schema, tools.access.schema.sources[query.source], tools.today)

    async def _rows_of(self, result: QueryResult) -> Sequence[Row]:
        """The first rows that a result is about."""
        tools, query = self.tools, result.query
        order = query.order if query.asks_for_rows else ()
        limit = min(query.limit or RESULTS_MAX, RESULTS_MAX) if query.asks_for_rows else RESULTS_MAX
        rows = Query(source=query.source, where=query.where, text=query.text, order=order, limit=limit, select=("id",))
        ids = await answer_query(rows, tools.access, tools.services, tools.today)
        return await self.rows([(query.source, str(row[0])) for row in ids.rows])

    # ---- the end ----

    async def concluded(self, text: str) -> AnswerData:
        """The whole answer. Sets the rows that it speaks of."""
        run = self.tools.run
        if self.answer.has_begun and not self.answer.failed:
            await self._set_spoken_of(text)
        checked = await off_loop(self.answer.checked)
        reading = self.understood
        trust = level(
            Exact("sure", reading.unread) if reading is not None and self.is_read else checked,
            is_talk=self.answer.form.rests_on_nothing,
        )
        spent = run.budget
        return AnswerData(
            response=text, total=self.total, understood=reading, statements=checked_statements(checked),
            confidence=confidence_of(trust),
            telemetry=Telemetry(run_id=str(run.id), turns=spent.turns, tool_calls=spent.calls, degraded=run.degraded),
        )  # fmt: skip

    async def _set_spoken_of(self, text: str) -> None:
        """Set the rows that an answer speaks of: those that it cites, else those of the result that it rests on, or those that
        its text names where it rests on several.
        """
        tools, main = self.tools, self.answer.form.main_result
        cited = list(dict.fromkeys(int(number) for number in CITATION.findall(text)))
        keys = [(hit.source, hit.id) for n in cited if 0 < n <= len(tools.hits) for hit in [tools.hits[n - 1]]]
        if keys:
            self.matches = await self.rows(keys)
            self.total = len(self.matches)
        elif tools.results and (main is not None or self.answer.form.source_numbers is None):
            place = main - 1 if main is not None and 0 < main <= len(tools.results) else len(tools.results) - 1
            result = tools.results[place]
            self.matches, self.total = await self._rows_of(result), result.total
            names = self.answer.form.names
            listed = [each for n, each in enumerate(tools.results, start=1) if f"{RESULT}{n}" in names]
            others = [each for each in listed if each is not result and each.query.asks_for_rows]
            hits = [(each, self.hit(each)) for each in self.matches]
            hits += [(row, self.hit(row)) for each in others for row in await self._rows_of(each)]
            places = {hit.id: folded(text).find(folded(hit.title)) for _, hit in hits} if others else {}
            mentions = sorted((each for each in hits if places.get(each[1].id, -1) >= 0), key=lambda e: places[e[1].id])
            if mentions:
                self.matches, self.total = [row for row, _ in mentions], len(mentions)
            self.understood = understood(result.query, self._phrases(result.query), choices=DECIDING)
        else:
            self.matches, self.total = (), 0


@in_language_of_question
async def answered(
    request: AskRequest,
    domain: str,
    begin: Callable[[Run], Awaitable[Asking[Row]]],
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does. Raises what
    `begin` raises.
    """
    settings = services.settings
    budget = Budget.for_answer(MAX_TURNS, MAX_CALLS, settings.campaigns_chat_seconds, settings.campaigns_chat_tokens)
    logged = request.model_dump(mode="json", exclude={"history"}, exclude_none=True)
    with services.run(domain, caller, request.question, logged, budget, request_id, run_id) as run:
        asking = await begin(run)
        answer, ruled = asking.answer, ""
        # what the user set is run as it stands
        is_led = run.chat is not None and request.understood is None
        if is_led:
            async with aclosing(asking.by_model()) as events:
                async for event in events:
                    yield event
        if not is_led or answer.failed:
            ruled = await asking.by_rule()
            yield PartialTextEvent(data=PartialText(text=BROKEN_OFF + ruled if answer.text else ruled))
        data = await asking.concluded(BROKEN_OFF.join(filter(None, (answer.text, ruled))))
        hits = [(asking.hit(each), each.score) for each in asking.matches[:RESULTS_MAX]]
        run.results = [ResultRecord(hit.source, hit.id, score) for hit, score in hits]
        run.end_reason = "answered" if asking.matches or asking.tools.results else "nothing_found"
        for last in ending(asking.final(data), data.understood):
            yield last
