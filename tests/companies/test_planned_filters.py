"""What a model's plan leaves of what was found."""

from __future__ import annotations

from quarry.companies.fitting import as_planned, met_by_none
from quarry.companies.outputs import PlanFilters
from tests.companies.factories import company, entry

BANK = entry(company("c-bank", sectors=["Fintech"], business_models=["SaaS"], niches=["loans for bakers"]))
FARM = entry(company("c-farm", sectors=["Food & Agriculture"], business_models=["Leasing"], niches=["robots"]))


def kept(**filters: object) -> list[str]:
    return [each.company.id for each in as_planned([BANK, FARM], PlanFilters.model_validate(filters))]


def test_a_sector_keeps_those_in_it_whatever_its_case() -> None:
    assert kept(sectors=["fintech "]) == ["c-bank"]


def test_sectors_and_business_models_must_both_be_met() -> None:
    assert kept(sectors=["Fintech", "Food & Agriculture"], business_models=["Leasing"]) == ["c-farm"]


def test_what_no_company_meets_is_dropped() -> None:
    assert kept(sectors=["Alchemy"]) == ["c-bank", "c-farm"]
    assert kept(sectors=["Alchemy"], business_models=["Leasing"]) == ["c-farm"]


def test_niches_decide_only_where_they_must() -> None:
    assert kept(niches=["loans"]) == ["c-bank", "c-farm"]
    assert kept(niches=["loans"], nicheMode="must_match") == ["c-bank"]


def test_filters_that_were_dropped_are_told() -> None:
    wanted = PlanFilters(sectors=["Space"], business_models=["Barter"])
    assert met_by_none([BANK, FARM], wanted) == ["Space", "Barter"]
    assert met_by_none([BANK, FARM], PlanFilters(sectors=["Space", *BANK.company.sectors])) == []
