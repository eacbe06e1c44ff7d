"""From constraints to filters, the text to embed, and what dropping a constraint is called."""

from __future__ import annotations

import datetime
from typing import Any

from quarry.people.constraints import card_filters, condition_label
from quarry.people.contract import Constraints, Exclude, Must, PeopleSearchRequest, Should
from quarry.people.filters import HARD_CONSTRAINTS, CardFilters, constraints_in_force


def constraints(**must: Any) -> Constraints:
    return Constraints(query_original="who", query_cleaned="who", must=Must(**must))


def filters(given: Constraints, **request: Any) -> CardFilters:
    return card_filters(given, PeopleSearchRequest(query="who", **request))


def test_every_constraint_becomes_a_filter() -> None:
    found = filters(
        Constraints(
            query_original="who",
            query_cleaned="who",
            must=Must(
                company_norm=["acme"], school_norm=["west college"], team_norm=["risk"],
                intent_primary=["work"], domain=["finance"], sub_domain=["tax"],
                employment_type=["freelance"], seniority_level=["senior"], location_text="pune", city="pune", country="india",
                time_start="2019-01-01", time_end="2020-12-31", is_current=False, open_to_work_only=True,
                offer_salary_inr_per_year=1e6, experience_years_min=2, role=["nurse|nursing"], name=["ada"], text=["STS-9"],
                started_from="2018-01-01",
                ended_until="2022-12-31",
            ),
            should=Should(skills_or_tools=["sql", "go"], keywords=["go", "audit"], intent_secondary=["career_break"]),
            exclude=Exclude(
                company_norm=["globex"], keywords=["agency"], team_norm=["audit"], location=["pune"], is_current=True,
                time_start="2005-01-01", time_end="2005-12-31",
            ),
        ),
        preferred_locations=["Pune"],
    )  # fmt: skip
    assert found == CardFilters(
        companies=("acme",), schools=("west college",), roles=("nurse|nursing",), names=("ada",), texts=("STS-9",),
        started_from=datetime.date(2018, 1, 1), ended_until=datetime.date(2022, 12, 31), excluded_teams=("audit",),
        excluded_places=("pune", "poona"), excluded_current=True, excluded_time_start=datetime.date(2005, 1, 1),
        excluded_time_end=datetime.date(2005, 12, 31),
        teams=("risk",), intents=("work",), domains=("finance",), sub_domains=("tax",),
        employment_types=("freelance",), seniority_levels=("senior",), places=("pune", "poona"),
        time_start=datetime.date(2019, 1, 1), time_end=datetime.date(2020, 12, 31), is_current=False, open_to_work_only=True,
        preferred_locations=("pune", "poona"), offer_salary=1e6, experience_least=730, excluded_companies=("globex",),
        excluded_keywords=("agency",),
        should_terms=("sql", "go", "audit", "nurse", "nursing", "career break"),
    )  # fmt: skip
    assert set(constraints_in_force(found)) == set(HARD_CONSTRAINTS)


def test_every_condition_is_said_in_plain_words() -> None:
    said = CardFilters(
        companies=("tarang pay", "university of mahaweli"), schools=("west college",), teams=("risk",),
        intents=("career_break",), domains=("finance",), sub_domains=("tax", "audit", "payroll", "treasury"),
        employment_types=("full_time",), seniority_levels=("senior",), places=("pune", "poona", "mumbai"),
        time_start=datetime.date(2019, 1, 1), time_end=datetime.date(2021, 12, 31), is_current=True,
        open_to_work_only=True, preferred_locations=("pune",), offer_salary=1_850_000.0, experience_least=3650,
    )  # fmt: skip
    assert [condition_label(constraint, said) for constraint in HARD_CONSTRAINTS] == [
        "at Tarang Pay or University of Mahaweli", "at West College", "in the team Risk", "career break", "finance",
        "tax or audit or payroll or others", "full time", "senior", "in Pune or Mumbai", "2019 to 2021", "now",
        "open to work", "ready to work there", "for at most ₹18.5 lakh a year", "with at least 10 years of experience",
    ]  # fmt: skip
    assert condition_label("location", CardFilters(places=("kerala", "kochi", "cochin"))) == "in Kerala"
    assert condition_label("time", CardFilters(started_from=datetime.date(2020, 3, 1))) == "since March 2020"
