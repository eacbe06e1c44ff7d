"""Filters of the page and of tools, made into conditions on values that exist."""

from __future__ import annotations

import datetime

import pytest

from quarry.campaigns.conditions import conditions_of
from quarry.campaigns.contract import CampaignFilters, DateRange, ExcludedValues
from quarry.campaigns.filters import Resolved, filters_of
from quarry.campaigns.retrieval import filter_campaigns, known_values
from quarry.campaigns.tools import resolve_filters
from quarry.services.services import Services
from quarry.spans import mention
from quarry.spans.question import Condition

LATEST = datetime.date(2026, 10, 15)


async def resolved(services: Services, filters: object, exclude: ExcludedValues | None = None) -> Resolved:
    known = await known_values(services.database)
    return await resolve_filters(services.database, CampaignFilters.model_validate(filters), known, exclude)


@pytest.mark.parametrize(
    ("name", "asked", "values"),
    [
        ("channel", "email", ("Email",)),
        ("channel", "E-Mail", ("Email",)),
        ("company", "tern and co", ("Tern & Co",)),
        ("value_prop", "travel", ("Travel Benefits",)),
        ("value_prop", "free", ("Free Trial", "Free Installation", "Free Cancellation", "Free Delivery")),
    ],
)
async def test_a_value_means_the_one_it_equals_else_those_with_all_its_words(
    sample_services: Services, name: str, asked: str, values: tuple[str, ...]
) -> None:
    [(condition,)] = (await resolved(sample_services, {name: asked})).clauses
    assert set(values) <= set(condition.values)
    assert (condition.facet, len(condition.values) == 1) == (name, len(values) == 1)


async def test_what_does_not_exist_is_told_with_the_nearest_and_met_by_nothing(sample_services: Services) -> None:
    outcome = await resolved(sample_services, {"channel": ["Emial", "TV"], "company": "Nobody Knows"})
    assert str(outcome.unknown[0]).startswith("No campaign has the channel 'Emial'; did you mean 'Email'")
    assert len(outcome.unknown) == 2
    assert (await filter_campaigns(sample_services.database, conditions_of(outcome.clauses))).total == 0


async def test_values_may_be_ruled_out(sample_services: Services) -> None:
    outcome = await resolved(sample_services, {"sentiment": ["playful"]}, ExcludedValues(channel=["email"]))
    assert outcome.clauses == (
        (Condition("sentiment", ("Playful",)),),
        (Condition("channel", ("Email",), is_negated=True),),
    )


async def test_offers_and_days_are_conditions_too(sample_services: Services) -> None:
    outcome = await resolved(sample_services, {"has_offer": False, "offer": "miles", "date_range": "recent"})
    assert outcome.clauses == (
        (Condition("offer", ("miles",)),),
        (Condition("offer", is_negated=True),),
        (Condition("capture_date", range=mention.DateRange(datetime.date(2026, 7, 17), LATEST)),),
    )


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
    assert filters_of(outcome.clauses, LATEST).given() == filters.given()


def test_what_no_filter_can_say_is_left_out() -> None:
    negated = Condition("channel", ("Email",), is_negated=True)
    june = Condition("capture_date", range=mention.DateRange(months=(6,)))
    either = (Condition("channel", ("TV",)), Condition("sentiment", ("Playful",)))
    assert filters_of([(negated,), (june,), either], LATEST).given() == {}
