"""Filters as conditions of a Query, each saying the same or none; and conditions, values and periods in words."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from quarry.campaigns.facets import CAMPAIGNS
from quarry.companies.facets import COMPANIES
from quarry.language.writing import Grain, Value, value_label
from quarry.query.of_filters import condition_of, labels, query_of
from quarry.query.schema import source_of
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.mention import Clause, Condition, DateRange, MoneyRange, NumberRange
from tests.query_language.houses import HOUSES

COMPANIES_SOURCE = source_of(COMPANIES, "companies", title="t.company_name", description="")
CAMPAIGNS_SOURCE = source_of(CAMPAIGNS, "campaigns", title="t.company", description="")


def said(*conditions: Condition, table: str = "companies") -> Any:
    """The clause of a company's or campaign's conditions, as JSON of a Query has it."""
    tables = {"companies": (COMPANIES, COMPANIES_SOURCE), "campaigns": (CAMPAIGNS, CAMPAIGNS_SOURCE)}
    condition = condition_of(conditions, *tables[table])
    return condition and condition.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Condition("status", ("public",)), {"field": "status", "value": "public"}),
        (Condition("sector", ("Fintech", "Health"), is_negated=True),
         {"field": "sector", "op": "!=", "values": ["Fintech", "Health"]}),
        (Condition("founded_year", ("2021",)), {"field": "founded_year", "value": 2021}),
        (Condition("closed_year"), {"field": "closed_year", "op": "not_null"}),
        (Condition("closed_year", is_negated=True), {"field": "closed_year", "op": "is_null"}),
        (Condition("founded_year", range=DateRange(day("2019-01-01"))), {"field": "founded_year", "op": ">=", "value": 2019}),
        (Condition("employees", range=NumberRange(50, includes_least=False)), {"field": "employees", "op": ">", "value": 50}),
        (Condition("employees", range=NumberRange(1, 9, includes_most=False)),
         {"all_of": [{"field": "employees", "op": ">=", "value": 1}, {"field": "employees", "op": "<", "value": 9}]}),
        (Condition("funding", range=MoneyRange(most=1.5, currency="USD"), is_negated=True),
         {"not": {"field": "funding", "op": "<=", "value": 1.5}}),
        (Condition("funding", range=MoneyRange(5, currency="EUR")), None),
        (Condition("employees", ("many",)), None),
    ],
)  # fmt: skip
def test_a_condition_says_the_same(condition: Condition, expected: Any) -> None:
    assert said(condition) == expected


def test_any_of_several_conditions_may_hold() -> None:
    either = said(Condition("city", ("Chennai",)), Condition("status", ("closed",)))
    assert either == {"any_of": [{"field": "city", "value": "Chennai"}, {"field": "status", "value": "closed"}]}


def test_text_holds_a_piece() -> None:
    assert said(Condition("offer", ("free",), is_negated=True), table="campaigns") == {
        "not": {"field": "offer", "op": "contains", "value": "free"}
    }


def test_months_are_those_of_any_year_or_of_the_days_asked_for() -> None:
    in_june = {"field": "month(capture_date)", "value": 6}
    assert said(Condition("capture_date", range=DateRange(months=(6,))), table="campaigns") == in_june
    summer = Condition("capture_date", range=DateRange(day("2023-07-15"), months=(6,)))
    since = {"field": "capture_date", "op": ">=", "value": "2023-07-15"}
    assert said(summer, table="campaigns") == {"all_of": [in_june, since]}


def test_words_that_a_facet_holds_become_the_text_of_the_query() -> None:
    clauses: list[Clause] = [(Condition("copy", ("free delivery",)),), (Condition("channel", ("TV",)),)]
    query = query_of(clauses, CAMPAIGNS, CAMPAIGNS_SOURCE)
    assert query.model_dump(mode="json", exclude_defaults=True) == {
        "source": "campaigns",
        "where": [{"field": "channel", "value": "TV"}],
        "text": "free delivery",
    }


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
