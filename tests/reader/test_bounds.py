"""The words around a time bound it, in each language; where they may, a reading of the time alone is not sure."""

from __future__ import annotations

import datetime

import pytest

from quarry.language.word_forms import tokenise
from quarry.reader.learned import learned, pair_model
from quarry.reader.mentions import read_words
from quarry.reader.names import Names
from quarry.reader.reading import read_question
from quarry.reader.surroundings import SURE, bounded
from tests.query.desk_schema import DESK

TODAY = datetime.date(2026, 7, 1)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("Kunden seit 2020", "2020-01-01", None),
        ("Wie viele Rechnungen haben wir ab dem Jahr 2021?", "2021-01-01", None),
        ("Verträge vor 2019", None, "2018-12-31"),
        ("Fahrten bis 2022", None, "2022-12-31"),
        ("Welche Lieferungen kamen nach dem 3.4.2020?", "2020-04-04", None),
        ("clients depuis 2021", "2021-01-01", None),
        ("factures avant 2020", None, "2019-12-31"),
        ("commandes à partir de 2023", "2023-01-01", None),
        ("orders predating 2019", None, "2018-12-31"),
        ("customers since 2020", "2020-01-01", None),
        ("Kunden im Jahr 2020", "2020-01-01", "2020-12-31"),
        ("Umsatz nach Kunden 2024", "2024-01-01", "2024-12-31"),
        ("commandes par mois en 2023", "2023-01-01", "2023-12-31"),
        ("spending up to 500 in 2024", "2024-01-01", "2024-12-31"),
    ],
)
def test_a_time_is_bounded_by_the_words_next_to_it(question: str, first: str | None, last: str | None) -> None:
    [mention] = read_words(question, Names({}), [], TODAY).days
    assert (mention.days.first, mention.days.last) == tuple(
        datetime.date.fromisoformat(each) if each else None for each in (first, last)
    )


@pytest.mark.parametrize(
    "question",
    [
        "Verträge von 2018 bis 2020",
        "Verträge zwischen 2018 und 2020",
        "contrats de 2018 à 2020",
        "sales from 2018 to 2020",
    ],
)
def test_two_bounds_make_a_range(question: str) -> None:
    [mention] = read_words(question, Names({}), [], TODAY).days
    assert (str(mention.days.first), str(mention.days.last)) == ("2018-01-01", "2020-12-31")


@pytest.mark.parametrize("question", ["tickets opened anno 2025", "tickets sitôt 2025", "tickets opened erst 2025"])
def test_a_time_behind_an_unread_word_is_never_sure(question: str) -> None:
    reading = read_question(question, DESK, [], TODAY, learned(), None, pair_model())
    assert reading.verdict != "confident"
    assert any("2025" in each for each in reading.unread)


@pytest.mark.parametrize("question", ["tickets that sprang up in 2025", "Show me the tickets from 2025"])
def test_a_time_that_says_how_it_is_meant_needs_no_word_before_it_to_be_read(question: str) -> None:
    reading = read_question(question, DESK, [], TODAY, learned(), None, pair_model())
    assert not any("2025" in each for each in reading.unread)


def test_words_that_tell_nothing_leave_a_time_as_it_is() -> None:
    tokens = tokenise("tickets opened 2025")
    assert bounded(tokens, (2, 3)).bound == "in"
    assert bounded(tokens, (2, 3)).chance >= SURE
