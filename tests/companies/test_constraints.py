"""Demands on a company's fields: whether they are met, and how they are said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.constraints import Constraints, Range
from quarry.companies.contract import FUNDING_STAGES
from tests.companies.made import company

BERLIN = company(
    hq_city="Berlin",
    hq_country="Germany",
    founded_year=2018,
    employee_count=84,
    funding_stage="series_b",
    total_funding_usd=5_000_000,
)
UNKNOWN = company()

ranges = st.builds(Range, st.none() | st.integers(0, 100), st.none() | st.integers(0, 100))


@pytest.mark.parametrize(
    ("demand", "met", "said"),
    [
        ({"countries": frozenset({"Germany"}), "place": "Germany"}, True, "in Germany"),
        ({"countries": frozenset({"France"}), "place": "France"}, False, "in France"),
        ({"cities": frozenset({"berlin"})}, True, "in Berlin"),
        (
            {"cities": frozenset({"leeds"}), "countries": frozenset({"Germany"}), "place": "Leeds or Germany"},
            True,
            "in Leeds or Germany",
        ),
        ({"excluded_countries": frozenset({"Germany"})}, False, "not in Germany"),
        ({"excluded_countries": frozenset({"France"})}, True, "not in France"),
        ({"funding_stages": frozenset({"series_b", "series_c"})}, True, "Series B or Series C"),
        ({"funding_stages": frozenset({"seed"})}, False, "Seed"),
        ({"founded": Range(2018, 2018)}, True, "founded in 2018"),
        ({"founded": Range(2019, None)}, False, "founded in 2019 or later"),
        ({"founded": Range(None, 2018)}, True, "founded in 2018 or earlier"),
        ({"founded": Range(2010, 2012)}, False, "founded from 2010 to 2012"),
        ({"employees": Range(84, None)}, True, "with at least 84 employees"),
        ({"employees": Range(None, 83)}, False, "with at most 83 employees"),
        ({"raised": Range(1_000_000, 5_000_000)}, True, "with $1,000,000 to $5,000,000 raised"),
    ],
)  # fmt: skip
def test_a_demand_is_met_or_said_to_be_unmet(demand: dict[str, Any], met: bool, said: str) -> None:
    constraints = Constraints(**demand)
    assert constraints
    assert list(constraints.described()) == [said]
    assert constraints.unmet(BERLIN) == ([] if met else [said])


@pytest.mark.parametrize(
    "demand",
    [
        {"countries": frozenset({"Germany"})}, {"cities": frozenset({"berlin"})}, {"funding_stages": frozenset({"seed"})},
        {"founded": Range(2000, None)}, {"employees": Range(None, 10)}, {"raised": Range(1, None)},
    ],
)  # fmt: skip
def test_what_is_not_known_does_not_meet_a_demand(demand: dict[str, Any]) -> None:
    assert len(Constraints(**demand).unmet(UNKNOWN)) == 1


def test_a_country_counts_however_the_data_spells_it() -> None:
    demand = Constraints(countries=frozenset({"United States"}))
    assert demand.unmet(company(hq_country="USA")) == []


def test_no_demand_is_met_by_all() -> None:
    assert not Constraints()
    assert Constraints().unmet(UNKNOWN) == []


@given(ranges, ranges, st.sets(st.sampled_from(FUNDING_STAGES)), st.integers(0, 100), st.integers(0, 100))
def test_what_is_unmet_is_among_what_is_demanded(
    founded: Range, employees: Range, stages: set[Any], year: int, staff: int
) -> None:
    constraints = Constraints(founded=founded, employees=employees, funding_stages=frozenset(stages))
    unmet = constraints.unmet(company(founded_year=year, employee_count=staff))
    assert set(unmet) <= set(constraints.described())
    assert any("employees" in said for said in unmet) is (not employees.holds(staff))


@given(ranges, st.integers(0, 100))
def test_a_range_holds_what_lies_in_it(span: Range, value: int) -> None:
    low = 0 if span.least is None else span.least
    high = 100 if span.most is None else span.most
    assert span.holds(value) is (low <= value <= high)
    assert span.holds(None) is (not span)
