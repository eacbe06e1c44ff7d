"""People out of Postgres: who is found, by which cards, and what is shown of them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quarry.people.candidates import CardHit, PersonEvidence, RankedPerson
from quarry.people.clauses import clauses_of
from quarry.people.constraints import card_filters
from quarry.people.contract import Constraints, Must, PeopleSearchRequest
from quarry.people.filters import CardFilters, HardConstraint
from quarry.people.normalisation import normalise
from quarry.people.ranking import rank_people
from quarry.people.retrieval import (
    OVERFETCH_CARDS,
    TOP_K_CARDS,
    count_relaxations,
    find_candidates,
    find_excluded,
    find_standings,
    load_people,
)
from quarry.postgres.pool import Database
from tests.bulk import copy_rows, copy_vectors, indexes_built_afterwards
from tests.people.cards import Connection, add_card, add_child, add_person, find, similarity_at
from tests.plans import plans
from tests.vectors import direction, vector_literal

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

    async def test_the_nearest_five_of_each_kind_are_evidence(self, connection: Connection, database: Database) -> None:
        add_person(connection, "p")
        for number in range(7):
            add_card(connection, f"c{number}", "p", degrees=70 - 10 * number)
            add_child(connection, f"k{number}", f"c{number}", degrees=10 + 10 * number)
        [person] = (await find(database)).values()
        assert [hit.card_id for hit in person.parents] == ["c6", "c5", "c4", "c3", "c2"]
        assert [(hit.card_id, hit.child_id) for hit in person.children] == [(f"c{n}", f"k{n}") for n in range(5)]
        assert len(person.parents) == TOP_K_CARDS

    async def test_the_opposite_direction_has_a_third_of_the_similarity(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "a", degrees=180)
        [hit] = (await find(database))["a"].hits
        assert hit.similarity == pytest.approx(1 / 3)

    async def test_one_person_with_all_the_nearest_cards_leaves_room_for_others(
        self, connection: Connection, database: Database
    ) -> None:
        for number in range(OVERFETCH_CARDS + 5):
            add_card(connection, f"other{number:02}", degrees=30 + number)
        add_person(connection, "many")
        for number in range(5 * OVERFETCH_CARDS):
            add_card(connection, f"many-c{number}", "many")
        assert set(await find(database)) == {"many", *(f"other{number:02}" for number in range(OVERFETCH_CARDS - 1))}

    async def test_where_no_card_has_a_child_no_card_is_compared_for_its_children(
        self, connection: Connection, database: Database
    ) -> None:
        ids = [f"p{number:03}" for number in range(20 * OVERFETCH_CARDS)]
        vectors = np.array([direction(number / 10) for number in range(len(ids))], np.float32)
        copy_rows(connection, "people (id)", [(id,) for id in ids])
        copy_rows(
            connection,
            "experience_cards (id, person_id, title, intent_primary)",
            [(id, id, "Card", "work") for id in ids],
        )
        with indexes_built_afterwards(connection, "experience_card_embeddings"):
            copy_vectors(connection, "experience_card_embeddings", ids, vectors)
        connection.execute("analyze experience_cards, experience_card_embeddings, experience_card_child_embeddings")
        plan = plans(
            connection,
            "select * from nearest_people(%s, null, '{}', null, %s)",
            [vector_literal(direction(0)), OVERFETCH_CARDS],
        )
        assert "Function Scan on nearest_people" in plan
        assert "CTE nearest" not in plan
        assert len(await find(database)) == OVERFETCH_CARDS

    async def test_without_people_nobody_is_found(self, connection: Connection, database: Database) -> None:
        assert await find(database, query="anyone?") == {}
        assert await find(database, NOBODY, tier=3) == {}
        assert await relaxations(database, NOBODY) == [("company_norm", 0)]
        assert await load_people(database, []) == []

    async def test_a_vector_of_zeros_is_none(self, connection: Connection, database: Database) -> None:
        add_card(connection, "zero", degrees=[])
        connection.execute(
            "insert into experience_card_embeddings select 'zero', 0, array_fill(0, array[384])::halfvec"
        )
        add_card(connection, "a")
        assert set(await find(database, query="nothing of it")) == {"a"}
        [hit] = (await find(database, query="card"))["zero"].hits
        assert hit.similarity == pytest.approx(2 / 3)


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
        assert [card.id for card in half.cards] == ["half"]
        assert whole.cards == ()


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

    @pytest.mark.parametrize("tier", range(4))
    async def test_who_was_ever_at_an_excluded_company_is_left_out(self, database: Database, tier: int) -> None:
        filters = CardFilters(
            excluded_companies=("acme retail",), time_start=datetime.date(2020, 1, 1), places=("pune",)
        )
        assert set(await find(database, filters, tier=tier)) == ({"never", "none"} if tier >= 2 else set())

    @pytest.mark.parametrize(
        ("keyword", "text"),
        [
            ("crypto", {"summary": "Ledgers for a Crypto exchange"}),
            ("crypto", {"skills": ["Go", "crypto"]}),
            ("night shifts", {"title": "Nurse on night shift"}),
            ("internship", {"employment_type": "internship"}),
            ("c#", {"skills": ["C#"]}),
            ("c++", {"summary": "Twenty years of C++, and no regrets"}),
        ],
    )
    async def test_who_has_a_card_with_an_excluded_keyword_is_left_out(
        self, connection: Connection, database: Database, keyword: str, text: dict[str, Any]
    ) -> None:
        add_person(connection, "p")
        add_card(connection, "with", "p", **text)
        add_child(connection, "with-k1", "with")
        add_card(connection, "without", "p", degrees=50, skills=["C"], summary="Shifts by day")
        for tier in range(4):
            found = await find(database, CardFilters(excluded_keywords=(keyword, "unheard of")), tier=tier)
            assert set(found) == {"was-there", "never", "none"}

    async def test_a_keyword_in_a_child_leaves_the_person_out(self, connection: Connection, database: Database) -> None:
        add_card(connection, "a")
        add_card(connection, "a-c2", "a")
        add_child(connection, "a-k1", "a", tags=["Crypto"])
        add_child(connection, "a-k2", "a")
        assert set(await find(database, CardFilters(excluded_keywords=("crypto",)))) == {"was-there", "never", "none"}

    @pytest.mark.parametrize("are_listed", [True, False])
    @pytest.mark.parametrize(
        ("keyword", "left"),
        [
            ("managers", {"a", "c", "d"}),
            ("manager", {"a", "c", "d"}),
            ("management", {"b", "d"}),
            ("production", {"a", "b", "c", "d"}),
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
        filters = CardFilters(excluded_keywords=(keyword,))
        found = await find_candidates(
            database,
            filters=filters,
            excluded=await find_excluded(database, filters) if are_listed else None,
            query_text="",
            vector=direction(0),
            tier=0,
        )
        assert {each.person_id for each in found} - {"was-there", "never", "none"} == left

    @pytest.mark.parametrize(
        ("keyword", "is_out"),
        [("bakers", True), ("head baker", True), ("kestrel", False), ("ada baker-stone", True), ("stone", False)],
    )
    @pytest.mark.parametrize("are_listed", [True, False])
    async def test_a_keyword_in_what_somebody_calls_themselves_leaves_them_out(
        self, connection: Connection, database: Database, keyword: str, is_out: bool, are_listed: bool
    ) -> None:
        add_person(connection, "p", name="Ada Baker-Stone", headline="Head baker and miller", bio="Keeps a kestrel.")
        add_card(connection, "a", "p")
        filters = CardFilters(excluded_keywords=(keyword,))
        excluded = await find_excluded(database, filters) if are_listed else None
        evidence = await find_candidates(
            database, filters=filters, excluded=excluded, query_text="", vector=direction(0), tier=0
        )
        assert ("p" in {person.person_id for person in evidence}) != is_out

    @pytest.mark.parametrize("keyword", ["the", "😀", "--", "'"])
    async def test_a_keyword_without_a_word_leaves_nobody_out(self, database: Database, keyword: str) -> None:
        assert len(await find(database, CardFilters(excluded_keywords=(keyword,)))) == 3


class TestTiers:
    """Strict: at Kosmo, in Pune, in 2020. Each person misses one more of these."""

    filters = CardFilters(
        companies=("kosmo",),
        places=("pune",),
        time_start=datetime.date(2020, 1, 1),
        time_end=datetime.date(2020, 12, 31),
        seniority_levels=("senior",),
    )

    @pytest.fixture(autouse=True)
    def people(self, connection: Connection) -> None:
        then: dict[str, Any] = {"start_date": "2019-01-01"}
        before: dict[str, Any] = {"start_date": "2010-01-01", "end_date": "2012-01-01"}
        there: dict[str, Any] = {"company_name": "Kosmo", "city": "Pune", "seniority_level": "senior"}
        add_card(connection, "strict", degrees=40, **there | then)
        add_card(connection, "undated", degrees=30, **there)
        add_card(connection, "before", degrees=30, **there | before)
        add_card(connection, "elsewhere", degrees=20, **there | before | {"city": "Goa"})
        add_card(connection, "other", degrees=10, **before | {"seniority_level": "senior"})
        add_card(connection, "junior", degrees=0, **there | then | {"seniority_level": "entry"})

    @pytest.mark.parametrize(
        ("tier", "expected"),
        [
            (0, {"strict"}),
            (1, {"strict", "undated", "before"}),
            (2, {"strict", "undated", "before", "elsewhere"}),
            (3, {"strict", "undated", "before", "elsewhere", "other"}),
        ],
    )
    async def test_each_tier_lets_in_whom_the_dropped_constraint_kept_out(
        self, database: Database, tier: int, expected: set[str]
    ) -> None:
        assert set(await find(database, self.filters, tier=tier)) == expected

    async def test_a_hit_says_what_the_card_is_to_what_was_asked(self, database: Database) -> None:
        found = await find(database, self.filters, tier=3)
        flags = {
            id: (hit.time_overlaps, hit.time_covered, hit.location_matches)
            for id, person in found.items()
            for hit in person.hits
        }
        assert flags == {
            "strict": (True, True, True),
            "undated": (False, False, True),
            "before": (False, False, True),
            "elsewhere": (False, False, False),
            "other": (False, False, False),
        }

    async def test_people_who_meet_what_was_dropped_lose_nothing_to_it(self, database: Database) -> None:
        ranked = rank_people(list((await find(database, self.filters, tier=3)).values()), self.filters)
        assert [person.person_id for person in ranked][:1] == ["strict"]

    async def test_where_no_time_or_place_is_asked_for_every_card_meets_it(self, database: Database) -> None:
        for person in (await find(database)).values():
            for hit in person.hits:
                assert (hit.time_overlaps, hit.time_covered, hit.location_matches) == (True, True, True)


class TestWords:
    async def test_a_text_scores_by_the_words_that_it_says(self, connection: Connection, database: Database) -> None:
        add_card(connection, "all", summary="Ships marine sonar for trawlers")
        add_card(connection, "child", summary="Ships things")
        add_child(connection, "child-k1", "child", summary="A marine radio")
        add_card(connection, "none", summary="Nothing of it")
        found = await find(database, query="shipping marine sonar")
        assert found["all"].text_score > found["child"].text_score > found["none"].text_score == 0

    async def test_the_words_of_what_is_excluded_favour_nobody(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "a", summary="Sonar, sold to agencies")
        add_card(connection, "b", summary="Sonar")
        query = "sonar, not from agencies, C++"
        found = await find(database, CardFilters(excluded_keywords=("agency work", "c++")), query=query)
        assert found["a"].text_score == found["b"].text_score > 0

    async def test_a_place_that_all_are_in_is_no_word_to_be_found(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "a", summary="Sonar", city="Bengaluru")
        filters = CardFilters(places=("bengaluru", "bangalore"))
        found = await find(database, filters, query="sonar Bangalore")
        alone = await find(database, filters, query="sonar")
        assert found["a"].text_score == alone["a"].text_score > 0

    async def test_only_texts_that_the_filters_let_through_are_read(
        self, connection: Connection, database: Database
    ) -> None:
        add_person(connection, "p")
        add_card(connection, "p-c1", "p", company_name="Kosmo", summary="Radio")
        add_card(connection, "p-c2", "p", company_name="Acme", summary="Sonar")
        filters = CardFilters(companies=("kosmo",), should_terms=("sonar", "radio"))
        person = (await find(database, filters, query="sonar"))["p"]
        assert (person.text_score, person.should_hits) == (0, 1)

    async def test_a_should_term_counts_once_wherever_it_stands(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "a", skills=["Machine Learning"], intent_secondary=["career_break"], summary="learning C#")
        add_child(connection, "a-k1", "a", tags=["machine learning", "kafka"])
        terms = ("machine learning", "kafka", "career break", "c#", "c++", "learning machine", "the", "😀")
        assert (await find(database, CardFilters(should_terms=terms)))["a"].should_hits == 4

    async def test_of_very_many_should_terms_the_first_count(self, connection: Connection, database: Database) -> None:
        add_card(connection, "a", summary=" ".join(f"term{n}" for n in range(100)))
        terms = tuple(f"term{n}" for n in range(100))
        assert (await find(database, CardFilters(should_terms=terms)))["a"].should_hits == 63

    @pytest.mark.parametrize(
        "query", ["", "the of and", "😀", "' or 1=1 --", "a:* & !b <-> ", "é" * 2000, '-"', "-sonar"]
    )
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
        assert (shown.work_preferred_locations, shown.work_preferred_salary_min) == (("Goa",), None)
        assert [card.id for card in shown.cards] == ["c9", "c0", "c1"]
        assert [child.id for child in shown.cards[0].children] == ["c9-k2", "c9-k1"]

    async def test_people_come_in_the_order_asked_for_and_who_is_gone_is_left_out(
        self, connection: Connection, database: Database
    ) -> None:
        for id in "abc":
            add_card(connection, id)
        found = await find(database)
        connection.execute("delete from people where id = 'b'")
        ranked = [RankedPerson(id, 1.0, found[id]) for id in "cba"]
        assert [person.id for person in await load_people(database, ranked)] == ["c", "a"]

    async def test_where_no_matched_card_is_left_the_latest_are_shown(
        self, connection: Connection, database: Database
    ) -> None:
        add_card(connection, "p")
        found = await find(database)
        for id, start, end in [
            ("old", "2001-01-01", "2003-01-01"),
            ("now", "2010-01-01", None),
            ("recent", "2004-01-01", "2009-01-01"),
            ("late", "2002-01-01", "2008-01-01"),
        ]:
            add_card(connection, id, "p", start_date=start, end_date=end)
        connection.execute("update experience_cards set visible = false where id = 'p'")
        [shown] = await load_people(database, [RankedPerson("p", 1.0, found["p"])])
        assert [card.id for card in shown.cards] == ["now", "recent", "late"]

    async def test_contact_details_are_not_even_read(self, connection: Connection, database: Database) -> None:
        add_person(connection, "p", email="p@example.com", phone="+91 99999 00000", links=["https://example.com/p"])
        add_card(connection, "c", "p")
        [shown] = await load_people(database, rank_people(list((await find(database)).values()), CardFilters()))
        assert "example.com" not in repr(shown)
        assert "99999" not in repr(shown)


class TestRelaxations:
    @pytest.fixture(autouse=True)
    def people(self, connection: Connection) -> None:
        strict: dict[str, Any] = {"company_name": "Kosmo", "city": "Pune", "seniority_level": "senior"}
        add_card(connection, "strict", **strict)
        add_card(connection, "strict-c2", "strict", **strict | {"company_name": "Acme"})
        for id in ("acme1", "acme2"):
            add_card(connection, id, **strict | {"company_name": "Acme"})
            add_card(connection, f"{id}-c2", id, **strict | {"company_name": "Bolt"})
        add_card(connection, "goa", **strict | {"city": "Goa"})
        add_card(connection, "two-off", **strict | {"city": "Goa", "company_name": "Acme"})
        add_card(connection, "far", visible=False, **strict | {"city": "Goa"})

    filters = CardFilters(companies=("kosmo",), places=("pune",), seniority_levels=("senior",))

    async def test_each_constraint_is_dropped_alone_and_people_are_counted_once(self, database: Database) -> None:
        assert await relaxations(database, self.filters) == [
            ("company_norm", 2),
            ("seniority_level", 0),
            ("location", 1),
        ]

    async def test_who_is_excluded_is_not_counted(self, database: Database) -> None:
        counted = await relaxations(database, replace(self.filters, excluded_companies=("bolt",)))
        assert counted == [("company_norm", 0), ("seniority_level", 0), ("location", 1)]
        counted = await relaxations(database, replace(self.filters, excluded_keywords=("goa",)))
        assert counted == [("company_norm", 2), ("seniority_level", 0), ("location", 0)]

    async def test_the_only_constraint_dropped_brings_everyone(self, database: Database) -> None:
        assert await relaxations(database, CardFilters(companies=("kosmo",))) == [("company_norm", 3)]

    async def test_without_constraints_there_is_nothing_to_drop(self, database: Database) -> None:
        assert await relaxations(database, CardFilters(excluded_companies=("bolt",), should_terms=("x",))) == []
