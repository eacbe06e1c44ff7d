"""From evidence to an order of people."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace

import pytest

from quarry.people.contract import PersonResult
from quarry.people.filters import HARD_CONSTRAINTS, CardFilters, constraints_in_force, relaxed
from quarry.people.ranking import (
    LOCATION_MISMATCH_PENALTY,
    MISSING_DATE_PENALTY,
    CardHit,
    PersonEvidence,
    RankedPerson,
    base_score,
    break_ties,
    penalties,
    rank_people,
    score,
    should_bonus,
)

IN_TIME_AND_PLACE = CardFilters(
    places=("pune",), time_start=datetime.date(2018, 1, 1), time_end=datetime.date(2020, 1, 1)
)
EVERYTHING = replace(
    IN_TIME_AND_PLACE, schools=("s",), companies=("a",), teams=("b",), intents=("work",), domains=("law",),
    sub_domains=("c",), employment_types=("contract",), seniority_levels=("lead",), is_current=False,
    open_to_work_only=True, preferred_locations=("goa",), offer_salary=0.0, experience_least=730,
    excluded_companies=("d",), excluded_keywords=("e",),
)  # fmt: skip


def hit(similarity: float, card_id: str = "c", child_id: str | None = None, **card: bool) -> CardHit:
    flags = {"time_overlaps": True, "time_covered": True, "location_matches": True} | card
    return CardHit(card_id, child_id, similarity, **flags)


def person(
    parents: Sequence[float] = (), children: Sequence[float] = (), *, id: str = "p", tier: int = 0, text_score: float = 0.0,
    should_hits: int = 0, **card: bool,
) -> PersonEvidence:  # fmt: skip
    cards = tuple(hit(each, f"c{n}", None, **card) for n, each in enumerate(parents))
    of_cards = tuple(hit(each, f"c{n}", f"k{n}", **card) for n, each in enumerate(children))
    return PersonEvidence(id, cards, of_cards, text_score, should_hits, tier)


def test_the_base_weighs_the_best_card_the_best_child_and_the_best_three() -> None:
    assert base_score(person([0.8, 0.6], [0.7, 0.5])) == pytest.approx(0.65 * 0.8 + 0.25 * 0.7 + 0.10 * 0.7)
    assert base_score(person([], [0.6, 0.5])) == pytest.approx(0.25 * 0.6 + 0.10 * 0.55)
    assert base_score(person()) == 0


def test_a_score_is_base_and_bonuses_less_penalties_and_never_below_nothing() -> None:
    found = person([0.6], text_score=0.5, should_hits=2, tier=1, time_overlaps=False)
    assert score(found, IN_TIME_AND_PLACE, 1.0) == pytest.approx(0.75 * 0.6 + 0.125 + 0.04 - 0.12)
    far = person([], [1 / 3], tier=3, time_overlaps=False, location_matches=False)
    assert score(far, IN_TIME_AND_PLACE, 0) == 0
    assert should_bonus(99) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("tier", "filters", "lost"),
    [
        (0, IN_TIME_AND_PLACE, 0.0),
        (1, IN_TIME_AND_PLACE, MISSING_DATE_PENALTY),
        (2, IN_TIME_AND_PLACE, MISSING_DATE_PENALTY + LOCATION_MISMATCH_PENALTY),
        (3, CardFilters(places=("pune",)), LOCATION_MISMATCH_PENALTY),
        (3, CardFilters(companies=("a",)), 0.0),
    ],
)
def test_what_a_tier_has_dropped_is_penalised_where_no_card_meets_it(
    tier: int, filters: CardFilters, lost: float
) -> None:
    found = person([0.5], tier=tier, time_overlaps=False, location_matches=False)
    assert penalties(found, filters) == pytest.approx(lost)
    met = hit(0.4, "b", "k")
    assert penalties(replace(found, children=(met,)), filters) == 0


def test_nobody_who_misses_more_stands_before_somebody_who_misses_less_whatever_the_scores() -> None:
    people = [
        person([0.9], id="near"),
        person([0.4], id="far"),
        person([0.5], id="apart"),
        person([0.4], id="also far"),
    ]
    misses = {"near": 1.0, "apart": 0.5}
    for order in (people, people[::-1]):
        ranked = rank_people(order, CardFilters(), misses)
        assert [each.person_id for each in ranked] == ["also far", "far", "apart", "near"]
        assert break_ties(ranked, {}, CardFilters(), misses) == ranked


def test_of_those_with_equal_scores_who_says_a_salary_comes_first_then_who_covers_the_time() -> None:
    def ranked(id: str, score: float, *, time_covered: bool = True) -> RankedPerson:
        return RankedPerson(id, score, person([0.5], id=id, time_covered=time_covered))

    people = [
        ranked("neither", 0.5 + 2e-9, time_covered=False), ranked("covering", 0.5 + 1e-9),
        ranked("known", 0.5, time_covered=False), ranked("zbetter", 0.6, time_covered=False),
    ]  # fmt: skip
    found = {each.person_id: PersonResult.model_construct(work_preferred_salary_min=None) for each in people}
    found["known"] = PersonResult.model_construct(work_preferred_salary_min=9.0)
    filters = CardFilters(offer_salary=9.0, time_end=datetime.date(2018, 1, 1))
    assert [each.person_id for each in break_ties(people, found, filters)] == [
        "zbetter",
        "known",
        "covering",
        "neither",
    ]


def test_a_card_is_as_good_as_the_best_of_itself_and_its_children() -> None:
    parents = (hit(0.7, "own"), hit(0.6, "second"), hit(0.5, "of child"), hit(0.4, "fourth"))
    children = (hit(0.9, "of child", "k1"), hit(0.65, "unseen", "k2"), hit(0.3, "own", "k3"), hit(0.2, "fourth", "k4"))
    ranked = RankedPerson("p", 0.5, PersonEvidence("p", parents, children, 0.0, 0))
    assert ranked.matched_card_ids == ("of child", "own", "unseen")
    assert ranked.matched_child_ids == ("k1", "k2", "k3")


def test_a_tier_drops_time_then_place_then_company_and_team_and_never_an_exclusion() -> None:
    assert constraints_in_force(EVERYTHING) == list(HARD_CONSTRAINTS)
    tiers = [relaxed(EVERYTHING, tier) for tier in range(4)]
    assert [set(HARD_CONSTRAINTS) - set(constraints_in_force(each)) for each in tiers] == [
        set(), {"time"}, {"time", "location"}, {"time", "location", "company_norm", "school_norm", "team_norm"},
    ]  # fmt: skip
    assert {(each.excluded_companies, each.excluded_keywords) for each in tiers} == {(("d",), ("e",))}
