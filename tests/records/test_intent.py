"""Keyword lookup or question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.records.contract import Intent
from quarry.records.intent import classify_intent, parts, without_exclusions, words_to_look_up


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("bridge", "keyword"),
        ("bridge weight limit", "keyword"),
        ("CIP-2024-02", "keyword"),
        ("C.I.P. 2024/02 (b)", "keyword"),
        ('"heritage elm in Quill Square be preserved"', "keyword"),
        ("“heritage elm in Quill Square be preserved”", "keyword"),
        ("😀", "keyword"),
        ("the elm?", "question"),
        ("elm ?  ", "question"),
        ("大树为什么保留？", "question"),
        ("why", "question"),
        ("why elm", "question"),
        ("Who voted no", "question"),
        ("who's against it", "question"),
        ("what’s next", "question"),
        ("tell me everything", "question"),
        ("show me votes", "question"),
        ("Explain the levy", "question"),
        ("bridge weight limit trucks", "question"),
        ("the elm in the square", "question"),
    ],
)
def test_a_query_is_a_keyword_lookup_or_a_question(query: str, intent: Intent) -> None:
    assert classify_intent(query) == intent


@given(st.text(max_size=200))
def test_space_around_a_query_does_not_change_its_intent(query: str) -> None:
    assert classify_intent(query) == classify_intent(f" \t{query}\n")


@given(st.text(max_size=200))
def test_whatever_ends_in_a_question_mark_is_a_question(query: str) -> None:
    assert classify_intent(query + "?") == "question"


@pytest.mark.parametrize(
    ("query", "looked_up"),
    [
        ("How much did the bridge go up?", "bridge"),
        ("why was the elm kept", "elm kept"),
        ("the bridge", "the bridge"),
        ('why was the "heritage elm" kept?', 'why was the "heritage elm" kept?'),
        ("why was the elm kept -frost", "why was the elm kept -frost"),
        ("what about ferries OR parking?", "what about ferries OR parking?"),
        ("When was permit AB-10417 sent?", 'permit sent "AB-10417"'),
        ("permit AB-10417", 'permit "AB-10417"'),
    ],
)
def test_a_question_is_looked_up_without_its_small_talk(query: str, looked_up: str) -> None:
    assert words_to_look_up(query) == looked_up


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who voted no?", ["Who voted no?"]),
        ("Where was it held, and who paid?", ["Where was it held", "who paid?"]),
        ("Where was it held and for what price?", ["Where was it held", "for what price?"]),
        ("Why was it closed? And what did it cost?", ["Why was it closed", "what did it cost?"]),
        ("Who found the dog, who fed it and how old is it?", ["Who found the dog", "who fed it", "how old is it?"]),
        ("What is the toll, and does it rise?", ["What is the toll", "does it rise?"]),
        ("Is the pier open? Was it ever closed?", ["Is the pier open", "Was it ever closed?"]),
        ("Explain the vote and tell me who paid", ["Explain the vote", "tell me who paid"]),
        ("Describe the plan, compare it with the last", ["Describe the plan", "compare it with the last"]),
        ("What is new and is free?", ["What is new and is free?"]),
        ("Which trees, if any, were felled?", ["Which trees, if any, were felled?"]),
        ("The bridge, was it closed?", ["The bridge, was it closed?"]),
        ("Who paid for salt and sand?", ["Who paid for salt and sand?"]),
        ("What did those say who voted no?", ["What did those say who voted no?"]),
    ],
)
def test_what_is_asked_one_after_the_other_is_told_apart(question: str, asked: list[str]) -> None:
    assert parts(question) == asked


@given(st.text(max_size=200))
def test_parts_are_of_the_question(text: str) -> None:
    assert all(part in text for part in parts(text))


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("elm -frost", "elm"),
        ("-frost", ""),
        ('street -"bike lanes" repairs', "street repairs"),
        ("street -“bike lanes” repairs", "street repairs"),
        ("a well-known - or unknown - elm", "a well-known - or unknown - elm"),
        ('"elm -frost"', '"elm -frost"'),
        ("«elm -frost»", "«elm -frost»"),
        ("--elm", "--elm"),
    ],
)
def test_what_is_asked_for_is_without_what_a_dash_excludes(query: str, asked: str) -> None:
    assert without_exclusions(query) == asked
