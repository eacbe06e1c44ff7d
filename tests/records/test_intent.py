"""Keyword lookup or question."""

from __future__ import annotations

import pytest

from quarry.records.contract import Intent
from quarry.records.intent import classify_intent, without_exclusions, words_to_look_up


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


@pytest.mark.parametrize(
    ("query", "looked_up"),
    [
        ("How much did the bridge go up?", "bridge"),
        ("the bridge", "the bridge"),
        ('why was the "heritage elm" kept?', 'why was the "heritage elm" kept?'),
        ("what about ferries OR parking?", "what about ferries OR parking?"),
        ("When was permit AB-10417 sent?", 'permit sent "AB-10417"'),
    ],
)
def test_a_question_is_looked_up_without_its_small_talk(query: str, looked_up: str) -> None:
    assert words_to_look_up(query) == looked_up


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("elm -frost", "elm"),
        ('street -"bike lanes" repairs', "street repairs"),
        ("a well-known - or unknown - elm", "a well-known - or unknown - elm"),
        ('"elm -frost"', '"elm -frost"'),
    ],
)
def test_what_is_asked_for_is_without_what_a_dash_excludes(query: str, asked: str) -> None:
    assert without_exclusions(query) == asked
