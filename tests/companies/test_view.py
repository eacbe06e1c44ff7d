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
from tests.companies.factories import company


def activity(status: ActivityStatus, detail: str | None = None) -> ActivityEvent:
    over = None if status == "running" else 12.3
    return ActivityEvent(data=Activity(id="a", label="Plan", status=status, detail=detail, duration_ms=over))


def answer() -> FinalAnswerEvent:
    weeder = company("c-weeder", "Weeder\x1b[2J", website_url="https://weeder.example")
    reference = Reference(
        company_id="c-weeder", company_name="Weeder\x1b[2J", reason="It pulls weeds.", inline_description="Weeds, pulled",
        evidence_chips=["weeding", "Leeds"], confidence=0.81,
    )  # fmt: skip
    telemetry = Telemetry(
        run_id="0123456789abcdef", iteration_count=1, tool_call_count=5, end_reason="confidence_met",
        degraded_steps=["company_plan"],
    )  # fmt: skip
    known = {"c-weeder": weeder}
    return FinalAnswerEvent(
        data=FinalAnswer(content="", references=[reference], companies_by_id=known, telemetry=telemetry)
    )


def test_a_search_is_shown_with_its_steps_companies_and_run_and_no_control_characters() -> None:
    file = io.StringIO()
    view = CompaniesView(Console(file=file, width=200, highlight=False, markup=False, emoji=False))
    for event in (activity("running"), activity("completed", "2 of 3"), activity("failed"), answer()):
        view.show(event)
    shown = [line.rstrip() for line in file.getvalue().splitlines() if line.strip()]
    assert shown == [
        "✓ Plan: 2 of 3  12 ms",
        "✗ Plan  12 ms",
        "1. Weeder[2J  confidence 0.81  https://weeder.example",
        "   Weeds, pulled",
        "   It pulls weeds.",
        "   weeding · Leeds",
        "Degraded: company_plan",
        "confidence met; iterations: 1, look-ups: 5; `quarry runs show 01234567` shows more",
    ]
