"""Answers of each domain, shown in the terminal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from quarry.answering.contract import AnswerData, FinalAnswerEvent
from quarry.campaigns import contract as campaigns
from quarry.companies import contract as companies
from quarry.local.terminal import CITATION_STYLE, MarkdownWriter, conditions_line, printable, snippet_text
from quarry.ontology import contract as ontology
from quarry.people import contract as people
from quarry.records import contract as records
from quarry.streaming.events import PartialTextEvent, TextWithdrawnEvent, ToolCallEvent, ToolObservationEvent
from quarry.verification.wire import CheckedStatement, Confidence, MarkedText, marked_end

CAMPAIGNS_MAX = 8
BAR_WIDTH = 24
LOCAL_SERVER = "http://127.0.0.1:8080"

_STEP_LOOKS = {"completed": ("✓", "dim"), "failed": ("✗", "yellow")}
_CONFIDENCE_STYLES = ((0.7, "green"), (0.4, "yellow"), (0.0, "red"))
_LEVEL_STYLES = {"high": "green", "medium": "yellow", "low": "red"}


Numbers = records.AggregationEvent | companies.Aggregation | campaigns.Aggregation


R = TypeVar("R")


class View(ABC):
    """Shows events in the terminal, one after another. `server` is the address of the server that sends them, None if they come
    from this process; `page` is the address of the page, for links.
    """

    def __init__(self, console: Console, server: str | None = None) -> None:
        self._console, self._server, self.page = console, server, server
        self._answer: MarkdownWriter | None = None
        self._marked = MarkedText()

    def show(self, event: BaseModel) -> None:
        """Print an event."""
        match event:
            case ToolCallEvent(data=call):
                self._tool_call(call.tool, call.arguments)
            case ToolObservationEvent(data=observation) | campaigns.ToolObservationEvent(data=observation):
                self._line(f"  {observation.summary}", "dim")
            case PartialTextEvent(data=piece):
                self._write(piece.text)
            case TextWithdrawnEvent(data=withdrawal):
                self._withdraw(withdrawal.reason)
            case _:
                self._show(event)

    @abstractmethod
    def _show(self, event: BaseModel) -> None:
        """Print an event of this domain alone."""

    def _line(self, text: str, style: str = "") -> None:
        """Print a line of untrusted text."""
        self._console.print(Text(printable(text), style))

    def _heading(self, text: str) -> None:
        self._console.print()
        self._line(text, "bold")

    def _result(self, heading: Text, *lines: tuple[str, str] | Text) -> None:
        """Print a result under its heading, with its lines that are not empty, each in its style."""
        self._console.print()
        self._console.print(heading)
        for line in lines:
            text = line if isinstance(line, Text) else Text(printable(line[0]), line[1])
            if text:
                self._console.print(Text("   ") + text)

    def _table(self, rows: Iterable[Sequence[str]], *columns: Mapping[str, Any]) -> None:
        """Print rows in columns, each with rich's options for it."""
        table = Table.grid(padding=(0, 1))
        for column in columns:
            table.add_column(**column)
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        self._console.print(table, soft_wrap=False)

    def _tool_call(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Print a tool call with its arguments."""
        values = {
            name: ", ".join(map(str, each)) if isinstance(each, list) else each for name, each in arguments.items()
        }
        argument_text = ", ".join(f"{name}: {value}" for name, value in values.items())
        self._line(f"{tool.replace('_', ' ')}: {argument_text or 'everything'}", "dim")

    def _write(self, piece: str) -> None:
        """Print the next piece of the answer."""
        self._print(self._marked.feed(piece))

    def _withdraw(self, reason: str) -> None:
        """Say that what was printed of the answer is no part of it."""
        self._print(self._marked.withdrawn(reason))

    def _print(self, text: str) -> None:
        if not text:
            return
        if self._answer is None:
            self._console.print()
            self._answer = MarkdownWriter(self._console)
        self._answer.feed(text)

    def _end_answer(self, statements: Iterable[CheckedStatement] = ()) -> None:
        """Print the rest of the answer, with its marks and why they are there."""
        self._print(marked_end(self._marked, statements))
        if self._answer is not None:
            self._answer.finish()
            self._answer = None

    def _ask_next(self, questions: Sequence[str]) -> None:
        if questions:
            self._heading("Ask next")
            for question in questions:
                self._line(f"• {question}")

    def _tell_confidence(self, confidence: Confidence | records.ConfidenceEvent | None) -> None:
        if confidence is not None:
            self._console.print()
            self._line(confidence.label, _LEVEL_STYLES[confidence.level])

    def _tell_numbers(self, numbers: Numbers | None, text: str) -> None:
        """Print what the numbers of a text are, unless it says so itself."""
        if numbers is None or numbers.query is None or numbers.query.last.asks_for_rows or not numbers.sentence:
            return
        if numbers.sentence.removesuffix(".") not in text:
            self._console.print()
            self._line(numbers.sentence, "dim")

    def _tell_degraded(self, steps: Sequence[str]) -> None:
        if steps:
            self._line(f"Degraded: {', '.join(steps)}", "yellow")


class RecordsView(View):
    """The events of an answer from records: research, answer, sources, confidence, what to ask next, the link."""

    def __init__(self, console: Console, server: str | None = None) -> None:
        super().__init__(console, server)
        self._sources: list[records.Source] = []
        self._numbers: records.AggregationEvent | None = None
        self._text = ""

    def _show(self, event: BaseModel) -> None:
        match event:
            case records.ToolCallEvent():
                self._tool_call(event.tool, event.arguments)
            case records.ToolObservationEvent():
                self._line(f"  {event.summary}", "dim")
            case records.SourcesEvent():
                self._sources, self._numbers = event.sources, None
            case records.AggregationEvent():
                self._numbers = event
            case records.AnswerChunkEvent():
                self._text += event.chunk
                self._write(event.chunk)
            case records.TextWithdrawnEvent():
                self._text = ""
                self._withdraw(event.reason)
            case records.CitationsEvent():
                self._end_answer(event.statements)
                self._tell_numbers(self._numbers, self._text)
                self._show_sources("Sources" if event.citations else "Nearest records")
            case _:
                self._show_below(event)

    def _show_below(self, event: BaseModel) -> None:
        """What follows the text and its sources."""
        match event:
            case records.ConfidenceEvent():
                self._tell_confidence(event)
            case records.FollowupsEvent():
                self._ask_next(event.questions)
            case records.DoneEvent():
                self._show_end(event)

    def _show_sources(self, heading: str) -> None:
        if not self._sources:
            return
        self._heading(heading)
        rows = []
        for each in self._sources:
            facts = [each.type.replace("_", " "), *([each.date.isoformat()] if each.date else [])]
            rows.append((f"[{each.n}]", " · ".join(facts), each.title))
        number = {"justify": "right", "style": CITATION_STYLE, "no_wrap": True}
        self._table(rows, number, {"style": "dim", "no_wrap": True}, {})

    def _show_end(self, event: records.DoneEvent) -> None:
        self._console.print()
        self._tell_degraded(event.degraded)
        if event.answer_id:
            # the address in the page; `/answers/{id}` is for programs
            address = f"{(self.page or LOCAL_SERVER).rstrip('/')}/search?id={event.answer_id}"
            self._line(address if self.page else f"{address}  (with `quarry serve`)", "dim")
        else:
            self._line("This answer is not kept.", "dim")


class CompaniesView(View):
    """The events of a company search: each finished step, the answer as it comes, the companies."""

    def __init__(self, console: Console, server: str | None = None) -> None:
        super().__init__(console, server)
        self._steps: list[companies.Activity] = []
        """Those that ended while the answer was written: shown below it."""
        self._is_writing = False

    def _write(self, piece: str) -> None:
        self._is_writing = True
        super()._write(piece)

    def _show(self, event: BaseModel) -> None:
        match event:
            case companies.ActivityEvent(data=step) if step.status != "running":
                self._steps.append(step)
                if not self._is_writing:
                    self._show_steps()
            case companies.FinalAnswerEvent(data=answer):
                self._end_answer(answer.statements)
                self._tell_numbers(answer.aggregation, answer.content)
                if self._is_writing:
                    self._console.print()
                self._tell_confidence(answer.confidence)
                self._show_steps()
                self._show_companies(answer)

    def _show_steps(self) -> None:
        for step in self._steps:
            sign, style = _STEP_LOOKS[step.status]
            detail = f": {step.detail}" if step.detail else ""
            took = f"  {step.duration_ms:,.0f} ms" if step.duration_ms is not None else ""
            self._line(f"{sign} {step.label}{detail}{took}", style)
        self._steps.clear()

    def _show_companies(self, answer: companies.FinalAnswer) -> None:
        for place, each in enumerate(answer.references, start=1):
            style = next(style for least, style in _CONFIDENCE_STYLES if each.confidence >= least)
            heading = Text(f"{place}. {printable(each.company_name)}", "bold")
            heading.append(f"  confidence {each.confidence:.2f}", style)
            heading.append(f"  {printable(answer.companies_by_id[each.company_id].website_url or '')}", "dim")
            self._result(
                heading,
                (each.inline_description, ""),
                (each.reason if each.reason != each.inline_description else "", "italic"),
                conditions_line(each.meets, each.misses),
                (" · ".join(each.evidence_chips), "cyan"),
            )
        self._console.print()
        run = answer.telemetry
        self._tell_degraded(run.degraded_steps)
        more = f"; `quarry runs show {run.run_id[:8]}` shows more" if self._server is None else ""
        ended = run.end_reason.replace("_", " ")
        self._line(f"{ended}; iterations: {run.iteration_count}, look-ups: {run.tool_call_count}{more}", "dim")


class CampaignsView(View):
    """The events of a chat about campaigns: searches, answer, campaigns, counts as bars, what to ask next."""

    def _show(self, event: BaseModel) -> None:
        if not isinstance(event, campaigns.FinalAnswerEvent):
            return
        answer = event.data
        self._end_answer(answer.statements)
        self._tell_numbers(answer.aggregation, answer.response)
        self._tell_confidence(answer.confidence)
        if first := answer.campaigns[:CAMPAIGNS_MAX]:
            self._heading(f"Campaigns ({'at least ' if answer.more else ''}{answer.total})")
            self._table(
                ((each.brand or each.company, each.channel, each.offer or "–") for each in first),
                {},
                {"style": "dim"},
                {},
            )
            if answer.total > CAMPAIGNS_MAX:
                self._line(f"… and {answer.total - len(first)} more", "dim")
        for name in campaigns.AGGREGATED if answer.aggregation else ():
            self._bars(name.replace("_", " "), getattr(answer.aggregation, name))
        self._ask_next(answer.suggestions)
        self._tell_degraded(answer.telemetry.degraded_steps)

    def _bars(self, name: str, counts: Mapping[str, int]) -> None:
        if not counts:
            return
        self._heading(f"By {name}")
        most = max(counts.values())
        top = list(counts.items())[:CAMPAIGNS_MAX]
        rows = ((value, "█" * max(1, round(BAR_WIDTH * count / most)), str(count)) for value, count in top)
        self._table(rows, {}, {"style": "cyan"}, {"justify": "right"})


class AnswerView(View):
    """The events of an answer: searches, the text, and the rows that it speaks of."""

    def _show(self, event: BaseModel) -> None:
        if isinstance(event, FinalAnswerEvent):
            for result in self._end(event.data, event.data.results):
                self._show_result(result.id, "", result.title, "", result.snippet)

    def _end(self, answer: AnswerData, results: Sequence[R]) -> Iterator[R]:
        """The results to show between the text and what follows them."""
        self._end_answer()
        yield from results
        if answer.total > len(results):
            self._line(f"… and {answer.total - len(results)} more", "dim")
        self._tell_degraded(answer.telemetry.degraded)

    def _show_result(self, id: str, type: str, title: str, about: str, snippet: str) -> None:
        """A result with its snippet, the matched words in bold."""
        kind = (f"{type}  " if type else "", "cyan")
        self._console.print(Text.assemble(kind, (printable(title), "bold")))
        self._line("  " + " · ".join(filter(None, (about, id))), "dim")
        self._console.print(Text("  ") + snippet_text(snippet))


class ProjectsView(AnswerView):
    """The same for projects: each entity with its type and project."""

    def _show(self, event: BaseModel) -> None:
        if not isinstance(event, ontology.FinalAnswerEvent):
            super()._show(event)
            return
        for result in self._end(event.data, event.data.results):
            near = f"{result.id} · only near" if result.near else result.id
            self._show_result(near, result.type, result.title, result.project_name or "", result.snippet)


class PeopleView(View):
    """The answer of a people search: how the query was read, the people with reasons and cards, what could be relaxed."""

    def _show(self, event: BaseModel) -> None:
        assert isinstance(event, people.PeopleSearchResponse)
        payload = event.constraints
        for name, constraints in (("must", payload.must), ("should", payload.should), ("not", payload.exclude)):
            if listed := "; ".join(_facts(constraints)):
                self._console.print(Text.assemble((f"{name:<7}", "dim"), printable(listed)))
        if not event.people:
            self._line(f"\n{event.notice}")
        elif event.fallback_tier:
            self._line(f"\nToo few people fit exactly: {people.FALLBACK_TIERS[event.fallback_tier]}.", "yellow")
        for place, each in enumerate(event.people, start=1):
            self._result(
                Text.assemble((f"{place}. ", "cyan"), (printable(each.name or each.id), "bold")),
                (each.headline or "", ""),
                conditions_line(each.meets, each.misses),
                *((f"• {reason}", "green") for reason in each.why_matched),
                *((_card(card), "dim") for card in each.matched_cards),
            )
        if event.relaxations:
            self._heading("With one constraint less")
            for relaxation in event.relaxations:
                self._line(f"• {relaxation.label}: {relaxation.additional_people:,} more")
        self._console.print()
        self._tell_degraded(event.degraded)
        self._line(f"search {event.search_id}, which cost a credit", "dim")


def _facts(constraints: BaseModel) -> Iterator[str]:
    """The constraints that are set, such as "city: pune"."""
    for name, value in constraints.model_dump(exclude_defaults=True).items():
        yield f"{name.removesuffix('_norm').replace('_', ' ')}: {_listed(value)}"


def _listed(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.0f}" if isinstance(value, float) else str(value)


def _card(card: people.ExperienceCard) -> str:
    """ "Backend engineer, Kestrel Labs, Pune, 2019 to now"."""
    start = str(card.start_date.year) if card.start_date else ""
    end = str(card.end_date.year) if card.end_date else "now" if card.is_current else ""
    period = " to ".join(part for part in (start, end) if part)
    return ", ".join(part for part in (card.title, card.company_name, card.city, period) if part)
