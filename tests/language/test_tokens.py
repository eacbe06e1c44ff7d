"""What words are by their letters alone."""

from __future__ import annotations

import pytest

from quarry.language.tokens import codes_in, is_code


@pytest.mark.parametrize("word", ["AB-10417", "k20415", "J-2026-0017"])
def test_letters_with_a_number_are_a_code(word: str) -> None:
    assert is_code(word)


@pytest.mark.parametrize("word", ["2026-11", "1984", "B2B", "level-12", "well-known", "A1017 B", "a.1017", ""])
def test_a_number_or_a_word_is_no_code(word: str) -> None:
    assert not is_code(word)


def test_codes_are_found_without_what_stands_around_them() -> None:
    assert codes_in("Is AB-10417 (or K20415) open?") == ["AB-10417", "K20415"]
