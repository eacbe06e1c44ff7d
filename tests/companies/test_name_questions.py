"""Names in questions, and whether others like them are wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.names import NAME_CHARACTERS_MAX, NAMES_MAX, is_about, read_names
from tests.linear.measuring import assert_linear, repeated

NAMES = ["Harbor", "Re:Route", "n8ive Bio", "O'Malley Robotics", "3Fold", "Über Kitchen"]


@pytest.mark.parametrize(
    "question",
    ["{}", "  {} ?", "what is {}?", "Who is {}?", "tell me about {} please", "Find the company called {}", "what does {} do?",
     "I'm looking for {}", "do you know {}?", "what happened to {} after it shut down?", "Is {} still around?"],
)  # fmt: skip
def test_a_question_that_is_a_name_and_politeness_is_that_name(question: str) -> None:
    for name in NAMES:
        read = read_names(question.format(name))
        assert name in read.whole
        assert not read.similar


@pytest.mark.parametrize(
    "question",
    ["companies like {}", "Startups similar to {}", "alternatives to {} in Germany", "competitors of {}?", "{} alternatives",
     "who competes with {}?", "what else is there like {}?", "similar to {}, but for nurses", "{} vs something else",
     "anything comparable to {} that is cheap", "Which companies resemble {}?"],
)  # fmt: skip
def test_a_question_for_others_like_a_company_names_it(question: str) -> None:
    for name in NAMES:
        read = read_names(question.format(name))
        assert read.similar
        assert name in read.names
        assert read.whole == ()


@pytest.mark.parametrize(
    "question",
    ["I would like a bank for small shops", "software that feels like home", "robots you can lease instead of buying",
     "payments for unlikely customers", "startups that help nurses like their work", ""],
)  # fmt: skip
def test_other_questions_ask_for_none_like_another(question: str) -> None:
    assert not read_names(question).similar


@pytest.mark.parametrize(
    ("question", "names", "about"),
    [
        ("Where is Tidewage based?", ["Tidewage"], True),
        ("Compare Tidewage and Quincena", ["Tidewage", "Quincena"], True),
        ("Tidewage, the closed one", ["Tidewage"], True),
        ("nurses at Tidewage", ["Tidewage"], False),
        ("a Ladder for construction workers", ["Ladder"], False),
    ],
)
def test_a_question_is_about_a_company_when_it_says_nothing_else(question: str, names: list[str], about: bool) -> None:
    assert is_about(question, names) is about


@given(st.text(max_size=300))
def test_any_text_is_read_into_a_few_short_names(question: str) -> None:
    read = read_names(question)
    assert len(read.names) <= NAMES_MAX
    assert all(2 <= len(name) <= NAME_CHARACTERS_MAX for name in read.names)
    assert len({name.lower() for name in read.whole}) == len(read.whole)
    assert all(name == name.strip() and "\n" not in name for name in read.names)


@pytest.mark.parametrize(
    "piece",
    [" ?", "A ", "A.", "! ? is ", "3a", "'", "like ", "please ", "1.a:"],
)
def test_twice_the_question_takes_about_twice_as_long(piece: str) -> None:
    def read(question: str) -> None:
        read_names(question)
        is_about(question, ["A"])

    assert_linear(read, repeated(piece), 1000)
