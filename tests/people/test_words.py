"""People whose cards have no vectors yet: they are found by their words, and ranked beside those who have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from quarry.people.candidates import PersonEvidence
from quarry.people.filters import CardFilters
from quarry.people.ranking import rank_people
from quarry.people.retrieval import OVERFETCH_CARDS
from quarry.postgres.pool import Database
from tests.conftest import client_of, clone_database
from tests.people import world
from tests.people.cards import Connection, add_card, add_child, add_person, find, similarity_at
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

    async def test_so_is_a_child_without_a_vector_and_its_card_with_it(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "p", degrees=170)
        connection.execute("update experience_cards set embedded_hash = content_hash")
        add_child(connection, "p-k1", "p", degrees=[], summary="A sonar")
        person = (await find(database, query="sonar"))["p"]
        assert person.parents[0].similarity == pytest.approx(similarity_at(170), abs=1e-3)
        [child] = person.children
        assert child.child_id == "p-k1"
        assert child.similarity == pytest.approx(EVERY_WORD)

    async def test_they_rank_by_how_much_of_the_query_they_say(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "near", degrees=5, summary="Marine sonar")
        add_card(connection, "said", degrees=[], summary="Marine sonar")
        add_card(connection, "half-said", degrees=[], summary="Marine biology")
        people = await find(database, query="marine sonar")
        ranked = [person.person_id for person in rank_people(list(people.values()), CardFilters())]
        assert ranked[:3] == ["near", "said", "half-said"]

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

    async def test_who_meets_what_was_asked_for_needs_no_word(self, connection: Connection, database: Database) -> None:
        add_card(connection, "p", degrees=[], city="Bengaluru")
        filters = CardFilters(places=("bengaluru", "bangalore"))
        person = (await find(database, filters, query="anyone in Bangalore?"))["p"]
        assert person.parents[0].similarity == pytest.approx(NO_WORD)
        assert newcomers(await find(database, filters, query="anyone in Bangalore?", tier=2)) == set()

    async def test_should_terms_are_words_too(self, connection: Connection, database: Database) -> None:
        add_card(connection, "p", degrees=[], skills=["Kubernetes"])
        person = (await find(database, CardFilters(should_terms=("kubernetes",)), query="k8s", degrees=None))["p"]
        assert person.should_hits == 1

    async def test_a_text_that_was_changed_since_is_found_by_its_new_words(
        self, connection: Connection, database: Database
    ) -> None:
        for number in range(OVERFETCH_CARDS):
            add_card(connection, f"other-near{number}", degrees=1)
        connection.execute("update experience_cards set embedded_hash = content_hash")
        assert "other39" not in await find(database, query="sonar")
        connection.execute("update experience_cards set summary = 'Sonar' where id = 'other39'")
        assert (await find(database, query="sonar"))["other39"].text_score > 0


class TestManyWithoutVectors:
    @pytest.fixture
    def many(self, connection: Connection) -> Connection:
        """Four thousand cards without vectors, of which one speaks of sonar."""
        add_person(connection, "many")
        connection.execute(
            """insert into experience_cards (id, person_id, title, intent_primary, summary)
               select 'many-' || n, 'many', 'Card', 'work', 'Speaks of roads and topic' || n % 50
               from generate_series(1, 4000) n"""
        )
        add_card(connection, "one", degrees=[], summary="Speaks of sonar and roads")
        connection.execute("analyze experience_cards")
        connection.execute("select count_lexemes('experience_cards')")
        return connection

    async def test_the_rare_word_is_found_among_them(self, many: Connection, database: Database) -> None:
        people = await find(database, query="who speaks of roads and sonar?")
        assert newcomers(people) == {"one", "many"}
        assert people["one"].text_score > people["many"].text_score

    def test_an_index_serves(self, many: Connection) -> None:
        assert read_by(many, "sonar") >= {"experience_cards_text_search"}


def test_where_all_have_vectors_no_text_is_looked_at(connection: Connection) -> None:
    connection.execute("vacuum analyze experience_cards")
    assert read_by(connection, "keeps bees") == {
        "experience_cards_not_embedded",
        "experience_card_children_not_embedded",
    }


def read_by(connection: Connection, query: str) -> frozenset[str]:
    """The indexes of cards and children that serve to find people by words."""
    connection.execute("set enable_seqscan = off")
    read = reads(
        connection,
        "experience_card",
        "select * from people_by_words(weigh_query('{experience_cards,experience_card_children}', %s), null, '{}', null, 50)",
        [query],
    )
    connection.execute("reset enable_seqscan")
    return read.indexes


class TestWithoutAnyVector:
    def test_people_are_found_by_their_words(self, bare_url: str) -> None:
        with client_of(bare_url) as client:
            body = found(client, "warehouse robots in C++")
            summaries = [person["matched_cards"][0]["summary"] for person in body["people"]]
            assert len(summaries) == 5
            assert all("warehouse robots in C++" in summary for summary in summaries)
            assert all(person["similarity_percent"] > 0 and person["why_matched"] for person in body["people"])
            assert body["degraded"] == []

    def test_filters_hold_and_what_nobody_says_finds_nobody(self, bare_url: str) -> None:
        with client_of(bare_url) as client:
            body = found(client, "engineers at Kestrel Labs in Pune")
            strict = {
                card["person_id"]
                for card in world.cards()
                if (card["company_name"], card["city"]) == ("Kestrel Labs", "Pune")
            }
            assert set(ids(body)[: len(strict)]) == strict
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


def test_who_meets_everything_stands_before_the_nearest_of_a_wider_tier(server_url: str, world_template: str) -> None:
    goa: dict[str, Any] = {"city": "Goa", "country": "India"}
    with clone_database(server_url, world_template) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for number in range(2):
                add_card(connection, f"quiet{number}", degrees=[], title="Backend engineer", summary="Roses", **goa)
        with client_of(url) as client:
            body = found(client, "backend engineer in Goa")
            assert body["fallback_tier"] == 2
            assert sorted(ids(body)[:2]) == ["quiet0", "quiet1"]
