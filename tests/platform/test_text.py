from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from quarry.platform.text import (
    STOP_WORDS,
    CleanText,
    Identifier,
    QueryText,
    shorten,
    significant_words,
    topic_text,
    words,
)

clean = TypeAdapter[str](CleanText)
query = TypeAdapter[str](QueryText)
identifier = TypeAdapter[str](Identifier)

TEXTS = st.text(alphabet=st.sampled_from("aB1 .!?\n\t\"”)('’,:—–-é"), max_size=80)


@pytest.mark.parametrize("kind", [clean, query, identifier])
@pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b", "a\udfff", "\ud83d"])
def test_text_that_postgres_cannot_hold_is_refused(kind: TypeAdapter[str], bad: str) -> None:
    with pytest.raises(ValidationError):
        kind.validate_python(bad)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_all_other_text_is_accepted_as_it_is(text: str) -> None:
    assert clean.validate_python(text) == text


def test_a_query_is_1_to_2000_characters_after_trimming() -> None:
    assert query.validate_python(" " + "é" * 2000 + "\n") == "é" * 2000
    for bad in ("", " \n\t ", "é" * 2001):
        with pytest.raises(ValidationError):
            query.validate_python(bad)


def test_an_identifier_is_1_to_64_characters() -> None:
    assert identifier.validate_python("m" * 64) == "m" * 64
    for bad in ("", "m" * 65):
        with pytest.raises(ValidationError):
            identifier.validate_python(bad)


def test_words_are_lower_case_without_punctuation_and_keep_their_apostrophes() -> None:
    assert words("The Mayor’s “plan”: 3_000 trees, re-planted — café!") == [
        "the", "mayor's", "plan", "3", "000", "trees", "re", "planted", "café",
    ]  # fmt: skip


def test_significant_words_are_stems_without_stop_words_each_once() -> None:
    assert significant_words("Tell me about the council’s parking, and who parks on Council Street?") == [
        "council", "park", "street",
    ]  # fmt: skip


def test_the_topic_of_a_text_is_its_words_that_are_not_stop_words() -> None:
    assert topic_text("What is the cost of Harbour Bridge?") == "cost harbour bridge"
    assert topic_text("Who is it?") == "Who is it?"


def test_a_question_of_stop_words_alone_has_no_significant_word() -> None:
    assert significant_words("What's this about, and who didn't know?") == []
    assert all(word == word.lower() for word in STOP_WORDS)


@given(TEXTS, st.integers(min_value=1, max_value=90))
def test_shortened_text_fits_and_is_a_beginning_of_the_text(text: str, limit: int) -> None:
    line = " ".join(text.split())
    short = shorten(text, limit)
    assert len(short) <= limit
    if len(line) <= limit:
        assert short == line
    else:
        assert short.endswith("…")
        assert line.startswith(short[:-1])


@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=6), min_size=1), st.integers(min_value=7, max_value=40))
def test_text_is_shortened_between_words(parts: list[str], limit: int) -> None:
    short = shorten(" ".join(parts), limit)
    kept = short.removesuffix("…").split()
    assert kept == parts[: len(kept)]


def test_shortened_text_does_not_end_in_a_dangling_comma_or_dash() -> None:
    assert shorten("parks, roads and bridges", 14) == "parks, roads…"
    assert shorten("parks, roads", 9) == "parks…"
    assert shorten("parks — roads", 10) == "parks…"
