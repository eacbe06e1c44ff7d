"""People whose cards have no vectors yet: they are found by their words, and ranked beside those who have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from quarry.people.filters import CardFilters
from quarry.people.ranking import PersonEvidence
from quarry.postgres.pool import Database
from tests.conftest import client_of, clone_database
from tests.people import world
from tests.people.cards import Connection, add_card, add_person, find
from tests.people.test_search import found, ids
from tests.plans import reads

EVERY_WORD, NO_WORD = 2 / 3, 1 / 2


@pytest.fixture(scope="module")
def bare_url(server_url: str, migrated_template: str) -> Iterator[str]:
    """The small world, loaded and not embedded."""
    with clone_database(server_url, migrated_template) as url:
        world.load(url)
        yield url


@pytest.fixture
def connection(connection: Connection) -> Connection:
    """Forty people with vectors, all about something else; nobody else."""
    for number in range(40):
        add_card(connection, f"other{number:02}", degrees=60 + number, summary="Keeps bees")
    connection.execute("update experience_cards set embedded_hash = content_hash")
    return connection


def newcomers(found: dict[str, PersonEvidence]) -> set[str]:
    return {id for id in found if not id.startswith("other")}


class TestAmongThoseWithVectors:
    async def test_a_card_without_a_vector_is_found_by_its_words(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "all", degrees=[], summary="Ships marine sonar")
        add_card(connection, "half", degrees=[], summary="Marine biology")
        add_card(connection, "none", degrees=[], summary="Something else")
        people = await find(database, query="marine sonar")
        assert newcomers(people) == {"all", "half"}
        assert people["all"].parents[0].similarity == pytest.approx(EVERY_WORD)
        assert NO_WORD < people["half"].parents[0].similarity < EVERY_WORD
        assert people["all"].text_score > people["half"].text_score > 0

    async def test_filters_and_exclusions_hold_for_them(self, connection: Connection, database: Database) -> None:
        cards: dict[str, dict[str, Any]] = {
            "fits": {"city": "Pune"},
            "elsewhere": {"city": "Goa"},
            "hidden": {"city": "Pune", "visible": False},
            "ruled-out": {"city": "Pune", "skills": ["crypto"]},
        }
        for id, fields in cards.items():
            add_card(connection, id, degrees=[], summary="Sonar", **fields)
        filters = CardFilters(places=("pune",), excluded_keywords=("crypto",))
        assert newcomers(await find(database, filters, query="sonar")) == {"fits"}
        assert newcomers(await find(database, filters, query="sonar", tier=2)) == {"fits", "elsewhere"}


async def test_of_many_without_vectors_who_says_the_rare_word_is_found_by_an_index(
    connection: Connection, database: Database
) -> None:
    add_person(connection, "many")
    connection.execute(
        """insert into experience_cards (id, person_id, title, intent_primary, summary)
           select 'many-' || n, 'many', 'Card', 'work', 'Speaks of roads and topic' || n % 50
           from generate_series(1, 4000) n"""
    )
    add_card(connection, "one", degrees=[], summary="Speaks of sonar and roads")
    connection.execute("analyze experience_cards")
    connection.execute("select count_lexemes('experience_cards')")
    people = await find(database, query="who speaks of roads and sonar?")
    assert newcomers(people) == {"one", "many"}
    assert people["one"].text_score > people["many"].text_score
    connection.execute("set enable_seqscan = off")
    read = reads(
        connection,
        "experience_card",
        "select * from people_by_words(weigh_query('{experience_cards,experience_card_children}', 'sonar'), null, '{}', null, 9)",
        [],
    )
    assert "experience_cards_text_search" in read.indexes


def test_without_any_vector_people_are_found_by_their_words_and_filters_hold(bare_url: str) -> None:
    with client_of(bare_url) as client:
        body = found(client, "warehouse robots in C++")
        assert all("warehouse robots in C++" in person["matched_cards"][0]["summary"] for person in body["people"])
        assert (len(body["people"]), body["degraded"]) == (5, [])
        strict = {
            card["person_id"]
            for card in world.cards()
            if (card["company_name"], card["city"]) == ("Kestrel Labs", "Pune")
        }
        assert set(ids(found(client, "engineers at Kestrel Labs in Pune"))[: len(strict)]) == strict
        assert ids(found(client, "quantum chef")) == []
        assert world.HIDDEN not in ids(found(client, world.HIDDEN_WORDS))


def test_a_person_just_loaded_is_found_before_the_vectors_are_made(server_url: str, world_template: str) -> None:
    with clone_database(server_url, world_template) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            add_card(connection, "newcomer", degrees=[], title="Glaciologist", summary="Drills ice cores in Antarctica")
        with client_of(url) as client:
            [first, *_] = found(client, "glaciologist who drills ice cores")["people"]
            assert first["id"] == "newcomer"
            assert [card["title"] for card in first["matched_cards"]] == ["Glaciologist"]
