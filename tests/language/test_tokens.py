"""What words are by their letters alone."""

from __future__ import annotations

import pytest

from quarry.language.numerals import numeral_value
from quarry.language.tokens import codes_in, is_code


@pytest.mark.parametrize("word", ["AB-10417", "k20415", "J-2026-0017"])
def test_letters_with_a_number_are_a_code(word: str) -> None:
    assert is_code(word)


@pytest.mark.parametrize("word", ["2026-11", "1984", "B2B", "level-12", "well-known", "A1017 B", "a.1017", ""])
def test_a_number_or_a_word_is_no_code(word: str) -> None:
    assert not is_code(word)


def test_codes_are_found_without_what_stands_around_them() -> None:
    assert codes_in("Is AB-10417 (or K20415) open?") == ["AB-10417", "K20415"]


@pytest.mark.parametrize("words", ["a", "an", "and", "half", "a half"])
def test_what_is_said_beside_number_words_is_no_number(words: str) -> None:
    assert numeral_value(words) is None


def test_half_a_million_is_a_number() -> None:
    assert numeral_value("half a million") == 500_000
