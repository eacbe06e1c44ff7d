"""From evidence to an order of people."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.people.candidates import CardHit, FoundPerson, PersonEvidence, RankedPerson
from quarry.people.filters import HARD_CONSTRAINTS, CardFilters, HardConstraint, constraints_in_force, relaxed, without
from quarry.people.ranking import (
    LEXICAL_BONUS_MAX,
    LOCATION_MISMATCH_PENALTY,
    MISSING_DATE_PENALTY,
    SHOULD_BONUS_MAX,
    SHOULD_BOOST,
    SHOULD_CAP,
    base_score,
    break_ties,
    lexical_bonus,
    penalties,
    rank_people,
    score,
    should_bonus,
    similarity_percent,
)

IN_TIME_AND_PLACE = CardFilters(
    places=("pune",), time_start=datetime.date(2018, 1, 1), time_end=datetime.date(2020, 1, 1)
)
EVERYTHING = CardFilters(
    schools=("s",),
    companies=("a",),
    teams=("b",),
    intents=("work",),
    domains=("law",),
    sub_domains=("c",),
    employment_types=("contract",),
    seniority_levels=("lead",),
    places=("pune",),
    countries=("india",),
    time_start=datetime.date(2018, 1, 1),
    time_end=datetime.date(2020, 1, 1),
    is_current=False,
    open_to_work_only=True,
    preferred_locations=("goa",),
    offer_salary=0.0,
    experience_least=730,
    experience_most=3650,
    excluded_companies=("d",),
    excluded_keywords=("e",),
    should_terms=("f",),
)

SIMILARITIES = st.floats(1 / 3, 1)
TIERS = st.integers(0, 3)


def hit(similarity: float, card_id: str = "c", child_id: str | None = None, **card: bool) -> CardHit:
    return CardHit(
        card_id,
        child_id,
        similarity,
        card.get("time_overlaps", True),
        card.get("time_covered", True),
        card.get("location_matches", True),
    )


def person(
    parents: Sequence[float] = (),
    children: Sequence[float] = (),
    *,
    id: str = "p",
    text_score: float = 0.0,
    should_hits: int = 0,
    tier: int = 0,
    **card: bool,
) -> PersonEvidence:
    return PersonEvidence(
        id,
        tuple(hit(similarity, f"c{n}", None, **card) for n, similarity in enumerate(parents)),
        tuple(hit(similarity, f"c{n}", f"k{n}", **card) for n, similarity in enumerate(children)),
        text_score,
        should_hits,
        tier,
    )


@st.composite
def evidence(draw: st.DrawFn, id: str = "p") -> PersonEvidence:
    card = {name: draw(st.booleans()) for name in ("time_overlaps", "time_covered", "location_matches")}
    return person(
        draw(st.lists(SIMILARITIES, max_size=5)),
        draw(st.lists(SIMILARITIES, max_size=5)),
        id=id,
        text_score=draw(st.floats(0, 2)),
        should_hits=draw(st.integers(0, 30)),
        tier=draw(TIERS),
        **card,
    )


NAMES = [f"p{number}" for number in range(6)]
PEOPLE = st.integers(0, len(NAMES)).flatmap(lambda count: st.tuples(*map(evidence, NAMES[:count])))


def test_the_base_weighs_the_best_card_the_best_child_and_the_best_three() -> None:
    assert base_score(person([0.8, 0.6], [0.7, 0.5])) == pytest.approx(0.65 * 0.8 + 0.25 * 0.7 + 0.10 * 0.7)
    assert base_score(person([0.8])) == pytest.approx(0.65 * 0.8 + 0.10 * 0.8)
    assert base_score(person([], [0.6, 0.5])) == pytest.approx(0.25 * 0.6 + 0.10 * 0.55)
    assert base_score(person()) == 0


def test_the_best_words_earn_the_whole_lexical_bonus_and_the_others_their_share() -> None:
    assert lexical_bonus(1.6, 1.6) == LEXICAL_BONUS_MAX == 0.25
    assert lexical_bonus(0.4, 1.6) == pytest.approx(0.0625)


def test_without_a_word_there_is_no_lexical_bonus() -> None:
    assert lexical_bonus(0, 0) == 0


def test_should_terms_are_worth_a_boost_each_up_to_the_cap() -> None:
    assert should_bonus(3) == pytest.approx(3 * SHOULD_BOOST)
    assert should_bonus(SHOULD_CAP) == should_bonus(99) == pytest.approx(0.2)


def test_a_score_is_base_and_bonuses_less_penalties() -> None:
    found = person([0.6], text_score=0.5, should_hits=2, tier=1, time_overlaps=False)
    assert score(found, IN_TIME_AND_PLACE, 1.0) == pytest.approx(0.75 * 0.6 + 0.125 + 0.04 - 0.12)
    far = person([], [1 / 3], tier=3, time_overlaps=False, location_matches=False)
    assert score(far, IN_TIME_AND_PLACE, 0) == 0


@pytest.mark.parametrize(
    ("tier", "filters", "lost"),
    [
        (0, IN_TIME_AND_PLACE, 0.0),
        (1, IN_TIME_AND_PLACE, MISSING_DATE_PENALTY),
        (2, IN_TIME_AND_PLACE, MISSING_DATE_PENALTY + LOCATION_MISMATCH_PENALTY),
        (3, IN_TIME_AND_PLACE, MISSING_DATE_PENALTY + LOCATION_MISMATCH_PENALTY),
        (3, CardFilters(places=("pune",)), LOCATION_MISMATCH_PENALTY),
        (3, CardFilters(time_end=datetime.date(2020, 1, 1)), MISSING_DATE_PENALTY),
        (3, CardFilters(companies=("a",)), 0.0),
    ],
)
def test_what_a_tier_has_dropped_is_penalised_where_no_card_meets_it(
    tier: int, filters: CardFilters, lost: float
) -> None:
    found = person([0.5], tier=tier, time_overlaps=False, location_matches=False)
    assert penalties(found, filters) == pytest.approx(lost)


def test_one_card_that_meets_what_was_dropped_is_enough() -> None:
    elsewhere = hit(0.9, "a", time_overlaps=False, location_matches=False)
    there = hit(0.4, "b", "k", time_overlaps=False)
    then = hit(0.4, "c", location_matches=False)
    found = PersonEvidence("p", (elsewhere, then), (there,), 0.0, 0, tier=3)
    assert penalties(found, IN_TIME_AND_PLACE) == 0
    assert penalties(replace(found, children=()), IN_TIME_AND_PLACE) == LOCATION_MISMATCH_PENALTY


@given(evidence(), st.floats(0, 2))
def test_a_score_is_never_negative_and_never_above_its_bonuses(found: PersonEvidence, more: float) -> None:
    highest = 1 + LEXICAL_BONUS_MAX + min(SHOULD_BONUS_MAX, SHOULD_BOOST * SHOULD_CAP)
    assert 0 <= score(found, IN_TIME_AND_PLACE, found.text_score + more) <= highest + 1e-12


@given(evidence(), st.data())
def test_nearer_evidence_never_lowers_a_score(found: PersonEvidence, data: st.DataObject) -> None:
    if not found.hits:
        return
    place = data.draw(st.integers(0, len(found.hits) - 1))
    raised = [
        replace(each, similarity=data.draw(st.floats(each.similarity, 1))) if n == place else each
        for n, each in enumerate(found.hits)
    ]
    nearer = replace(found, parents=tuple(raised[: len(found.parents)]), children=tuple(raised[len(found.parents) :]))
    before, after = (score(each, IN_TIME_AND_PLACE, 2.0) for each in (found, nearer))
    assert after >= before - 1e-12


@given(evidence())
def test_a_stricter_tier_never_penalises_more(found: PersonEvidence) -> None:
    lost = [penalties(replace(found, tier=tier), IN_TIME_AND_PLACE) for tier in range(4)]
    assert lost[0] == 0
    assert all(stricter <= laxer for stricter, laxer in pairwise(lost))
    assert penalties(found, CardFilters(companies=("a",))) == 0


MISSES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=len(NAMES), max_size=len(NAMES)).map(
    lambda missed: dict(zip(NAMES, missed, strict=True))
)


@given(PEOPLE, MISSES, st.randoms(use_true_random=False))
def test_the_order_follows_from_misses_and_scores_whatever_order_the_evidence_comes_in(
    people: Sequence[PersonEvidence], misses: Mapping[str, float], random: object
) -> None:
    ranked = rank_people(people, IN_TIME_AND_PLACE, misses)
    assert sorted(each.person_id for each in ranked) == sorted(each.person_id for each in people)
    for a, b in pairwise(ranked):
        assert (misses[a.person_id], -a.score, a.person_id) < (misses[b.person_id], -b.score, b.person_id)
    shuffled = sorted(people, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert rank_people(shuffled, IN_TIME_AND_PLACE, misses) == ranked


@given(PEOPLE, MISSES, st.lists(st.one_of(st.none(), st.floats(0, 9)), min_size=6, max_size=6))
def test_nobody_who_misses_more_stands_before_somebody_who_misses_less(
    people: Sequence[PersonEvidence], misses: Mapping[str, float], salaries: Sequence[float | None]
) -> None:
    filters = replace(IN_TIME_AND_PLACE, offer_salary=9.0)
    ranked = rank_people(people, filters, misses)
    found = {id: found_person(id, salary) for id, salary in zip(NAMES, salaries, strict=True)}
    for order in (ranked, break_ties(ranked, found, filters, misses)):
        missed = [misses[each.person_id] for each in order]
        assert missed == sorted(missed)


def test_words_are_measured_by_the_best_of_all_candidates() -> None:
    ranked = rank_people([person([0.5], text_score=0.2), person([0.5], id="q", text_score=0.8)], CardFilters())
    assert [each.person_id for each in ranked] == ["q", "p"]
    assert ranked[0].score - ranked[1].score == pytest.approx(LEXICAL_BONUS_MAX * 0.75)


def found_person(id: str, salary_min: float | None) -> FoundPerson:
    return FoundPerson(
        id=id,
        name=None,
        headline=None,
        bio=None,
        open_to_work=True,
        open_to_contact=True,
        work_preferred_locations=(),
        work_preferred_salary_min=salary_min,
        cards=(),
    )


def ordered(filters: CardFilters, *people: tuple[RankedPerson, float | None]) -> list[str]:
    found = {each.person_id: found_person(each.person_id, salary) for each, salary in people}
    return [each.person_id for each in break_ties([each for each, _ in people], found, filters)]


class TestTies:
    """Four people of one score but for rounding, and one who is better."""

    known = RankedPerson("known", 0.5, person([0.5], id="known", time_covered=False))
    covering = RankedPerson("covering", 0.5 + 1e-9, person([0.5], id="covering"))
    neither = RankedPerson("neither", 0.5 + 2e-9, person([0.5], id="neither", time_covered=False))
    better = RankedPerson("zbetter", 0.6, person([0.6], id="zbetter", time_covered=False))
    people = ((neither, None), (covering, None), (known, 9.0), (better, None))

    def test_without_salary_or_time_they_are_ordered_by_id(self) -> None:
        assert ordered(CardFilters(), *self.people) == ["zbetter", "covering", "known", "neither"]

    def test_with_a_salary_offered_who_says_what_they_ask_for_comes_first(self) -> None:
        assert ordered(CardFilters(offer_salary=9.0), *self.people) == ["zbetter", "known", "covering", "neither"]

    def test_with_a_time_asked_for_who_covers_it_comes_first(self) -> None:
        filters = CardFilters(time_start=datetime.date(2018, 1, 1))
        assert ordered(filters, *self.people) == ["zbetter", "covering", "known", "neither"]

    def test_the_salary_counts_before_the_time(self) -> None:
        filters = CardFilters(offer_salary=9.0, time_end=datetime.date(2018, 1, 1))
        assert ordered(filters, *self.people) == ["zbetter", "known", "covering", "neither"]


@pytest.mark.parametrize(("given", "percent"), [(0.0, 0), (0.614, 61), (1.0, 100), (1.31, 100)])
def test_a_score_is_shown_in_percent_of_one(given: float, percent: int) -> None:
    assert similarity_percent(given) == percent


def test_a_card_is_as_good_as_the_best_of_itself_and_its_children() -> None:
    parents = (hit(0.7, "own"), hit(0.6, "second"), hit(0.5, "of child"), hit(0.4, "fourth"))
    children = (hit(0.9, "of child", "k1"), hit(0.65, "unseen", "k2"), hit(0.3, "own", "k3"), hit(0.2, "fourth", "k4"))
    ranked = RankedPerson("p", 0.5, PersonEvidence("p", parents, children, 0.0, 0))
    assert ranked.matched_card_ids == ("of child", "own", "unseen")
    assert ranked.matched_child_ids == ("k1", "k2", "k3")


def test_every_hard_constraint_can_be_dropped_and_nothing_else_filters_a_person_in() -> None:
    assert list(HARD_CONSTRAINTS) == list(get_args(HardConstraint))
    assert constraints_in_force(EVERYTHING) == list(HARD_CONSTRAINTS)
    assert constraints_in_force(CardFilters()) == []
    left = without(EVERYTHING, HARD_CONSTRAINTS)
    assert left == CardFilters(excluded_companies=("d",), excluded_keywords=("e",), should_terms=("f",))


@pytest.mark.parametrize("name", HARD_CONSTRAINTS)
def test_dropping_one_constraint_leaves_the_others(name: HardConstraint) -> None:
    assert set(constraints_in_force(without(EVERYTHING, [name]))) == set(HARD_CONSTRAINTS) - {name}


def test_a_tier_drops_time_then_place_then_company_and_team_and_never_an_exclusion() -> None:
    dropped = [set(HARD_CONSTRAINTS) - set(constraints_in_force(relaxed(EVERYTHING, tier))) for tier in range(4)]
    assert dropped == [
        set(),
        {"time"},
        {"time", "location"},
        {"time", "location", "company_norm", "school_norm", "team_norm"},
    ]
    for tier in range(4):
        assert relaxed(EVERYTHING, tier).excluded_companies == ("d",)
        assert relaxed(EVERYTHING, tier).excluded_keywords == ("e",)
