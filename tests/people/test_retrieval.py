"""People out of Postgres: who is found, by which cards, and what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from quarry.people.filters import CardFilters, HardConstraint
from quarry.people.ranking import PersonEvidence, rank_people
from quarry.people.retrieval import (
    OVERFETCH_CARDS,
    count_relaxations,
    find_candidates,
    find_excluded,
    find_meeting,
    load_people,
)
from quarry.postgres.pool import Database
from tests.people.cards import Connection, add_card, add_child, add_person, find, similarity_at
from tests.vectors import direction


async def relaxations(database: Database, filters: CardFilters) -> list[tuple[HardConstraint, int]]:
    return await count_relaxations(database, filters, await find_excluded(database, filters))


def hit_ids(people: Mapping[str, PersonEvidence]) -> set[str]:
    """The ids of all cards and children found."""
    return {hit.child_id or hit.card_id for person in people.values() for hit in person.hits}


class TestNearness:
    async def test_a_card_is_as_near_as_the_nearest_of_its_vectors(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "far", degrees=60)
        add_card(connection, "long", degrees=[80, 10, 70])
        add_child(connection, "long-k1", "long", degrees=[50, 30])
        found = await find(database)
        [card] = found["long"].parents
        [child] = found["long"].children
        assert card.similarity == pytest.approx(similarity_at(10), abs=1e-3)
        assert (child.card_id, child.child_id) == ("long", "long-k1")
        assert child.similarity == pytest.approx(similarity_at(30), abs=1e-3)
        assert found["far"].parents[0].similarity == pytest.approx(similarity_at(60), abs=1e-3)

    async def test_one_person_with_all_the_nearest_cards_leaves_room_for_others(
        self, connection: Connection, database: Database
    ) -> None:
        for number in range(OVERFETCH_CARDS + 5):
            add_card(connection, f"other{number:02}", degrees=30 + number)
        add_person(connection, "many")
        for number in range(OVERFETCH_CARDS + 5):
            add_card(connection, f"many-c{number}", "many")
        assert set(await find(database)) == {"many", *(f"other{number:02}" for number in range(OVERFETCH_CARDS - 1))}


class TestHiddenCards:
    @pytest.fixture(autouse=True)
    def hidden(self, connection: Connection) -> None:
        add_card(connection, "half", degrees=40)
        add_card(connection, "half-c2", "half", visible=False, company_name="Secret", skills=["sonar"], city="Atlantis")
        add_child(connection, "half-c2-k1", "half-c2", title="Sonar")
        add_card(connection, "all", visible=False, company_name="Secret", title="Sonar")

    async def test_they_and_their_children_are_no_evidence(self, database: Database) -> None:
        found = await find(database, query="sonar")
        assert hit_ids(found) == {"half"}
        assert found["half"].text_score == 0
        should = await find(database, CardFilters(should_terms=("sonar",)))
        assert should["half"].should_hits == 0

    async def test_no_filter_sees_them(self, database: Database) -> None:
        assert await find(database, CardFilters(companies=("secret",))) == {}
        assert set(await find(database, CardFilters(excluded_companies=("secret",)))) == {"half"}
        assert set(await find(database, CardFilters(excluded_keywords=("sonar",)))) == {"half"}
        assert await relaxations(database, CardFilters(companies=("secret",))) == [("company_norm", 1)]


class TestExclusions:
    @pytest.fixture(autouse=True)
    def people(self, connection: Connection) -> None:
        add_card(connection, "was-there", company_name="Kosmo", degrees=5)
        add_card(connection, "was-there-c2", "was-there", company_name="Acme Retail ", degrees=60)
        add_card(connection, "never", company_name="Acme Retail Services")
        add_card(connection, "none", degrees=50)

    @pytest.mark.parametrize(
        ("asked", "ever", "is_out"),
        [
            # nothing is asked of an experience: any that is excluded counts
            ({}, False, True),
            ({"roles": ("card",)}, False, True),
            # who was there as something else, or elsewhere, is not meant
            ({"roles": ("nurse",)}, False, False),
            ({"companies": ("kosmo",)}, False, False),
            ({"roles": ("nurse",)}, True, True),
        ],
    )
    @pytest.mark.parametrize("tests_each", [False, True])
    async def test_an_excluded_experience_that_is_asked_for_leaves_its_person_out(
        self, database: Database, asked: dict[str, Any], ever: bool, is_out: bool, tests_each: bool
    ) -> None:
        filters = CardFilters(excluded_companies=("acme retail",), excluded_ever=ever, **asked)
        found = await find_candidates(
            database,
            filters=CardFilters(excluded_companies=("acme retail",)),
            all_filters=filters,
            excluded=None if tests_each else await find_excluded(database, filters),
            query_text="",
            vector=direction(0),
            tier=0,
        )
        cards = {each.person_id: {hit.card_id for hit in each.hits} for each in found}
        assert set(cards) == {"never", "none"} | (set() if is_out else {"was-there"})
        # an excluded card is no evidence
        assert "was-there-c2" not in cards.get("was-there", set())

    @pytest.mark.parametrize(
        ("keyword", "text"),
        [
            ("crypto", {"summary": "Ledgers for a Crypto exchange"}),
            ("night shifts", {"title": "Nurse on night shift"}),
            ("internship", {"employment_type": "internship"}),
            ("risk", {"team": "Risk"}),
            ("iron bank", {"company_name": "Iron Bank of Leeds"}),
            ("c#", {"skills": ["C#"]}),
        ],
    )
    async def test_who_has_a_card_with_an_excluded_keyword_is_left_out(
        self, connection: Connection, database: Database, keyword: str, text: dict[str, Any]
    ) -> None:
        add_person(connection, "p")
        add_card(connection, "with", "p", **text)
        add_card(connection, "without", "p", degrees=50, skills=["C"], summary="Shifts by day")
        found = await find(database, CardFilters(excluded_keywords=(keyword, "unheard of")))
        assert set(found) == {"was-there", "never", "none"}

    @pytest.mark.parametrize(
        ("excluded", "is_out"),
        [
            ({"excluded_keywords": ("bakers",)}, True),
            ({"excluded_keywords": ("ada baker-stone",)}, True),
            ({"excluded_keywords": ("stone", "kestrel")}, False),
            ({"excluded_companies": ("iron bank",)}, True),
            ({"excluded_places": ("leeds",)}, True),
        ],
    )
    async def test_who_calls_themselves_what_they_should_never_have_been_is_left_out(
        self, connection: Connection, database: Database, excluded: dict[str, Any], is_out: bool
    ) -> None:
        headline = "Head baker in Leeds, once at Iron Bank"
        add_person(connection, "p", name="Ada Baker-Stone", headline=headline, bio="Keeps a kestrel.")
        add_card(connection, "a", "p")
        assert "p" in await find(database, CardFilters(**excluded))
        assert ("p" in await find(database, CardFilters(excluded_ever=True, **excluded))) != is_out


async def test_what_a_relaxation_adds_keeps_the_role_and_the_words(connection: Connection, database: Database) -> None:
    for number, (title, city, summary) in enumerate(
        [("Lawyer", "Delhi", "Tax"), ("Lawyer", "Pune", "Tax"), ("Lawyer", "Goa", "Wills"), ("Nurse", "Goa", "Tax")]
    ):
        add_card(connection, f"c{number}", title=title, city=city, summary=summary)
    filters = CardFilters(roles=("lawyer",), places=("delhi",), texts=("tax",))
    among = await find_meeting(database, texts=filters.texts)
    assert await count_relaxations(database, filters, await find_excluded(database, filters), among) == [
        ("location", 1)
    ]


class TestWords:
    @pytest.mark.parametrize("query", ["", "😀", "' or 1=1 --", "a:* & !b <-> ", "é" * 2000, "-sonar"])
    async def test_any_query_is_answered(self, connection: Connection, database: Database, query: str) -> None:
        add_card(connection, "a", summary="Sonar")
        assert set(await find(database, CardFilters(should_terms=(query,)), query=query)) == {"a"}


class TestShownPeople:
    async def test_a_person_found_by_a_child_alone_is_shown_with_that_childs_card(
        self, connection: Connection, database: Database
    ) -> None:
        add_person(connection, "p", headline="H", bio="B", open_to_work=True, work_preferred_locations=["Goa"])
        for number in range(4):
            add_card(connection, f"c{number}", "p", degrees=50, title=f"Card {number}")
        add_card(connection, "c9", "p", degrees=120)
        add_child(connection, "c9-k1", "c9", degrees=60)
        add_child(connection, "c9-k2", "c9", degrees=2, tags=["t"])
        found = await find(database)
        [shown] = await load_people(database, rank_people(list(found.values()), CardFilters()))
        assert (shown.id, shown.name, shown.headline, shown.bio) == ("p", "P", "H", "B")
        assert (shown.open_to_work, shown.open_to_contact) == (True, False)
        assert (shown.work_preferred_locations, shown.work_preferred_salary_min) == (["Goa"], None)
        assert [card.id for card in shown.matched_cards] == ["c9", "c0", "c1"]
        assert [child.id for child in shown.matched_cards[0].children] == ["c9-k2", "c9-k1"]
