"""Conditions, values and periods in words."""

from __future__ import annotations

import datetime

import pytest

from quarry.language.writing import Grain, Value, value_label
from quarry.query.of_filters import labels
from quarry.spans.mention import Condition, DateRange, MoneyRange, NumberRange
from tests.query_language.houses import HOUSES

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
