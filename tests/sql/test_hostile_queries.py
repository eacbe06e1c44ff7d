"""Queries made to be expensive or to break a parser, through the statements of every domain, over the sample data."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from quarry.campaigns.conditions import compared
from quarry.campaigns.retrieval import find_by_text
from quarry.services.services import Services
from tools.benchmarks.hostile import DOMAINS, hostile_queries

SAMPLE_WORDS = """
    council city budget motion meeting bridge street park housing water plan points card travel team company product customers
    data software engineer design project report weeks roof kitchen oven market energy farm health school public bike bus lane
    signal library fire station tax levy zoning permit staff
""".split()


@pytest.mark.parametrize(("number", "domain"), [*enumerate(DOMAINS)])
async def test_hostile_queries_are_answered(
    sample_url: str, make_services: Callable[..., Services], number: int, domain: str
) -> None:
    """Each domain answers some of them, and all together all; `make bench` asks each of every domain."""
    services = make_services(sample_url, INITIAL_CREDITS="100")
    _, search = DOMAINS[domain]
    for text in [*hostile_queries(SAMPLE_WORDS).values()][number :: len(DOMAINS)]:
        # what is held differs from what is searched for by phrases alone
        if domain != "records, phrases held" or '"' in text:
            await search(text, services)


async def test_campaigns_with_the_words_are_counted_exactly_up_to_ten_thousand_and_their_values_up_to_two(
    database_url: str, services: Services
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "insert into campaigns (id, company, channel, campaign_text)"
            " select n, 'Acme', case when n % 2 = 0 then 'Email' else 'Radio' end, case when n > 10000 then 'card' when n > 2000"
            " then 'card offer' else 'card offer today' end from generate_series(1, 10001) n"
        )
        radio = (compared("channel", ("Radio",)),)
        found = [await find_by_text(services.database, query) for query in ("offer today", "offer", "card")]
        narrowed = await find_by_text(services.database, "card", radio)
        excluded = await find_by_text(services.database, "offer -today")
        phrase = await find_by_text(services.database, '"offer today"')
    assert [(each.total, each.size, each.has_counts) for each in found] == [
        (2_000, "2000", True),
        (10_000, "10000", False),
        (10_000, "at least 10,000", False),
    ]
    assert found[0].counts["channel"] == {"Email": 1_000, "Radio": 1_000}
    assert not any(found[1].counts.values())
    assert (narrowed.total, narrowed.more) == (5_001, False)
    assert (excluded.total, excluded.more) == (8_000, False)
    assert (phrase.total, phrase.more) == (2_000, False)
