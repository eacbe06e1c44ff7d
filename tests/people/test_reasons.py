"""Why a person was found: what a model is shown, what is taken from it, and reasons by rule."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.people.contract import ChildCard, Constraints, ExperienceCard, PeopleReasons, PersonResult
from quarry.people.filters import CardFilters
from quarry.people.ranking import (
    REASON_CHARACTERS_MAX,
    REASONS_MAX,
    CardWithPhrases,
    ReasonsToGive,
    as_judged,
    evidence,
    fallback_reasons,
    plain_reasons,
    reasons_for,
)


def card(id: str = "c1", **fields: Any) -> ExperienceCard:
    return ExperienceCard.model_validate({"id": id, "title": "Engineer", "intent_primary": "work"} | fields)


def child(id: str = "k1", title: str = "Load tests", **fields: Any) -> ChildCard:
    return ChildCard(id=id, child_type="project", title=title, **fields)


def person(*cards: ExperienceCard, id: str = "p", **fields: Any) -> PersonResult:
    known: dict[str, Any] = {
        "name": "Asha", "headline": None, "bio": None, "open_to_work": True, "open_to_contact": False,
        "work_preferred_locations": [], "work_preferred_salary_min": None, "similarity_percent": None, "why_matched": [],
    }  # fmt: skip
    return PersonResult(id=id, matched_cards=[*cards], **known | fields)


TARANG = card(
    title="Senior Backend Engineer", company_name="Tarang Pay", team="Risk", city="Bengaluru", location="Bengaluru, India",
    start_date=datetime.date(2021, 4, 1), skills=["Go", "Kafka", "fraud detection", "C++"],
    children=[
        child("k1", "Wrote a rule editor", summary="Analysts ship forty rules a month. Nobody waits."),
        child("k2", "Cut the decision latency", headline="148 ms to 71 ms at p99", tags=["Redis", "go"]),
    ],
)  # fmt: skip
KOSMO = card("c2", company_name="Kosmo Retail", city="Pune", end_date=datetime.date(2021, 3, 31), skills=["Java"])


@pytest.mark.parametrize(
    ("filters", "first"),
    [
        (CardFilters(companies=("tarang pay",)), "Senior Backend Engineer at Tarang Pay"),
        (CardFilters(companies=("tarang pay",), teams=("risk",)), "Senior Backend Engineer at Tarang Pay, Risk team"),
        (CardFilters(places=("pune", "poona")), "Engineer at Kosmo Retail, Pune"),
        (
            CardFilters(companies=("tarang pay",), time_start=datetime.date(2022, 1, 1)),
            "Senior Backend Engineer at Tarang Pay, since April 2021",
        ),
        # a constraint that was relaxed is not claimed to be met
        (CardFilters(companies=("acme",), places=("goa",)), "Senior Backend Engineer at Tarang Pay"),
    ],
)
def test_the_experience_that_meets_most_comes_first(filters: CardFilters, first: str) -> None:
    assert fallback_reasons(person(TARANG, KOSMO), filters)[0] == first


def test_the_skills_in_common_are_named_as_the_person_writes_them() -> None:
    filters = CardFilters(should_terms=("kafka", "go", "fraud", "c++", "c", "payments"))
    assert fallback_reasons(person(TARANG), filters)[1] == "Go, Kafka, fraud detection and C++ at Tarang Pay"
    assert fallback_reasons(person(KOSMO), CardFilters(should_terms=("java",)))[1] == "Java at Kosmo Retail"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["Knows Go", "knows go ", "  ", "Lives in Pune"], ["Knows Go", "Lives in Pune"]),
        (["a", "b", "c", "d"], ["a", "b", "c"]),
        (["- **Knows** `Go`", "1. _Pune_"], ["Knows Go", "Pune"]),
        (["<script>alert(1)</script>[x](http://evil.example)"], ["alert(1)x"]),
        (["…", "snake_case and 2 * 3"], ["snake_case and 2 * 3"]),
        (["two\nlines"], ["two lines"]),
    ],
)
def test_reasons_are_few_short_and_plain(given: list[str], kept: list[str]) -> None:
    assert plain_reasons(given) == kept


def asked(*people: PersonResult, **filters: Any) -> ReasonsToGive:
    return ReasonsToGive(Constraints(query_original="who", query_cleaned="who"), CardFilters(**filters), people)


def test_only_sound_reasons_for_people_who_were_offered_are_taken() -> None:
    output = PeopleReasons.model_validate(
        {
            "people": [
                {"person_id": "a", "why_matched": ["Knows Go"]},
                {"person_id": "stranger", "why_matched": ["Is nobody"]},
                {"person_id": "b", "why_matched": ["  "]},
                {"person_id": "a", "why_matched": ["Again"]},
            ]
        }
    )
    people = [person(TARANG, id="a"), person(KOSMO, id="b"), person(KOSMO, id="c")]
    assert reasons_for(output, asked(*people)) == {
        "a": ["Knows Go"],
        "b": ["Engineer at Kosmo Retail"],
        "c": ["Engineer at Kosmo Retail"],
    }


def test_the_evidence_is_small_and_has_no_contact() -> None:
    text = "word " * 900
    cards = [
        card(f"c{n}", summary=text, title=text, skills=[text] * 50, children=[child(f"k{n}{m}", text, summary=text, context=text,
             tags=[text] * 50) for m in range(9)])
        for n in range(9)
    ]  # fmt: skip
    found = person(*cards)
    every = [CardWithPhrases(**each.model_dump(exclude={"children"}), search_phrases=[text] * 9) for each in cards]
    shown = evidence(found, replace(asked(found), cards={found.id: every}, similarities={"c8": 0.91}))
    assert len(json.dumps(shown)) < 24_000
    assert set(shown) == {"person_id", "open_to_work", "open_to_contact", "cards", "matched_child_cards"}
    assert (len(shown["cards"]), len(shown["matched_child_cards"])) == (8, 3)
    assert shown["cards"][0]["similarity"] == 0.91


def test_the_model_orders_people_and_drops_those_who_do_not_fit() -> None:
    people = [person(TARANG, id=id) for id in "abc"]
    said = {"people": [{"person_id": "c"}, {"person_id": "a", "fits": False}, {"person_id": "nobody", "fits": True}]}
    # whom the model does not speak of stays, behind the others
    assert [each.id for each in as_judged(PeopleReasons.model_validate(said), people)] == ["c", "b"]


def test_if_nobody_fits_all_are_near_and_say_what_they_lack() -> None:
    people = [person(TARANG, id=id, misses=["in Pune"]) for id in "ab"]
    said = {
        "people": [{"person_id": id, "fits": False, "lacks": lacks} for id, lacks in (("b", "nursing"), ("a", None))]
    }
    assert [(each.id, each.misses) for each in as_judged(PeopleReasons.model_validate(said), people)] == [
        ("b", ["in Pune", "nursing"]), ("a", ["in Pune"]),
    ]  # fmt: skip


@pytest.mark.parametrize("misses", [[], ["in Pune"]])
def test_whom_the_model_leaves_out_does_not_replace_those_that_it_calls_near(misses: list[str]) -> None:
    people = [person(TARANG, id=id, misses=misses) for id in "abc"]
    said = {"people": [{"person_id": "c", "fits": False, "lacks": "works in Pune"}]}
    found = as_judged(PeopleReasons.model_validate(said), people)
    assert [(each.id, each.misses) for each in found] == [
        ("c", [*misses, "works in Pune"]), ("a", misses), ("b", misses),
    ]  # fmt: skip


def test_what_the_search_says_already_is_not_said_again() -> None:
    said = {"people": [{"person_id": "a", "fits": False, "lacks": "Not in Pune"}]}
    [found] = as_judged(PeopleReasons.model_validate(said), [person(TARANG, id="a", misses=["not in Pune"])])
    assert found.misses == ["not in Pune"]


TEXT = st.text(max_size=200) | st.sampled_from(["Go", "**x**", "<b>", "- ", "tarang pay", "Pune"])
CARDS = st.builds(
    card, title=TEXT, company_name=st.none() | TEXT, city=st.none() | TEXT, skills=st.lists(TEXT, max_size=4)
)


@given(cards=st.lists(CARDS, max_size=3), headline=st.none() | TEXT, terms=st.lists(TEXT, max_size=4).map(tuple))
def test_everyone_has_one_to_three_short_reasons(
    cards: list[ExperienceCard], headline: str | None, terms: tuple[str, ...]
) -> None:
    reasons = fallback_reasons(person(*cards, headline=headline), CardFilters(places=terms, should_terms=terms))
    assert 1 <= len(reasons) <= REASONS_MAX
    assert all(0 < len(reason) <= REASON_CHARACTERS_MAX and "\n" not in reason for reason in reasons)
