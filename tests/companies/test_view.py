"""A company search in the terminal, and what its run cost."""

from __future__ import annotations

import io

from rich.console import Console

from quarry.companies.contract import (
    Activity,
    ActivityEvent,
    ActivityStatus,
    FinalAnswer,
    FinalAnswerEvent,
    Reference,
    Telemetry,
)
from quarry.local.views import CompaniesView
from quarry.streaming.events import PartialText, PartialTextEvent
from tests.companies.factories import company


def activity(id: str, status: ActivityStatus, detail: str | None = None) -> ActivityEvent:
    over = None if status == "running" else 12.3
    return ActivityEvent(data=Activity(id=id, label=f"Step {id}", status=status, detail=detail, duration_ms=over))


def answer(*, degraded: list[str]) -> FinalAnswerEvent:
    weeder = company("c-weeder", "Weeder\x1b[2J", website_url="https://weeder.example")
    reference = Reference(
        company_id="c-weeder",
        company_name="Weeder\x1b[2J",
        reason="It pulls weeds.",
        inline_description="Weeds, pulled",
        evidence_chips=["weeding", "Leeds"],
        confidence=0.81,
    )
    telemetry = Telemetry(
        run_id="0123456789abcdef",
        iteration_count=1,
        tool_call_count=5,
        end_reason="confidence_met",
        degraded_steps=degraded,
    )
    return FinalAnswerEvent(
        data=FinalAnswer(
            content="Weeder fits best.",
            references=[reference],
            companies_by_id={"c-weeder": weeder},
            telemetry=telemetry,
        )
    )


def test_a_search_is_shown_with_its_steps_text_companies_and_run() -> None:
    file = io.StringIO()
    view = CompaniesView(Console(file=file, width=200, highlight=False, markup=False, emoji=False))
    for event in (
        activity("a", "running"),
        activity("a", "completed", "2 of 3"),
        activity("b", "running"),
        activity("b", "failed"),
        PartialTextEvent(data=PartialText(text="Weeder ")),
        PartialTextEvent(data=PartialText(text="fits best.")),
        answer(degraded=["company_plan"]),
    ):
        view.show(event)
    shown = "\n".join(line.rstrip() for line in file.getvalue().splitlines())
    assert (
        shown
        == """\
✓ Step a: 2 of 3  12 ms
✗ Step b  12 ms

Weeder fits best.


1. Weeder[2J  confidence 0.81  https://weeder.example
   Weeds, pulled
   It pulls weeds.
   weeding · Leeds

Degraded: company_plan
confidence met; iterations: 1, look-ups: 5; `quarry runs show 01234567` tells more"""
    )
