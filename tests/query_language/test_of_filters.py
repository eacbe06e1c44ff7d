"""Filters as conditions of a Query: each says the same, or is none."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from quarry.campaigns.facets import CAMPAIGNS
from quarry.companies.facets import COMPANIES
from quarry.query.of_filters import condition_of, query_of
from quarry.query.schema import source_of
from quarry.spans.mention import Clause, Condition, DateRange, MoneyRange, NumberRange

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
