"""Conditions, values and periods in words."""

from __future__ import annotations

import datetime

import pytest

from quarry.campaigns.facets import CAMPAIGNS
from quarry.query.of_filters import labels
from quarry.retrieval.facets import Facet, SearchTable
from quarry.retrieval.labels import Value, value_label
from quarry.spans.mention import Condition, DateRange, Grain, MoneyRange, NumberRange
from tests.query_language.houses import HOUSES

Day = tuple[int, int, int]

MAY = datetime.date(2024, 5, 6)


@pytest.mark.parametrize(
    ("value", "grain", "label"),
    [
        (MAY, "year", "2024"),
        (MAY, "quarter", "Q2 2024"),
        (MAY, "month", "May 2024"),
        (MAY, "week", "the week of 6 May 2024"),
        (MAY, "day", "6 May 2024"),
        (MAY, None, "6 May 2024"),
        ("May", "month", "May"),
        (3, None, "3"),
    ],
)
def test_a_period_is_called_by_its_name_and_another_value_as_it_is(
    value: Value, grain: Grain | None, label: str
) -> None:
    assert value_label(value, grain) == label


@pytest.mark.parametrize(
    ("first", "last", "label"),
    [
        ((2024, 1, 1), (2024, 12, 31), "captured in 2024"),
        ((2024, 1, 1), (2025, 12, 31), "captured between 2024 and 2025"),
        ((2024, 1, 1), (2024, 6, 30), "captured between January 2024 and June 2024"),
        ((2024, 10, 1), (2024, 12, 31), "captured between October 2024 and December 2024"),
        ((2024, 6, 1), (2024, 6, 10), "captured between 1 June 2024 and 10 June 2024"),
        ((2024, 5, 7), (2024, 5, 31), "captured between 7 May 2024 and 31 May 2024"),
    ],
)
def test_both_ends_of_a_period_are_told_as_exactly(first: Day, last: Day, label: str) -> None:
    period = DateRange(datetime.date(*first), datetime.date(*last))
    assert labels(CAMPAIGNS, [(Condition("capture_date", range=period),)]) == [label]


@pytest.mark.parametrize(
    ("condition", "label"),
    [
        (Condition("town", ("Aston", "Crane")), "in Aston or Crane"),
        (Condition("town", ("Aston",), is_negated=True), "not in Aston"),
        (Condition("town"), "with a town"),
        (Condition("colour", is_negated=True), "without colours"),
        (Condition("built", ("1999",)), "built in 1999"),
        (Condition("built", range=DateRange(datetime.date(1999, 1, 1))), "built since 1999"),
        (Condition("sold", range=DateRange(months=(5, 6))), "sold in May or June"),
        (Condition("rooms", range=NumberRange(3)), "with at least 3 rooms"),
        (Condition("price", range=MoneyRange(most=1_000)), "for at most EUR 1,000"),
        (Condition("heated", ("false",)), "not heated"),
        (Condition("tenant", ("Ann Oak",)), "let to Ann Oak"),
        (Condition("since", range=DateRange(datetime.date(2000, 1, 1))), "let since 2000"),
    ],
)
def test_a_condition_is_said_as_its_facet_words_it(condition: Condition, label: str) -> None:
    assert labels(HOUSES, [(condition,)]) == [label]


@pytest.mark.parametrize(
    ("range", "label"),
    [
        (NumberRange(2), "stays at least 2 days"),
        (NumberRange(1 / 12, includes_least=False), "stays more than 2 hours"),
        (NumberRange(most=0.5), "stays at most 0.5 days"),
        (NumberRange(1 / 144, 1 / 96), "stays at least 10 minutes and at most 15 minutes"),
    ],
)
def test_a_length_of_time_is_said_in_a_unit_that_writes_it_exactly(range: NumberRange, label: str) -> None:
    stays = SearchTable(
        "stays",
        nouns=("stay",),
        facets=(Facet("stay", "number", "stay", "stay", "stays", unit="days", wording="stays {}"),),
    )
    assert labels(stays, [(Condition("stay", range=range),)]) == [label]
