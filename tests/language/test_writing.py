"""Numbers, money and dates as languages write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.language.writing import languages, writing_of

DAY = datetime.date(2024, 3, 5)


@pytest.mark.parametrize(
    ("language", "money", "day", "month"),
    [
        ("english", "EUR 1,234.5", "5 March 2024", "March 2024"),
        ("german", "1.234,5 EUR", "5. März 2024", "März 2024"),
        ("french", "1\u202f234,5 EUR", "5 mars 2024", "mars 2024"),
        ("spanish", "1234,5 EUR", "5 de marzo de 2024", "marzo de 2024"),
        ("russian", "1\u00a0234,5 EUR", "5 марта 2024\u202fг.", "март 2024\u202fг."),
        ("klingon", "EUR 1,234.5", "5 March 2024", "March 2024"),
    ],
)
def test_as_it_is_written_there(language: str, money: str, day: str, month: str) -> None:
    writing = writing_of(language)
    assert (writing.amount(1234.5, "EUR"), writing.date(DAY), writing.month_of(DAY)) == (money, day, month)


@given(st.integers(-(10**12), 10**12), st.sampled_from(sorted(languages())))
def test_no_digit_is_lost(number: int, language: str) -> None:
    writing = languages()[language]
    said = writing.number(number / 100, ",.2f")
    assert float(said.replace(writing.group, "").replace(writing.decimal, ".")) == number / 100
