"""Conditions, values and periods in words."""

from __future__ import annotations

import datetime

import pytest

from quarry.campaigns.facets import CAMPAIGNS
from quarry.core.query.mention import Grain
from quarry.core.query.question import Ask
from quarry.core.retrieval.answers import Value
from quarry.core.retrieval.wording import grouped_by_label, value_label

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


def test_what_is_grouped_by_is_called_as_its_facet_or_its_period() -> None:
    assert grouped_by_label(CAMPAIGNS, Ask("groups", "company"), 1) == "company"
    assert grouped_by_label(CAMPAIGNS, Ask("groups", "company"), 2) == "companies"
    assert grouped_by_label(CAMPAIGNS, Ask("groups", "capture_date", "month"), 2) == "months"
