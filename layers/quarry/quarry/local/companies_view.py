"""How the events of a company search look in the terminal."""

from __future__ import annotations

from pydantic import BaseModel
from rich.text import Text

from quarry.companies.contract import (
    Activity,
    ActivityEvent,
    ChatRequest,
    Company,
    FinalAnswer,
    FinalAnswerEvent,
    Reference,
)
from quarry.local.askable import Askable, View
from quarry.local.terminal import conditions_line, printable
from quarry.streaming.events import EnvelopedErrorEvent, PartialTextEvent

_SIGNS = {"running": "·", "completed": "✓", "failed": "✗"}
_STATUS_STYLES = {"running": "dim", "completed": "dim", "failed": "yellow"}
_CONFIDENCE_STYLES = ((0.7, "green"), (0.4, "yellow"), (0.0, "red"))


class SearchView(View):
    """The events of a company search, readable: each step once it is over, the answer as it comes, the companies."""

    def show(self, event: BaseModel) -> None:
        match event:
            case ActivityEvent(data=activity) if activity.status != "running":
                self._end_answer()
                self._show_step(activity)
            case PartialTextEvent(data=piece):
                self._write(piece.text)
            case FinalAnswerEvent(data=answer):
                self._end_answer()
                self._show_companies(answer)

    def _show_step(self, activity: Activity) -> None:
        detail = f": {activity.detail}" if activity.detail else ""
        took = f"  {activity.duration_ms:,.0f} ms" if activity.duration_ms is not None else ""
        self._line(f"{_SIGNS[activity.status]} {activity.label}{detail}{took}", _STATUS_STYLES[activity.status])

    def _end_answer(self) -> None:
        if self._answer is not None:
            super()._end_answer()
            self._console.print()

    def _show_companies(self, answer: FinalAnswer) -> None:
        for place, reference in enumerate(answer.references, start=1):
            self._show_company(place, reference, answer.companies_by_id[reference.company_id])
        self._console.print()
        telemetry = answer.telemetry
        self._tell_degraded(telemetry.degraded_steps)
        more = f"; `quarry runs show {telemetry.run_id[:8]}` shows more" if self._server is None else ""
        self._line(
            f"{telemetry.end_reason.replace('_', ' ')}; iterations: {telemetry.iteration_count}, look-ups: "
            f"{telemetry.tool_call_count}{more}",
            "dim",
        )

    def _show_company(self, place: int, reference: Reference, company: Company) -> None:
        style = next(style for least, style in _CONFIDENCE_STYLES if reference.confidence >= least)
        self._console.print()
        heading = Text(f"{place}. {printable(reference.company_name)}", "bold")
        heading.append(f"  confidence {reference.confidence:.2f}", style)
        heading.append(f"  {printable(company.website_url or '')}", "dim")
        self._console.print(heading)
        self._line(f"   {reference.inline_description}")
        if reference.reason != reference.inline_description:
            self._line(f"   {reference.reason}", "italic")
        if line := conditions_line(reference.meets, reference.misses):
            self._console.print(Text("   ") + line)
        if reference.evidence_chips:
            self._line(f"   {' · '.join(reference.evidence_chips)}", "cyan")


def _request(question: str) -> ChatRequest:
    return ChatRequest.model_validate({"messages": [{"role": "user", "content": question}]})


ASKABLE = Askable(
    _request,
    ("quarry.companies.search", "search_companies"),
    lambda client, question: client.ask_companies(question),
    SearchView,
    EnvelopedErrorEvent.saying,
)
