"""Queries made to be expensive or to break a parser, through the statements of every domain, over the sample data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.rows import DictRow
from psycopg.sql import SQL

from quarry.campaigns.conditions import NAME, NO_DAY, SCHEMA, compared
from quarry.campaigns.retrieval import BESIDE_THEME_MAX, filter_campaigns, find_by_text, find_by_theme
from quarry.postgres.pool import Parameters, Query
from quarry.query.algebra import Not, Words
from quarry.query.keys import RowConditions
from quarry.services.services import Services
from tests.plans import calls, plans
from tools.benchmarks.hostile import DOMAINS, hostile_queries

LOOKED_AT_MAX = 4000
"""Campaigns that hold the words of a query and are looked at for its phrases and exclusions."""

SAMPLE_WORDS = """
    council city budget motion meeting bridge street park housing water plan points card travel team company product customers
    data software engineer design project report weeks roof kitchen oven market energy farm health school public bike bus lane
    signal library fire station tax levy zoning permit staff
""".split()


@pytest.mark.parametrize("domain", DOMAINS)
async def test_every_hostile_query_is_answered(
    sample_url: str, make_services: Callable[..., Services], domain: str
) -> None:
    services = make_services(sample_url, INITIAL_CREDITS="100")
    _, search = DOMAINS[domain]
    texts = hostile_queries(SAMPLE_WORDS).values()
    # what is held differs from what is searched for by phrases alone
    for text in (text for text in texts if domain != "records, phrases held" or '"' in text):
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
    assert [(each.total, each.size, each.is_counted) for each in found] == [
        (2_000, "2000", True),
        (10_000, "10000", False),
        (10_000, "at least 10,000", False),
    ]
    assert found[0].counts["channel"] == {"Email": 1_000, "Radio": 1_000}
    assert not any(found[1].counts.values())
    assert (narrowed.total, narrowed.more) == (5_001, False)
    assert (excluded.total, excluded.more) == (8_000, False)
    assert (phrase.total, phrase.more) == (2_000, False)


@pytest.fixture
def many_campaigns(database_url: str) -> None:
    """10,001 of three companies, the latest captured last; every other one by email, and one without an offer."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "insert into campaigns (id, company, channel, offer, capture_date, campaign_text)"
            " select n, 'Acme ' || n % 3, case when n % 2 = 0 then 'Email' else 'Radio' end, case when n > 1 then 'Half off' end,"
            " date '2000-01-01' + n, case when n > 10000 then 'silver card' else 'card' end from generate_series(1, 10001) n"
        )


@pytest.mark.usefixtures("many_campaigns")
async def test_campaigns_with_given_properties_are_counted_exactly_up_to_ten_thousand(services: Services) -> None:
    every = await filter_campaigns(services.database, [])
    emails = await filter_campaigns(services.database, [compared("channel", ("Email",))])
    offers = await filter_campaigns(services.database, [compared("offer")])
    others = await filter_campaigns(services.database, [Not(negated=Words(words="silver"))])
    assert (every.total, every.size, every.is_counted, len(every.campaigns)) == (10_000, "at least 10,000", False, 200)
    assert [each.id for each in every.campaigns[:2]] == ["10001", "10000"]
    assert (emails.total, emails.more, emails.counts["channel"]) == (5_000, False, {"Email": 5_000})
    # no index tells who has an offer, or lacks a word: the latest ten thousand and one were looked at
    assert (offers.total, offers.more) == (10_000, True)
    assert (others.total, others.more, others.campaigns[0].id) == (10_000, True, "10000")


@pytest.mark.usefixtures("many_campaigns")
async def test_words_that_campaigns_about_a_theme_must_not_hold_are_not_looked_for_in_the_whole_table(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Mapping[str, Any]] = []
    rows = services.database.rows

    async def noted(query: Query, parameters: Parameters | None = None) -> list[DictRow]:
        sent.append(dict(parameters or {}))
        return await rows(query, parameters)

    monkeypatch.setattr(services.database, "rows", noted)
    without, within = [
        await find_by_theme(services.database, "silver", None, [Not(negated=Words(words=words))])
        for words in ("card or gold", "gold")
    ]
    assert (without.total, [each.id for each in within.campaigns]) == (0, ["10001"])
    assert [each["filter"] for each in sent if "filter" in each] == [None, None]


@pytest.mark.usefixtures("many_campaigns")
def test_the_words_of_a_condition_are_read_once_in_a_plan_that_is_kept(database_url: str) -> None:
    rows = RowConditions(NAME, SCHEMA, NO_DAY)
    met = rows.met([Words(words="silver or gold"), Words(words="card")])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("set plan_cache_mode = force_generic_plan")
        query = SQL("select from campaigns t where id > '0' and {}").format(met)
        assert calls(connection, "read_query", query, rows.parameters, prepare=True) <= 3


def test_campaigns_that_hold_words_of_most_are_counted_in_the_table_as_far_as_they_are_counted(
    database_url: str,
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "insert into campaigns (id, company, channel, campaign_text)"
            " select n, 'Acme', 'Email', case when n % 100 = 0 then 'golden card today' else 'golden card' end"
            " from generate_series(1, 3000) n"
        )
        connection.execute("select count_lexemes('campaigns')")
        connection.execute("analyze campaigns")
        count: LiteralString = "select * from search_campaigns_by_text(%s, 20, 100)"
        for query in ("golden", "golden card"):
            plan = plans(connection, count, [query], analyze=True)
            assert re.findall(r"Seq Scan on campaigns t .*actual time=\S+ rows=(\d+)", plan) == ["101"]
        for query in ("golden today", "golden -today", "golden blue"):
            assert "Seq Scan on campaigns" not in plans(connection, count, [query])


@pytest.mark.usefixtures("many_campaigns")
async def test_where_nothing_comes_near_a_theme_so_many_campaigns_are_looked_at_for_what_they_must_not_say(
    services: Services,
) -> None:
    unsaid, emails = Not(negated=Words(words="silver")), compared("channel", ("Email",))
    found = [
        await filter_campaigns(services.database, [each], looked_at_max=BESIDE_THEME_MAX) for each in (unsaid, emails)
    ]
    assert [(each.total, each.more) for each in found] == [(BESIDE_THEME_MAX, True), (5_000, False)]


async def test_where_so_many_campaigns_hold_a_phrase_they_are_counted_as_far_as_they_are_looked_at(
    database_url: str, services: Services
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill = (
            "insert into campaigns (id, company, channel, campaign_text)"
            " select n, 'Acme', 'Email', 'golden card' from generate_series(%s::int, %s) n"
        )
        connection.execute(fill, [1, LOOKED_AT_MAX])
        whole = await find_by_text(services.database, '"golden card"')
        connection.execute(fill, [LOOKED_AT_MAX + 1, 2 * LOOKED_AT_MAX])
        more = await find_by_text(services.database, '"golden card"')
    assert (whole.total, whole.more, whole.is_counted) == (LOOKED_AT_MAX, False, False)
    assert (more.total, more.more, more.is_counted) == (LOOKED_AT_MAX, True, False)


async def test_a_phrase_is_looked_for_in_so_many_campaigns_and_it_is_said_that_there_may_be_more(
    database_url: str, services: Services
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill = (
            "insert into campaigns (id, company, channel, campaign_text)"
            " select n, 'Acme', 'Email', %s from generate_series(%s::int, %s) n"
        )
        connection.execute(fill, ["golden card", 1, 20])
        connection.execute(fill, ["card, golden", 21, LOOKED_AT_MAX])
        counted = await find_by_text(services.database, '"golden card"')
        connection.execute(fill, ["golden card", LOOKED_AT_MAX + 1, LOOKED_AT_MAX + 1])
        more = await find_by_text(services.database, '"golden card"')
        none = await find_by_text(services.database, '"card card"')
    assert (counted.total, counted.more, counted.counts["company"]) == (20, False, {"Acme": 20})
    assert (more.total, more.size, any(more.counts.values())) == (20, "at least 20", False)
    assert (none.total, none.more) == (0, False)


async def test_an_index_leaves_out_what_is_excluded_unless_it_had_to_read_very_much(
    database_url: str, services: Services
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill = (
            "insert into campaigns (id, company, channel, campaign_text)"
            " select n, 'Acme', 'Email', %s from generate_series(%s::int, %s) n"
        )
        connection.execute(fill, ["golden card", 1, 20])
        connection.execute(fill, ["golden silver", 21, LOOKED_AT_MAX + 1])
        counted = [await find_by_text(services.database, query) for query in ("golden -silver", "-silver golden")]
        phrase = await find_by_text(services.database, '"golden card" -blue')
        connection.execute(
            "insert into lexeme_counts values ('golden', 'campaigns', 1e9), ('silver', 'campaigns', 1e9)"
        )
        more = await find_by_text(services.database, "golden -silver")
    assert [(each.total, each.more) for each in counted] == [(20, False)] * 2
    assert (phrase.total, phrase.more) == (20, False)
    assert (more.total, more.more) == (20, True)


def test_an_index_is_asked_for_the_rarest_words_and_exclusions_within_the_entries_that_it_may_read(
    database_url: str,
) -> None:
    asked = "select bounded_index_query('campaigns', %s, %s)::text"
    words = "amber & blue & coral & dun"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "insert into lexeme_counts values ('amber', 'campaigns', 400), ('blue', 'campaigns', 10), ('coral', 'campaigns', 30),"
            " ('ecru', 'campaigns', 20), ('dun', 'motions', 1000)"
        )
        rows = [connection.execute(asked, [f"{words} & !ecru", postings]).fetchone() for postings in (0, 45, 441, 500)]
        four, three = (connection.execute(asked, [each, 45]).fetchone() for each in (words, "amber & blue & coral"))
    assert (four, three) == (("'dun' & 'blue' & 'coral'",), ("'amber' & 'blue' & 'coral'",))
    assert [row and row[0] for row in rows] == [
        "'dun'",
        "'dun' & 'blue' & 'coral'",
        "'dun' & 'blue' & 'coral' & 'amber'",
        "'dun' & 'blue' & 'coral' & 'amber' & !'ecru'",
    ]
