"""Campaigns in groups: with those that have no value, and whatever their spelling, they add up to the set."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from starlette.testclient import TestClient

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


def test_none_is_told_and_a_filter_finds_what_a_group_counts(acme: TestClient) -> None:
    by_channel = chat(acme, "How many campaigns are there by channel?")["response"]
    assert "Email (3)" in by_channel
    assert "none (3)" in by_channel
    filtered = chat(acme, "Show me campaigns", activeFilters={"channel": ["email"]}, applyFiltersToQuery=True)
    assert filtered["total"] == 3
