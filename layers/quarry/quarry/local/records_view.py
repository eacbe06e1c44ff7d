"""How the events of a records answer look in the terminal."""

from __future__ import annotations

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from quarry.local.askable import Askable, View
from quarry.local.terminal import CITATION_STYLE, printable
from quarry.records.contract import (
    AnswerChunkEvent,
    AskRequest,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    Source,
    SourcesEvent,
    ToolCallEvent,
    ToolObservationEvent,
)

LOCAL_SERVER = "http://127.0.0.1:8080"

_CONFIDENCE_STYLES = {"high": "green", "medium": "yellow", "low": "red"}


class AnswerView(View):
    """The events of an answer from records, readable: research, answer, sources, confidence, what to ask next, the link."""

    def __init__(self, console: Console, server: str | None = None) -> None:
        super().__init__(console, server)
        self._sources: list[Source] = []

    def show(self, event: BaseModel) -> None:
        match event:
            case ToolCallEvent():
                self._tool_call(event.tool, event.arguments)
            case ToolObservationEvent():
                self._line(f"  {event.summary}", "dim")
            case SourcesEvent():
                self._sources = event.sources
            case AnswerChunkEvent():
                self._write(event.chunk)
            case ConfidenceEvent():
                self._end_answer()
                self._show_sources()
                self._console.print()
                self._line(event.label, _CONFIDENCE_STYLES[event.level])
            case FollowupsEvent():
                self._ask_next(event.questions)
            case DoneEvent():
                self._show_end(event)

    def _show_sources(self) -> None:
        if not self._sources:
            return
        self._console.print()
        self._line("Sources", "bold")
        table = Table.grid(padding=(0, 1))
        table.add_column(justify="right", style=CITATION_STYLE, no_wrap=True)
        table.add_column(style="dim", no_wrap=True)
        table.add_column()
        for source in self._sources:
            facts = [source.type.replace("_", " "), *([source.date.isoformat()] if source.date else [])]
            table.add_row(f"[{source.n}]", " · ".join(facts), Text(printable(source.title)))
        self._console.print(table, soft_wrap=False)

    def _show_end(self, event: DoneEvent) -> None:
        self._console.print()
        self._tell_degraded(event.degraded)
        if event.answer_id:
            # the page's: at `answers/` it is for programs
            address = f"{(self.page or LOCAL_SERVER).rstrip('/')}/search?id={event.answer_id}"
            self._line(address if self.page else f"{address}  (with `quarry serve`)", "dim")
        else:
            self._line("This answer is not kept.", "dim")


ASKABLE = Askable(
    lambda question: AskRequest(question=question),
    ("quarry.records.answer", "answer_question"),
    lambda client, question: client.ask_records(question),
    AnswerView,
)
