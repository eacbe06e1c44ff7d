"""Campaigns in groups: with those that have no value, and whatever their spelling, they add up to the set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.campaigns.contract import Campaign
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.results import aggregate
from quarry.core.postgres.pool import Database
from quarry.core.query.question import Ask
from quarry.core.retrieval.grouping import kept_groups
from quarry.core.retrieval.questions import answer
from tests.campaigns.chatting import chat
from tests.conftest import client_of, clone_database

CHANNELS = ("Email", "email", " Email", "TV", "", "  ", "\t")
PROMISES: tuple[list[str], ...] = (["Free", "free "], ["Fast", "Free"], [], [""], ["FREE"], ["Fast"], ["x" * 300])
COUNTED = {
    "channel": {"Email": 3, "TV": 1, "": 3},
    "sentiment": {"": 7},
    "value_prop": {"Free": 3, "Fast": 2, "x" * 300: 1, "": 2},
}


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url) as connection:
            for place, (channel, promises) in enumerate(zip(CHANNELS, PROMISES, strict=True)):
                connection.execute(
                    "insert into campaigns (id, company, channel, campaign_text, full_campaign_text, key_value_props)"
                    " values (%s, 'Acme', %s, 'Plain copy', 'Plain copy', %s)",
                    [f"c{place}", channel, promises],
                )
        yield url


@pytest.fixture(scope="module")
def acme(url: str) -> Iterator[TestClient]:
    with client_of(url) as client:
        yield client


def test_the_aggregation_adds_up_to_the_set(acme: TestClient) -> None:
    found = chat(acme, "Show me campaigns by Acme")
    assert {
        name: {key.lower(): n for key, n in each.items()}
        for name, each in found["aggregation"].items()
        if name in COUNTED
    } == {name: {key.lower(): n for key, n in each.items()} for name, each in COUNTED.items()}
    assert sum(found["aggregation"]["channel"].values()) == found["total"]


def test_campaigns_are_counted_here_as_in_the_database(url: str) -> None:
    found = [
        Campaign.model_construct(channel=channel, imagery_sentiment=None, key_value_props=promises)
        for channel, promises in zip(CHANNELS, PROMISES, strict=True)
    ]
    told = aggregate(found).counts
    assert {name: {key.lower(): n for key, n in each.items()} for name, each in told.items()} == {
        name: {key.lower(): n for key, n in each.items()} for name, each in COUNTED.items()
    }


def test_none_is_told_and_a_filter_finds_what_a_group_counts(acme: TestClient) -> None:
    by_channel = chat(acme, "How many campaigns are there by channel?")["response"]
    assert "Email (3)" in by_channel
    assert "none (3)" in by_channel
    filtered = chat(acme, "Show me campaigns", activeFilters={"channel": ["email"]}, applyFiltersToQuery=True)
    assert filtered["total"] == 3


@pytest.mark.parametrize("facet", ["channel", "value_prop", "company"])
async def test_groups_that_writes_keep_are_those_that_rows_tell(url: str, facet: str) -> None:
    database = Database(url, pool_size=1, timeout_seconds=60)
    try:
        kept = await kept_groups(database, CAMPAIGNS, Ask("groups", facet))
        counted = await answer(database, CAMPAIGNS, Ask("groups", facet), ())
    finally:
        await database.close()
    as_told: Any = [{str(group.value).lower(): group.rows for group in each.groups} for each in (kept, counted)]
    assert as_told[0] == as_told[1]
    assert (kept.rows, kept.grouped, kept.number) == (counted.rows, counted.grouped, counted.number)
