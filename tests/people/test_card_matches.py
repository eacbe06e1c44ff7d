"""What a filter on cards and their people means, against the same said in Python."""

from __future__ import annotations

import asyncio
import datetime
import random
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from quarry.people.filters import CardFilters, constraints_in_force, relaxed, without
from quarry.people.retrieval import PersonIds, count_relaxations, find_candidates, find_excluded
from quarry.postgres.pool import Database
from tests.people.cards import Connection, add_card, add_person
from tests.vectors import direction


@pytest.fixture(scope="module")
def connection(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def is_there(connection: Connection, card: dict[str, Any], **asked: list[str]) -> bool:
    """Whether a card, put into the table for as long as it takes to look, is of the place asked for."""
    with connection.transaction(force_rollback=True):
        add_card(connection, "there?", degrees=[], **card)
        row = connection.execute(
            """select card_location_matches(c, jsonb_populate_record(null::card_filters, %s))
               from experience_cards c where c.id = 'there?'""",
            [Jsonb(asked)],
        ).fetchone()
    assert row is not None
    return bool(row[0])


@pytest.mark.parametrize(
    ("places", "card", "there"),
    [
        (["pune"], {"location": "Kharadi, PUNE, Maharashtra"}, True),
        (["pune"], {"location": "Pune-411014"}, True),
        (["york new"], {"location": "New York"}, False),
        (["oman"], {"location": "Bucharest, Romania"}, False),
        (["pu%"], {"location": "Pune"}, False),
        (["'"], {"location": "Pune"}, False),
    ],
)
def test_a_place_is_looked_for_as_whole_words(
    connection: Connection, places: list[str], card: dict[str, Any], there: bool
) -> None:
    assert is_there(connection, card, places=places) is there


COMPANIES, CITIES, SKILLS = ["Acme", "Bolt", " acme ", None], ["Pune", "Goa", None], ["go", "php", "rust"]
SENIORITY, INTENTS = ["entry", "senior", None], ["work", "education"]
WORLD_PEOPLE = 40


@pytest.fixture(scope="module")
def world(connection: Connection) -> list[dict[str, Any]]:
    """Forty people with one to three cards each; the cards, each with its person's preferences."""
    draw = random.Random(11)
    cards: list[dict[str, Any]] = []
    for number in range(WORLD_PEOPLE):
        person: dict[str, Any] = {
            "open_to_work": draw.random() < 0.5,
            "work_preferred_locations": draw.choice([["Goa"], ["Pune", "GOA "], []]),
            "work_preferred_salary_min": draw.choice([None, 1.0, 5.0]),
        }
        add_person(connection, f"p{number}", **person)
        for index in range(draw.randint(1, 3)):
            start = draw.choice([None, datetime.date(2015 + draw.randint(0, 5), 1, 1)])
            card: dict[str, Any] = {
                "id": f"p{number}-c{index}",
                "visible": draw.random() < 0.8,
                "company_name": draw.choice(COMPANIES),
                "city": draw.choice(CITIES),
                "seniority_level": draw.choice(SENIORITY),
                "intent_primary": draw.choice(INTENTS),
                "is_current": draw.choice([True, False, None]),
                "start_date": start,
                "end_date": draw.choice([None, (start or datetime.date(2016, 1, 1)) + datetime.timedelta(days=400)]),
                "skills": draw.sample(SKILLS, draw.randint(0, 2)),
            }
            add_card(connection, card["id"], f"p{number}", **{key: value for key, value in card.items() if key != "id"})
            cards.append(card | person | {"person": f"p{number}"})
    return cards


FILTERS = st.builds(
    CardFilters,
    companies=st.sampled_from([(), ("acme",), ("acme", "bolt")]),
    places=st.sampled_from([(), (), ("pune",), ("goa", "pune")]),
    seniority_levels=st.sampled_from([(), (), ("senior",)]),
    intents=st.sampled_from([(), (), ("work",)]),
    time_start=st.sampled_from([None, None, datetime.date(2017, 1, 1)]),
    time_end=st.sampled_from([None, None, datetime.date(2018, 6, 1)]),
    is_current=st.sampled_from([None, None, True, False]),
    open_to_work_only=st.none() | st.booleans(),
    preferred_locations=st.sampled_from([(), (), ("goa",)]),
    offer_salary=st.sampled_from([None, None, 0.0, 2.0]),
    excluded_companies=st.sampled_from([(), (), ("bolt",)]),
    excluded_keywords=st.sampled_from([(), (), ("php",), ("php", "rust")]),
)


def expected_cards(
    world: list[dict[str, Any]], filters: CardFilters, asked: CardFilters | None = None
) -> dict[str, set[str]]:
    """The cards that the filters let through, by person, by the letter of the filters; `asked` says who is excluded."""
    excluding = (asked or filters).excluding

    def company(card: dict[str, Any]) -> str | None:
        name = card["company_name"]
        return name.strip().lower() if name else None

    def in_time(card: dict[str, Any]) -> bool:
        start, end = card["start_date"], card["end_date"]
        if not filters.has_time:
            return True
        return (
            bool(start or end)
            and (not filters.time_end or not start or start <= filters.time_end)
            and (not filters.time_start or not end or end >= filters.time_start)
        )

    def fits(card: dict[str, Any]) -> bool:
        return bool(
            card["visible"]
            and (not filters.companies or company(card) in filters.companies)
            and (not filters.places or (card["city"] or "").lower() in filters.places)
            and (not filters.seniority_levels or card["seniority_level"] in filters.seniority_levels)
            and (not filters.intents or card["intent_primary"] in filters.intents)
            and (filters.is_current is None or card["is_current"] is filters.is_current)
            and in_time(card)
        )

    def is_excluded(card: dict[str, Any]) -> bool:
        return company(card) in filters.excluded_companies or bool(set(card["skills"]) & set(filters.excluded_keywords))

    left_out: set[str] = set()
    if filters.excludes_anyone:
        every = expected_cards(world, excluding)
        left_out = {
            card["person"] for card in world if is_excluded(card) and card["id"] in every.get(card["person"], ())
        }
    people: dict[str, set[str]] = {}
    for card in world:
        preferred = {place.strip().lower() for place in card["work_preferred_locations"]}
        salary = card["work_preferred_salary_min"]
        if (
            fits(card)
            and not is_excluded(card)
            and card["person"] not in left_out
            and (filters.open_to_work_only is None or card["open_to_work"] is filters.open_to_work_only)
            and (not filters.preferred_locations or preferred & set(filters.preferred_locations))
            and (filters.offer_salary is None or salary is None or salary <= filters.offer_salary)
        ):
            people.setdefault(card["person"], set()).add(card["id"])
    return people


Cards = dict[str, set[str]]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILTERS, st.integers(0, 3))
def test_who_is_found_and_who_would_be_is_what_the_filters_say(
    url: str, world: list[dict[str, Any]], filters: CardFilters, tier: int
) -> None:
    async def found_by(database: Database, excluded: PersonIds | None, vector: list[float] | None) -> Cards:
        people = await find_candidates(
            database,
            filters=relaxed(filters, tier),
            all_filters=filters,
            excluded=excluded,
            query_text="go",
            vector=vector,
            tier=tier,
        )
        return {each.person_id: {hit.card_id for hit in each.hits} for each in people}

    async def ask() -> tuple[list[Cards], list[tuple[str, int]]]:
        database = Database(url, pool_size=1, timeout_seconds=10)
        excluded = await find_excluded(database, filters)
        # None: whether somebody is excluded is tested one by one
        ways = [(excluded, direction(0)), (None, direction(0)), (None, None)]
        found = [await found_by(database, *way) for way in ways]
        counted = await count_relaxations(database, filters, excluded)
        await database.close()
        return found, list(counted)

    found, counted = asyncio.run(ask())
    expected = expected_cards(world, relaxed(filters, tier), filters)
    assert found[:2] == [expected] * 2
    # where nobody is nearer than others it is any of those that fit
    assert found[2].keys() <= expected.keys()
    strict = expected_cards(world, filters).keys()
    assert counted == [
        (name, len(expected_cards(world, without(filters, [name])).keys() - strict))
        for name in constraints_in_force(filters)
    ]


async def test_experience_is_counted_once_where_it_overlaps_and_goes_on_until_today(
    connection: Connection, database: Database
) -> None:
    today = datetime.datetime.now(datetime.UTC).date()

    def ago(days: int) -> datetime.date:
        return today - datetime.timedelta(days=days)

    jobs: dict[str, list[dict[str, Any]]] = {
        "long": [{"start_date": ago(1000), "end_date": ago(501)}, {"start_date": ago(400), "is_current": True}],
        "overlapping": [{"start_date": ago(900), "end_date": ago(101)}, {"start_date": ago(800), "end_date": ago(201)}],
        "student": [{"start_date": ago(2000), "intent_primary": "education"}, {"start_date": ago(100)}],
        "hidden": [{"start_date": ago(2000), "visible": False}, {"start_date": ago(100)}],
        "undated": [{}],
    }
    for person, cards in jobs.items():
        add_person(connection, person)
        for number, card in enumerate(cards):
            add_card(connection, f"{person}-{number}", person, **card)

    async def with_experience(least: int | None, most: int | None = None) -> set[str]:
        filters = CardFilters(experience_least=least, experience_most=most)
        found = await find_candidates(
            database,
            filters=filters,
            all_filters=filters,
            excluded=PersonIds("{}"),
            query_text="",
            vector=direction(0),
            tier=0,
        )
        return {person.person_id for person in found} & jobs.keys()

    assert await with_experience(900) == {"long"}
    assert await with_experience(800) == {"long", "overlapping"}
    assert await with_experience(None, 801) == {"overlapping", "student", "hidden"}
    assert await with_experience(801, 899) == set()
    connection.execute("delete from experience_cards where id = 'long-0'")
    connection.execute("update experience_cards set person_id = 'undated' where id = 'overlapping-0'")
    assert await with_experience(800) == {"undated"}
    assert await with_experience(400) == {"long", "overlapping", "undated"}
