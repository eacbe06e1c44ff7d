"""How old anybody's rows are: by their birth, else by the year of their making, else by their date; today is 18 March 2026."""

from __future__ import annotations

import datetime

import pytest

from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.interpretation import interpret
from quarry.spans.lexicon import lexicon_of
from quarry.spans.mention import DateRange, Vocabulary
from quarry.spans.parser import parse
from quarry.spans.question import Question

TODAY = datetime.date(2026, 3, 18)
_JOINED = Facet("date", "date", "joined_on", "date", "dates", events=("joined",))
_BORN = Facet("birth_date", "date", "birth_date", "birth date", "birth dates", events=("birth",))
_LASTS = Facet("duration", "number", "lasts", "duration", "durations", unit="days")
_CAST = Facet("cast_in", "year", "cast_in", "year", "years", events=("cast",))


def _table(noun: str, *facets: Facet) -> SearchTable:
    date = "date" if _JOINED in facets else None
    return SearchTable(noun, (noun, f"{noun}s"), facets, date=date, reckons=True)


def _asked(text: str, table: SearchTable) -> Question:
    parsed = parse(text, lexicon=lexicon_of(table), vocabulary=Vocabulary(), reference_date=TODAY)
    return interpret(parsed, table)


def _dates(text: str, table: SearchTable) -> list[tuple[str, datetime.date | None, datetime.date | None]]:
    conditions = [each for clause in _asked(text, table).clauses for each in clause]
    return [(each.facet, each.range.first, each.range.last) for each in conditions if isinstance(each.range, DateRange)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("goats older than 10 years", None, datetime.date(2016, 3, 17)),
        ("goats at least 10 years old", None, datetime.date(2016, 3, 18)),
        ("goats younger than 18 months", datetime.date(2024, 9, 19), None),
        ("goats older than 30 days", None, datetime.date(2026, 2, 15)),
        ("goats younger than 2 weeks", datetime.date(2026, 3, 5), None),
    ],
)
def test_what_was_born_is_as_old_as_its_birth(
    text: str, first: datetime.date | None, last: datetime.date | None
) -> None:
    assert _dates(text, _table("goat", _JOINED, _BORN)) == [("birth_date", first, last)]


def test_what_was_made_is_as_old_as_its_year_and_all_else_as_its_date_however_long_it_lasts() -> None:
    assert _dates("bells older than 10 years", _table("bell", _JOINED, _CAST)) == [
        ("cast_in", None, datetime.date(2015, 12, 31))
    ]
    assert _dates("loans older than 30 days", _table("loan", _JOINED, _LASTS)) == [
        ("date", None, datetime.date(2026, 2, 15))
    ]


def test_the_age_of_people_is_not_how_long_they_have_been_there() -> None:
    asked = _asked("members older than 40 years", _table("member", _JOINED))
    assert (asked.clauses, [each.text for each in asked.unanswerable]) == ((), ["older than 40 years"])


def test_an_age_before_the_calendar_is_told_by_no_row() -> None:
    asked = _asked("goats older than 9000 years", _table("goat", _BORN))
    assert (asked.clauses, [each.text for each in asked.unanswerable]) == ((), ["older than 9000 years"])
