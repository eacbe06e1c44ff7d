from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from quarry.platform.text import (
    CleanText,
    Identifier,
    QueryText,
    shorten,
    significant_words,
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


def test_a_query_is_1_to_2000_characters_after_trimming() -> None:
    assert query.validate_python(" " + "é" * 2000 + "\n") == "é" * 2000
    for bad in ("", " \n\t ", "é" * 2001):
        with pytest.raises(ValidationError):
            query.validate_python(bad)


def test_significant_words_are_stems_without_stop_words_each_once() -> None:
    assert significant_words("Tell me about the council’s parking, and who parks on Council Street?") == [
        "council", "park", "street",
    ]  # fmt: skip


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
