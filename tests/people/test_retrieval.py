"""People out of Postgres: who is found, by which cards, and what is shown of them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import pytest

from quarry.people.contract import Constraints, Must, PeopleSearchRequest
from quarry.people.filters import CardFilters, HardConstraint, card_filters
from quarry.people.normalisation import normalise
from quarry.people.ranking import CardHit, PersonEvidence, RankedPerson, clauses_of, rank_people
from quarry.people.retrieval import (
    OVERFETCH_CARDS,
    count_relaxations,
    find_candidates,
    find_excluded,
    find_never_said,
    find_standings,
    load_people,
)
from quarry.postgres.pool import Database
from tests.people.cards import Connection, add_card, add_child, add_person, find, similarity_at
from tests.vectors import direction

NO_FILTERS = CardFilters()
NOBODY = CardFilters(companies=("no such company",))


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

    async def test_they_are_never_shown(self, database: Database) -> None:
        hits = (
            CardHit("half-c2", None, 1.0, True, True, True),
            CardHit("half-c2", "half-c2-k1", 1.0, True, True, True),
        )
        ranked = [RankedPerson(id, 1.0, PersonEvidence(id, hits[:1], hits[1:], 0.0, 0)) for id in ("half", "all")]
        half, whole = await load_people(database, ranked)
        assert [card.id for card in half.matched_cards] == ["half"]
        assert whole.matched_cards == []


class TestAlternatives:
    async def test_a_place_or_the_wish_to_work_elsewhere_is_enough(
        self, connection: Connection, database: Database
    ) -> None:
        add_person(connection, "wishes", work_preferred_locations=["Remote"])
        add_card(connection, "c-wishes", "wishes", city="Oslo")
        add_card(connection, "there", city="Chennai")
        add_card(connection, "worked", location="Remote, India")
        add_card(connection, "neither", city="Oslo")
        must = Must(city="Chennai", or_preferred_locations=["Remote"])
        filters = card_filters(normalise(Constraints(must=must)), PeopleSearchRequest(query="x"))
        assert set(await find(database, filters)) == {"wishes", "there", "worked"}
        assert await relaxations(database, filters) == [("location", 1)]
        [clause] = clauses_of(filters)
        assert clause.label == "in Chennai or ready to work remotely"
        met = await find_standings(database, ["wishes", "there", "neither"], [clause])
        assert met == {"wishes": [True], "there": [True], "neither": [False]}


class TestExclusions:
    @pytest.fixture(autouse=True)
    def people(self, connection: Connection) -> None:
        add_card(connection, "was-there", company_name="Kosmo", degrees=5)
        add_card(connection, "was-there-c2", "was-there", company_name="Acme Retail ", degrees=60)
        add_card(connection, "never", company_name="Acme Retail Services")
        add_card(connection, "none", degrees=50)

    @pytest.mark.parametrize("tier", [0, 3])
    async def test_who_was_ever_at_an_excluded_company_is_left_out(self, database: Database, tier: int) -> None:
        filters = CardFilters(excluded_companies=("acme retail",), time_start=datetime.date(2020, 1, 1))
        assert set(await find(database, filters, tier=tier)) == ({"never", "none"} if tier else set())

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

    @pytest.mark.parametrize("are_listed", [True, False])
    @pytest.mark.parametrize(
        ("keyword", "left"),
        [
            ("managers", {"a", "c", "d"}),
            ("management", {"b", "d"}),
            ("product managers", {"a", "c", "d"}),
            ("managers of products", {"a", "b", "c", "d"}),
        ],
    )
    async def test_what_is_said_is_excluded_and_no_other_word_of_its_stem(
        self, connection: Connection, database: Database, keyword: str, left: set[str], are_listed: bool
    ) -> None:
        add_card(connection, "a", degrees=0, summary="Management of a product line.")
        add_card(connection, "b", degrees=0, title="Product manager")
        add_card(connection, "c", degrees=0)
        add_child(connection, "c-k", "c", degrees=0, title="Risk management")
        add_card(connection, "d", degrees=0, title="Engineer")
        found = await self.left(database, CardFilters(excluded_keywords=(keyword,)), are_listed)
        assert found - {"was-there", "never", "none"} == left

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
    @pytest.mark.parametrize("are_listed", [True, False])
    async def test_who_calls_themselves_what_is_excluded_is_left_out(
        self, connection: Connection, database: Database, excluded: dict[str, Any], is_out: bool, are_listed: bool
    ) -> None:
        headline = "Head baker in Leeds, once at Iron Bank"
        add_person(connection, "p", name="Ada Baker-Stone", headline=headline, bio="Keeps a kestrel.")
        add_card(connection, "a", "p")
        assert ("p" in await self.left(database, CardFilters(**excluded), are_listed)) != is_out

    @pytest.mark.parametrize("keyword", ["the", "😀", "'"])
    async def test_a_keyword_without_a_word_leaves_nobody_out(self, database: Database, keyword: str) -> None:
        assert len(await find(database, CardFilters(excluded_keywords=(keyword,)))) == 3

    async def test_what_nobody_says_is_known_as_such(self, connection: Connection, database: Database) -> None:
        add_card(connection, "hidden", visible=False, summary="Sonar")
        add_child(connection, "k", "never", title="Crypto")
        found = await find_never_said(database, ["retail", "smokers", "sonar", "crypto", "the"])
        assert found == {"smokers", "sonar", "the"}

    @staticmethod
    async def left(database: Database, filters: CardFilters, are_listed: bool) -> set[str]:
        """Who is found; where they are not listed, each candidate is tested."""
        excluded = await find_excluded(database, filters) if are_listed else None
        people = await find_candidates(
            database, filters=filters, excluded=excluded, query_text="", vector=direction(0), tier=0
        )
        return {each.person_id for each in people}


class TestWords:
    async def test_the_words_of_what_is_excluded_favour_nobody(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "a", summary="Sonar, sold to agencies")
        add_card(connection, "b", summary="Sonar")
        query = "sonar, not from agencies, C++"
        found = await find(database, CardFilters(excluded_keywords=("agency work", "c++")), query=query)
        assert found["a"].text_score == found["b"].text_score > 0

    async def test_a_should_term_counts_once_wherever_it_stands(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "a", skills=["Machine Learning"], intent_secondary=["career_break"], summary="learning C#")
        add_child(connection, "a-k1", "a", tags=["machine learning", "kafka"])
        terms = ("machine learning", "kafka", "career break", "c#", "c++", "learning machine", "the", "😀")
        assert (await find(database, CardFilters(should_terms=terms)))["a"].should_hits == 4

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

    async def test_people_come_in_the_order_asked_for_and_who_is_gone_is_left_out(
        self, connection: Connection, database: Database
    ) -> None:
        for id in "abc":
            add_card(connection, id)
        found = await find(database)
        connection.execute("delete from people where id = 'b'")
        ranked = [RankedPerson(id, 1.0, found[id]) for id in "cba"]
        assert [person.id for person in await load_people(database, ranked)] == ["c", "a"]

    async def test_contact_details_are_not_even_read(self, connection: Connection, database: Database) -> None:
        add_person(connection, "p", email="p@example.com", phone="+91 99999 00000", links=["https://example.com/p"])
        add_card(connection, "c", "p")
        [shown] = await load_people(database, rank_people(list((await find(database)).values()), CardFilters()))
        assert "example.com" not in repr(shown)
        assert "99999" not in repr(shown)
