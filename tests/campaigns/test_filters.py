"""Filters of the page and of tools as conditions on values that exist, and conditions on the wire."""

from __future__ import annotations

import datetime

import pytest

from quarry.campaigns.conditions import Resolved, compared, filters_of, from_wire, label_of, on_wire
from quarry.campaigns.contract import CampaignFilters, ClauseOnWire, DateRange, ExcludedValues
from quarry.campaigns.retrieval import filter_campaigns, known_values
from quarry.campaigns.tools import resolve_filters
from quarry.query.algebra import AnyOf, Comparison, Condition, Not, Words
from quarry.services.services import Services

LATEST = datetime.date(2026, 10, 15)


async def resolved(services: Services, filters: object, exclude: ExcludedValues | None = None) -> Resolved:
    known = await known_values(services.database)
    return await resolve_filters(services.database, CampaignFilters.model_validate(filters), known, exclude)


@pytest.mark.parametrize(
    ("name", "asked", "values"),
    [
        ("channel", "E-Mail", ("Email",)),
        ("company", "tern and co", ("Tern & Co",)),
        ("value_prop", "free", ("Free Trial", "Free Installation", "Free Cancellation", "Free Delivery")),
    ],
)
async def test_a_value_means_the_one_it_equals_else_those_with_all_its_words(
    sample_services: Services, name: str, asked: str, values: tuple[str, ...]
) -> None:
    [condition] = (await resolved(sample_services, {name: asked})).conditions
    assert isinstance(condition, Comparison)
    assert set(values) <= set(condition.values)
    assert (condition.field, len(condition.values) == 1) == (name, len(values) == 1)


async def test_what_does_not_exist_is_told_with_the_nearest_and_met_by_nothing(sample_services: Services) -> None:
    outcome = await resolved(sample_services, {"channel": ["Emial", "TV"], "company": "Nobody Knows"})
    assert str(outcome.unknown[0]).startswith("No campaign has the channel 'Emial'; did you mean 'Email'")
    assert len(outcome.unknown) == 2
    assert (await filter_campaigns(sample_services.database, outcome.conditions)).total == 0


@pytest.mark.parametrize(
    "filters",
    [
        CampaignFilters(channel=["Email"], has_offer=True),
        CampaignFilters(date_range="recent", company=["Tern & Co", "Lumen Bank"]),
        CampaignFilters(date_range=DateRange.between(datetime.date(2026, 1, 1))),
        CampaignFilters(offer="miles"),
    ],
)
async def test_filters_come_back_from_conditions(sample_services: Services, filters: CampaignFilters) -> None:
    outcome = await resolved(sample_services, filters.given())
    assert filters_of(on_wire(outcome.conditions, LATEST), LATEST).given() == filters.given()


CONDITIONS: list[tuple[Condition, str]] = [
    (compared("channel", ("Email",)), "on Email"),
    (compared("channel", ("Email",), is_negated=True), "not on Email"),
    (compared("offer", is_negated=True), "without an offer"),
    (
        AnyOf(any_of=(compared("channel", ("TV",)), compared("sentiment", ("Playful",)))),
        "on TV or with the sentiment Playful",
    ),
    (Comparison(field="capture_date", op=">=", values=("2026-06-01",)), "captured since June 2026"),
    (Comparison(field="month(capture_date)", values=(6,)), "captured in June"),
    (Words(words="free"), "with the words “free”"),
    (Not(negated=Words(words="free")), "without the words “free”"),
]


@pytest.mark.parametrize(("condition", "label"), CONDITIONS)
def test_a_condition_goes_over_the_wire_and_back(condition: Condition, label: str) -> None:
    [clause] = on_wire([condition], LATEST)
    assert clause.label == label
    [back] = from_wire([ClauseOnWire.model_validate(clause.model_dump(by_alias=True))], "required")
    assert label_of(back) == label
    assert on_wire([back], LATEST) == [clause]
