"""The general tools of one answer: the same in every domain, within what the caller allowed.

Scope, identity and the filters of the request are bound in here; a model cannot widen them. What it finds becomes a numbered
source, which an answer can cite; what it queries is kept, so that numbers can be held against it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from quarry.agent import tools as agent_tools
from quarry.agent.domain_tools import bounded
from quarry.agent.reading import matched_values
from quarry.agent.service import answer_query
from quarry.agent.sources import DataAccess, card, describe_sources
from quarry.agent.tools import GetArguments, Hit, SearchArguments, ValuesArguments, values_like
from quarry.answering.answer import Answer, AnswerEvent, FiltersOf, TextPiece, Withdrawn, never
from quarry.answering.loop import Tool, ToolFinished, ToolProgress, ToolResult, ToolStarted, Working
from quarry.answering.written import RESULT
from quarry.language.messages import gettext, ngettext
from quarry.language.word_forms import STOP_WORDS, plural
from quarry.models.interface import Message
from quarry.platform.errors import FieldError, InvalidInput, SourceUnavailable
from quarry.platform.off_loop import off_loop
from quarry.platform.text import fence, words
from quarry.query.contract import QueryResult, SourceDescription
from quarry.query.paths import unknown
from quarry.runs.run_log import Run
from quarry.schema.algebra import Condition, Query
from quarry.services.services import Caller, Services
from quarry.spans.numbers import currency_code, unit_named
from quarry.streaming.events import (
    Event,
    PartialText,
    PartialTextEvent,
    TextWithdrawnEvent,
    ToolCalled,
    ToolCallEvent,
    ToolObservationEvent,
    ToolObserved,
    Withdrawal,
)
from quarry.verification.check import Verifier
from quarry.verification.wire import SourceText

WHOLE_CHARACTERS_MAX = 8_000
"""Characters of a whole row that a model gets."""
SEARCHED_MAX = 8
"""Rows that one search shows."""
TITLES = ("title", "name")
"""What the name of a row's title ends in."""
NOTED_FROM = 1_000
"""Above the numbers that an answer can cite."""


@dataclass(kw_only=True)
class Toolset:
    """The general tools over the sources of these `names`, and what they found.

    `results` are those of queries, `hits` the rows found or read whole, numbered from 1, `noted` what else the model was told of
    the data. `access` is the schema of all sources, `today` the day that relative dates count from.
    """

    services: Services
    caller: Caller
    run: Run
    access: DataAccess
    today: datetime.date
    names: Sequence[str]
    results: list[QueryResult] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)

    # ---- what a domain may say ----

    @property
    def searched(self) -> Sequence[str]:
        """The sources whose texts `search` covers."""
        return [
            name for name in self.names if name in (sources := self.access.schema.sources) and sources[name].holds_words
        ]

    @property
    def read_whole(self) -> Sequence[str]:
        """The sources whose rows `get` gives."""
        return self.searched

    def required(self, name: str) -> Sequence[Condition]:
        """The conditions that every row of a source must meet. Raises InvalidInput where the source cannot tell one."""
        return ()

    @property
    def has_found(self) -> bool:
        """Whether a tool has found something."""
        return bool(self.hits or self.results)

    # ---- the tools ----

    async def described(self) -> dict[str, SourceDescription]:
        """The sources with their fields and some values."""
        sources = await describe_sources(self.access.caller, self.services)
        return {name: sources[name] for name in self.names if name in sources}

    async def card(self, question: str) -> str:
        """The sources for a prompt, with the values that words of the question may mean; empty where there are none."""
        if not self.names:
            return ""
        matched = await matched_values(question, self.names, self.access, self.services)
        return await off_loop(card, await self.described(), question, matched)

    def tools(self) -> list[Tool]:
        """The tools to offer."""
        runs: Mapping[str, Working] = {
            "search": self._search, "query": self._query, "get": self._get, "values": self._values,
            "describe_collections": self._describe,
        }  # fmt: skip
        return [
            Tool(each.name, each.description, each.arguments, runs[each.name], each.unlisted)
            for each in agent_tools.AGENT_TOOLS
        ]

    async def _search(self, arguments: SearchArguments) -> ToolResult:
        return await self.search(arguments, self.allowed(arguments.source, "/source", self.searched))

    async def search(self, arguments: SearchArguments, names: Sequence[str]) -> ToolResult:
        """What a search of these sources finds."""
        where = (*self.required(names[0]), *arguments.where) if len(names) == 1 else arguments.where
        limited = arguments.model_copy(update={"where": where, "limit": min(arguments.limit, SEARCHED_MAX)})
        response = await agent_tools.found_texts(limited, names, self.access, self.services)
        hits = [Hit.model_validate(each) for each in response["results"]]
        return search_result([hit_block(self.numbered(each), each) for each in hits], response)

    def numbered(self, hit: Hit, *, is_whole: bool = False) -> int:
        """The number of a row among the sources of the answer. One that is whole now has more to say than when it was found."""
        for place, other in enumerate(self.hits, start=1):
            if (other.source, other.id) == (hit.source, hit.id):
                if is_whole:
                    self.hits[place - 1] = other.model_copy(update={"text": f"{other.text}\n{hit.text}"})
                return place
        self.hits.append(hit)
        return len(self.hits)

    async def _query(self, arguments: Query) -> ToolResult:
        self.allowed((arguments.source,), "")
        required = self.required(arguments.source)
        result = await self._run(arguments.model_copy(update={"where": (*required, *arguments.where)}))
        return self.tool_result(result)

    def tool_result(self, result: QueryResult) -> ToolResult:
        """The result of a query, numbered and kept."""
        self.results.append(result)
        number = f"Result {RESULT}{len(self.results)}: "
        table = json.dumps(agent_tools.result_table(result), ensure_ascii=False)
        return ToolResult(result.total, result.sentence, number + table)

    async def _run(self, query: Query) -> QueryResult:
        return await answer_query(query, self.access, self.services, self.today)

    async def _get(self, arguments: GetArguments) -> ToolResult:
        self.allowed((arguments.source,), "", self.read_whole)
        most = WHOLE_CHARACTERS_MAX // len(arguments.id)
        rows = [await self.get(arguments.source, id, most) for id in arguments.id]
        return ToolResult(
            len(rows), "; ".join(each.summary for each in rows), "\n".join(each.text_for_model for each in rows)
        )

    async def get(self, source: str, id: str, characters_max: int) -> ToolResult:
        """One row whole, in at most so many characters."""
        whole = await agent_tools.read_whole(source, id, self.access, self.services)
        title = next((str(value) for name, value in whole.items() if value and name.endswith(TITLES)), id)
        cut = bounded(whole, characters_max)
        number = self.numbered(Hit(source=source, id=id, title=title, text=row_text(cut)), is_whole=True)
        return ToolResult(1, title, f"Source [{number}]: {json.dumps(cut, ensure_ascii=False)}")

    async def _values(self, arguments: ValuesArguments) -> ToolResult:
        self.allowed((arguments.source,), "")
        rows = await values_like(arguments.source, arguments.field, arguments.like, self._run, self.services)
        return self._note(len(rows), ngettext("{number} value", "{number} values", len(rows)), rows)

    async def _describe(self, arguments: agent_tools.DescribeArguments) -> ToolResult:
        names = self.allowed(arguments.source, "/source")
        page = await agent_tools.described_page(
            arguments.source, arguments.page, self.names, self.access, self.services
        )
        return self._note(len(names), ngettext("{number} source", "{number} sources", len(names)), page)

    def _note(self, count: int, summary: str, tool_result: object) -> ToolResult:
        self.noted.append(json.dumps(tool_result, ensure_ascii=False))
        return ToolResult(count, summary, self.noted[-1])

    def verifier(
        self,
        sources: Sequence[SourceText],
        question: str,
        *,
        about: str,
        earlier: Iterable[str] = (),
        own: Iterable[str] = (),
    ) -> Verifier:
        """What checks an answer against these sources, the results of queries, and what else was told of the data. `about` says
        what the data is, `earlier` are the answers before, `own` texts that are not the model's.
        """
        noted = [SourceText(n, "", text) for n, text in enumerate(self.noted, start=NOTED_FROM)]
        source_words = [word for name in self.names for word in words(plural(name.replace("_", " ")))]
        data = {word for word in (*source_words, *words(about)) if word not in STOP_WORDS}
        return Verifier(
            [*sources, *noted], self.results, question=question, today=self.today, own=own, earlier=earlier, data=data
        )

    def allowed(self, names: Sequence[str], pointer: str, among: Sequence[str] = ()) -> list[str]:
        """The sources of these names, or all of them; `among` are those that the tool works on, if not all. Raises InvalidInput
        for a source that the asker did not allow or the tool does not work on, and SourceUnavailable for one that cannot be read.
        """
        for place, name in enumerate(names):
            at = f"{pointer}/{place}" if pointer else "/source"
            if name in self.access.left_out:
                raise SourceUnavailable([name])
            if name not in self.names:
                raise unknown(at, "the data", "source", name, self.names)
            if among and name not in among:
                raise InvalidInput([FieldError(at, agent_tools.not_searched(name, among, self.access))])
        return list(names) or list(among) or list(self.names)


def search_result(blocks: Sequence[str], response: Mapping[str, object]) -> ToolResult:
    """The result of a search for the model: the rows found, and how many meet its conditions."""
    count = len(blocks)
    summary = ngettext("{number} row found", "{number} rows found", count) if count else gettext("Nothing found")
    least = "At least " if response.get("more") else ""
    met = [f"{least}{response['meeting']} rows meet `where`."] if "meeting" in response else []
    return ToolResult(count, summary, "\n".join([*met, *(blocks or ["(nothing was found)"])]))


def hit_block(number: int, hit: Hit) -> str:
    """A found row as fenced data with its number."""
    dated = f' date="{hit.date}"' if hit.date else ""
    text = hit.text if hit.text.startswith(hit.title) else f"{hit.title}\n{hit.text}".strip()
    if hit.fields:
        text += f"\n{json.dumps(hit.fields, ensure_ascii=False)}"
    return f'<source n="{number}" of="{hit.source}" id="{fence(hit.id)}"{dated}>\n{fence(text)}\n</source>'


def row_text(row: Mapping[str, Any]) -> str:
    """A row that was read whole as the check reads it: lines such as "total funding: USD 14500000" for
    `{"total_funding_usd": 14500000}`. Nested values have their own names.
    """
    return "\n".join(_lines("", row))


def _lines(name: str, value: Any) -> Iterator[str]:
    match value:
        case None | "" | []:
            return
        case Mapping():
            for key, each in value.items():
                # an id is a name of words that say nothing
                if key != "id" and not key.endswith("_id"):
                    yield from _lines(key, each)
        case [*items] if any(isinstance(each, Mapping) for each in items):
            for each in items:
                yield from _lines(name, each)
        case [*items]:
            yield _line(name, ", ".join(map(str, items)))
        case bool():
            yield _line(name, "yes" if value else "no")
        case int() | float():
            yield _line(*_measured(name, value))
        case _:
            yield _line(name, str(value))


def _line(name: str, value: str) -> str:
    return f"{name.replace('_', ' ')}: {value}".removeprefix(": ")


def _measured(name: str, value: float) -> tuple[str, str]:
    """The name of a number without its unit, and the number with it."""
    head, _, last = name.rpartition("_")
    if code := currency_code(last.casefold()):
        return head or name, f"{code} {value}"
    unit = unit_named([name])
    return name, f"{value} {unit}" if unit else str(value)


def answer_with(
    toolset: Toolset,
    step: str,
    max_turns: int,
    filters: FiltersOf,
    verifier: Callable[[], Verifier],
    cites: Callable[[str], bool] = never,
) -> Answer:
    """The answer of a domain that is written with these tools."""
    return Answer(toolset.run, step, max_turns, filters, cites, verifier, has_found=lambda: toolset.has_found)


def event_of(happened: AnswerEvent) -> Event | None:
    """The event; None where nothing of it is told."""
    match happened:
        case TextPiece(piece):
            return PartialTextEvent(data=PartialText(text=piece))
        case Withdrawn(reason):
            return TextWithdrawnEvent(data=Withdrawal(reason=reason))
        case ToolProgress(progress):
            return progress
        case ToolStarted(id, tool, arguments):
            return ToolCallEvent(data=ToolCalled(id=id, tool=tool, arguments=arguments))
        case ToolFinished(id, tool, result):
            observation = ToolObserved(id=id, tool=tool, count=result.count, summary=result.summary)
            return ToolObservationEvent(data=observation)
    return None


async def events_of(
    answer: Answer,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    own: Callable[[AnswerEvent], Event | None] = event_of,
) -> AsyncGenerator[Event]:
    """The events of an answer as it is written: the `own` ones of a domain. A model that fails ends them. Raises
    DatabaseUnavailable.
    """
    async with aclosing(answer.events(messages, tools)) as happened:
        async for each in happened:
            if (event := own(each)) is not None:
                yield event
