"""Keyword lookup or question."""

from __future__ import annotations

import pytest

from quarry.records.contract import Intent
from quarry.records.reading import classify_intent


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("bridge weight limit", "keyword"),
        ("CIP-2024-02", "keyword"),
        ('"heritage elm in Quill Square be preserved"', "keyword"),
        ("😀", "keyword"),
        ("the elm?", "question"),
        ("大树为什么保留？", "question"),
        ("tell me everything", "question"),
        ("bridge weight limit trucks", "question"),
    ],
)
def test_a_query_is_a_keyword_lookup_or_a_question(query: str, intent: Intent) -> None:
    assert classify_intent(query) == intent
