"""What a model is told before it answers."""

from __future__ import annotations

import datetime

from quarry.answering.written import answer_messages, earlier


def test_the_data_the_day_the_users_filters_and_the_history_are_told() -> None:
    system, before, question = answer_messages(
        "Why?",
        [earlier("assistant", "word " * 1000)],
        about="a shop",
        card="tickets: status text (open)",
        today=datetime.date(2026, 11, 27),
        facts="tickets, open",
    )
    assert "tickets: status text (open)" in system.content
    assert "Friday, 2026-11-27" in system.content
    assert len(before.content) < 1500
    assert question.content == "Why?\n\nOnly this may be used, and tools keep to it: tickets, open."
