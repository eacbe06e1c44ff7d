"""Answering a question about the caller's projects, as a stream of events.

Read `answer_about_projects` from top to bottom. The model calls the general tools and writes; without a model, and where it
fails, the question is read: a likely Query is run and put into words, else the entities found by its words are listed.
"""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from uuid import UUID

from quarry.agent.service import answer_query
from quarry.agent.tools import Hit
from quarry.answering.answer import BROKEN_OFF, Answer
from quarry.answering.citations import CitationFilter
from quarry.answering.toolset import Toolset, answer_with, events_of, hit_block
from quarry.answering.written import RESULT, WrittenAnswer, answer_messages, earlier
from quarry.language.messages import in_language_of_question
from quarry.models.interface import Message
from quarry.models.step import TextFilter
from quarry.ontology.contract import (
    HISTORY_TURNS,
    RESULTS_MAX,
    FinalAnswerEvent,
    OntologyAnswer,
    OntologyAskRequest,
    Telemetry,
)
from quarry.ontology.search import (
    EntityCandidate,
    WorkspaceIntent,
    access_of,
    entities_of,
    find_sought,
    intent_of,
    message,
    project_name,
    read_query,
    result_of,
)
from quarry.ontology.sources import labels
from quarry.platform.budget import Budget
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.links import ALWAYS, CITATION, LinkFilter
from quarry.platform.off_loop import off_loop
from quarry.platform.text import mark, unmark
from quarry.query.algebra import Comparison, Condition, Query
from quarry.query.contract import DECIDING, QueryResult, Understood
from quarry.query.describe import ending, lines_of, understood, with_list
from quarry.query.phrases import Phrases
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent
from quarry.verification.check import Exact, Verifier, level
from quarry.verification.passages import folded
from quarry.verification.wire import Confidence, SourceText, checked_statements

STEP = "ontology_answer"
MAX_TURNS, MAX_CALLS = 5, 12
FIRST_HITS = 8
ABOUT = "the projects of a user's workspace: tasks, plans, goals, milestones, documents, outputs and requirements"
NOTES = "What the words of the user call a project, a person or a status is a value; look it up with `values` if it is not below."


@in_language_of_question
async def answer_about_projects(
    request: OntologyAskRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does. Raises
    NotFound for a project that is not the caller's.
    """
    settings = services.settings
    budget = Budget.for_answer(MAX_TURNS, MAX_CALLS, settings.campaigns_chat_seconds, settings.campaigns_chat_tokens)
    logged = request.model_dump(mode="json", exclude={"history"}, exclude_none=True)
    with services.run("ontology", caller, request.question, logged, budget, request_id, run_id) as run:
        asking = await Asking.of(request, caller, services, run)
        answer, ruled = asking.answer, ""
        # what the user set is run as it stands
        is_led = run.chat is not None and request.understood is None
        if is_led:
            async with aclosing(asking.written()) as events:
                async for event in events:
                    yield event
        if not is_led or answer.failed:
            ruled = await asking.by_rule()
            yield PartialTextEvent(data=PartialText(text=BROKEN_OFF + ruled if answer.text else ruled))
        data = await asking.concluded(BROKEN_OFF.join(filter(None, (answer.text, ruled))))
        run.results = [ResultRecord(each.type, each.id, each.score) for each in data.results]
        run.end_reason = "answered" if data.results or asking.tools.results else "nothing_found"
        for last in ending(FinalAnswerEvent(data=data), data.understood):
            yield last


@dataclass(kw_only=True)
class ProjectTools(Toolset):
    """The general tools over the caller's entities, within the project that the request names."""

    project: str | None = None

    def required(self, name: str) -> Sequence[Condition]:
        return () if self.project is None else (Comparison(field="project", value=self.project),)


@dataclass
class Asking:
    """A question, and the answer in progress. `found` are the entities that a first search found, or that the answer by rule
    speaks of; `understood` is the Query that the answer gives the result of, and `is_read` says that no model made it.
    """

    request: OntologyAskRequest
    tools: ProjectTools
    found: Sequence[EntityCandidate] = ()
    total: int = 0
    understood: Understood | None = None
    is_read: bool = False
    answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = answer_with(self.tools, STEP, MAX_TURNS, self._filters, self._verifier, self._cites)

    @classmethod
    async def of(cls, request: OntologyAskRequest, caller: Caller, services: Services, run: Run) -> Asking:
        """The question over the caller's entities. Raises NotFound for a project that is not the caller's."""
        access = access_of(request.types or (), caller)
        acting = access.acting(services)
        project = None if request.project_id is None else await project_name(acting.reader, caller, request.project_id)
        tools = ProjectTools(
            services=services,
            caller=caller,
            run=run,
            access=access,
            today=datetime.datetime.now(datetime.UTC).date(),
            names=[*access.homes],
            project=project,
        )
        return cls(request, tools)

    # ---- by a model ----

    async def written(self) -> AsyncGenerator[Event]:
        """The events of an answer that a model writes."""
        async with aclosing(events_of(self.answer, await self._messages(), self.tools.tools())) as events:
            async for event in events:
                yield event

    async def _messages(self) -> Sequence[Message]:
        request, tools = self.request, self.tools
        question = request.question
        await self._search(WorkspaceIntent(question))
        hits = [
            Hit(source=each.type, id=each.id, title=each.title, text=unmark(mark(each.snippet)))
            for each in self.found[:FIRST_HITS]
        ]
        history = [
            message
            for turn in request.history[-HISTORY_TURNS:]
            for message in (earlier("user", turn.question), earlier("assistant", turn.answer))
        ]
        return answer_messages(
            question,
            history,
            about=ABOUT,
            card=await tools.card(question),
            today=tools.today,
            notes=NOTES,
            facts="" if tools.project is None else f"the project {tools.project}",
            found="\n".join(hit_block(tools.numbered(each), each) for each in hits) or "(nothing was found)",
        )

    def _cites(self, text: str) -> bool:
        return any(f"[{n}]" in text for n in range(1, len(self.tools.hits) + 1))

    def _filters(self, written: WrittenAnswer) -> Sequence[TextFilter]:
        numbers = range(1, len(self.tools.hits) + 1)
        text = "\n".join(f"{each.title}\n{each.text}" for each in self.tools.hits)
        return CitationFilter(numbers), LinkFilter({ALWAYS: text})

    # ---- by rule ----

    async def by_rule(self) -> str:
        """The text of an answer without a model. Raises DatabaseUnavailable."""
        request, tools = self.request, self.tools
        if request.understood is not None:
            return await self._as_given(request.understood.query)
        before = request.history[-1].question if request.history else ""
        reading = await read_query(request.question, request.types or (), tools.caller, tools.services, before)
        if reading.query is not None and reading.verdict == "confident":
            query = reading.query.model_copy(
                update={"where": (*tools.required(reading.query.source), *reading.query.where)}
            )
            with suppress(InvalidInput):
                return await self._sentence(query, reading.unread)
        return await self._search(await off_loop(intent_of, reading))

    async def _as_given(self, query: Query) -> str:
        """The result of a Query that the request gives. Raises InvalidInput for one that cannot run."""
        if query.source not in self.tools.names:
            raise InvalidInput([FieldError("/understood/query/source", f"use one of {', '.join(self.tools.names)}")])
        required = [each for each in self.tools.required(query.source) if each not in query.where]
        return await self._sentence(query.model_copy(update={"where": (*required, *query.where)}), ())

    async def _sentence(self, query: Query, unread: Sequence[str]) -> str:
        """The result of a Query in words. Raises InvalidInput where it cannot run."""
        tools = self.tools
        with tools.run.step("query"):
            result = await answer_query(query, tools.access, tools.services, tools.today)
            tools.results.append(result)
            self.found, self.total = await self._rows_of(result), result.total
        phrases, self.is_read = self._phrases(query), True
        self.understood = understood(result.query, phrases, unread=unread, choices=DECIDING)
        return "\n".join(with_list(result.sentence, [*lines_of(result, phrases)]))

    def _phrases(self, query: Query) -> Phrases:
        tools = self.tools
        return Phrases(tools.access.schema, tools.access.schema.sources[query.source], tools.today)

    async def _search(self, intent: WorkspaceIntent) -> str:
        """Search for what the question seeks; what was found in a line."""
        tools, request = self.tools, self.request
        with tools.run.step("retrieve"):
            found, where, is_met = await find_sought(
                request.question,
                intent,
                request.types or (),
                tools.caller,
                tools.services,
                project_id=request.project_id,
            )
        self.found, self.total = found.entities, found.total
        return message(found, labels(where), is_met=is_met)

    async def _rows_of(self, result: QueryResult) -> list[EntityCandidate]:
        """The first entities that a result is about."""
        tools, query = self.tools, result.query
        order = query.order if query.asks_for_rows else ()
        limit = min(query.limit or RESULTS_MAX, RESULTS_MAX) if query.asks_for_rows else RESULTS_MAX
        rows = Query(source=query.source, where=query.where, text=query.text, order=order, limit=limit, select=("id",))
        found = await answer_query(rows, tools.access, tools.services, tools.today)
        return await self._entities([(query.source, str(row[0])) for row in found.rows])

    async def _entities(self, keys: Sequence[tuple[str, str]]) -> list[EntityCandidate]:
        return await entities_of(self.tools.access.acting(self.tools.services).reader, self.tools.caller, keys)

    # ---- the end ----

    async def concluded(self, text: str) -> OntologyAnswer:
        """The whole answer with the entities that it speaks of."""
        run = self.tools.run
        if self.answer.has_begun and not self.answer.failed:
            await self._spoken_of(text)
        checked = await off_loop(self.answer.checked)
        read = self.understood
        trust = level(
            Exact("sure", read.unread) if read is not None and self.is_read else checked,
            is_talk=self.answer.written.rests_on_nothing,
        )
        return OntologyAnswer(
            response=text,
            results=[result_of(each) for each in self.found[:RESULTS_MAX]],
            total=self.total,
            understood=read,
            statements=checked_statements(checked),
            confidence=Confidence(level=trust.level, label=trust.label) if trust is not None else None,
            telemetry=Telemetry(
                run_id=str(run.id), turns=run.budget.turns, tool_calls=run.budget.calls, degraded=run.degraded
            ),
        )

    async def _spoken_of(self, text: str) -> None:
        """Set the entities that an answer speaks of: those that it cites, else the rows of the result that it rests on, or
        the rows that its text names where it rests on several.
        """
        tools, main = self.tools, self.answer.written.main_result
        cited = list(dict.fromkeys(int(number) for number in CITATION.findall(text)))
        keys = [(hit.source, hit.id) for n in cited if 0 < n <= len(tools.hits) for hit in [tools.hits[n - 1]]]
        if keys:
            self.found = await self._entities(keys)
            self.total = len(self.found)
        elif tools.results and (main is not None or self.answer.written.kept is None):
            place = main - 1 if main is not None and 0 < main <= len(tools.results) else len(tools.results) - 1
            result = tools.results[place]
            self.found, self.total = await self._rows_of(result), result.total
            others = [each for each in self._named() if each is not result and each.query.asks_for_rows]
            found = [*self.found, *[row for each in others for row in await self._rows_of(each)]]
            places = {each.id: folded(text).find(folded(each.title)) for each in found} if others else {}
            told = sorted((each for each in found if places.get(each.id, -1) >= 0), key=lambda each: places[each.id])
            if told:
                self.found, self.total = told, len(told)
            self.understood = understood(result.query, self._phrases(result.query), choices=DECIDING)
        else:
            self.found, self.total = (), 0

    def _named(self) -> list[QueryResult]:
        """The results that the first line of the answer names."""
        names = self.answer.written.names
        return [each for n, each in enumerate(self.tools.results, start=1) if f"{RESULT}{n}" in names]

    def _verifier(self) -> Verifier:
        """What checks the text against the results and the entities found: those that it says it rests on, if it says so."""
        kept = self.answer.written.kept
        cited = {*map(int, CITATION.findall(self.answer.text))}
        named = None if kept is None else kept | cited
        hits = [(n, each) for n, each in enumerate(self.tools.hits, start=1) if named is None or n in named]
        sources = [SourceText(n, each.title, each.text) for n, each in hits]
        questions = [*(turn.question for turn in self.request.history), self.request.question]
        told = [turn.answer for turn in self.request.history]
        return self.tools.verifier(sources, "\n".join(questions), about=ABOUT, told=told)
