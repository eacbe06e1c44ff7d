"""The order of candidates, what is filtered, when a search has converged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.constraints import Constraints
from quarry.companies.contract import STATUSES
from quarry.companies.outputs import PlanFilters
from quarry.companies.candidates import Candidate
from quarry.companies.ranking import (
    FIRST_SECTOR_WEIGHT,
    boosted,
    converged,
    distinct,
    has_niche,
    in_order,
    known_only,
    unmet_filters,
)
from quarry.companies.taxonomy import ALL_CATEGORIES, SECTORS
from quarry.companies.vocabulary import Tag
from tests.companies.made import company, entry

FARM = company(
    "c-farm", "Farm", sectors=["Food & Agriculture", "Fintech"], categories=["Soil Health", "Lending"],
    business_models=["Leasing"], niches=["robotic weeding", "beets"], description="Robots for growers.",
)  # fmt: skip


def filters(**given: Any) -> PlanFilters:
    return PlanFilters(**{"statuses": ["startup"]} | given)


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({}, True),
        ({"statuses": ["acquired", "closed"]}, False),
        ({"statuses": ["startup", "closed"]}, True),
        ({"sectors": ["Fintech", "Insurance"]}, True),
        ({"sectors": ["Insurance"]}, False),
        ({"categories": ["Lending"]}, True),
        ({"categories": ["Payments"]}, False),
        ({"business_models": ["Leasing", "SaaS"]}, True),
        ({"business_models": ["SaaS"]}, False),
        ({"sectors": ["Fintech"], "business_models": ["SaaS"]}, False),
        ({"sectors": ["Fintech"], "categories": ["Lending"]}, True),
        ({"sectors": ["Fintech"], "categories": ["Payments"]}, False),
        ({"sectors": ["Fintech", "Food & Agriculture"], "categories": ["Payments"]}, True),
        ({"sectors": ["Healthcare"], "categories": ["Lending"]}, True),
        ({"niches": ["robotic weeding"], "niche_mode": "must_match"}, True),
        ({"niches": ["Weeding robots", "milk"], "niche_mode": "must_match"}, True),
        ({"niches": ["milk"], "niche_mode": "must_match"}, False),
        ({"niches": ["milk"], "niche_mode": "boost"}, True),
        ({"niches": [], "niche_mode": "must_match"}, True),
    ],
)
def test_a_company_fits_the_filters_or_not(given: dict[str, Any], fits: bool) -> None:
    assert (unmet_filters(FARM, filters(**given), Constraints()) == []) is fits


def test_tags_that_are_not_wanted_leave_a_company_out() -> None:
    lending, solar = Tag("category", "Lending"), Tag("category", "Solar")
    assert unmet_filters(FARM, filters(), Constraints(), [solar]) == []
    assert unmet_filters(FARM, filters(), Constraints(), [solar, lending]) == ["without Lending"]


@pytest.mark.parametrize(
    ("niche", "held"),
    [
        ("robotic weeding", True),
        ("weeding, robotic!", True),
        ("growers", True),
        ("robotic milking", False),
        ("the of", True),
    ],
)
def test_a_niche_is_held_when_all_its_words_are(niche: str, held: bool) -> None:
    assert has_niche(FARM, niche) is held


def test_niches_boost_by_their_share_and_a_first_sector_a_little() -> None:
    other = company("c-other", sectors=["Fintech", "Food & Agriculture"], description="Beets.")
    wanted = filters(niches=["beets", "robotic weeding"], sectors=["Food & Agriculture"])
    first, second = boosted([entry(other, combined=0.2), entry(FARM, combined=0.2)], wanted, 0.15)
    assert (first.company.id, second.company.id) == ("c-farm", "c-other")
    assert first.score == pytest.approx(0.2 + 0.15 + FIRST_SECTOR_WEIGHT)
    assert second.score == pytest.approx(0.2 + 0.15 / 2)
    assert [each.score for each in boosted([entry(FARM, combined=0.2)], filters(), 0.15)] == [0.2]


def test_candidates_are_ordered_by_score_tags_and_name() -> None:
    best = in_order(
        [
            Candidate("a", combined=0.3),
            Candidate("b", combined=0.2, taxonomy=1.0),
            Candidate("c"),
            Candidate("d", combined=0.3),
        ],
        {"c": 0.9},
    )
    assert [candidate.company_id for candidate in best] == ["c", "b", "a", "d"]


def test_only_what_exists_is_kept_of_filters() -> None:
    kept = known_only(
        filters(
            statuses=["Acquired", "asleep", "acquired"], sectors=["FINTECH", "Alchemy"], categories=[" solar "],
            business_models=["saas", ""], niches=["x", " X ", "", "y  z"], niche_mode="must_match",
        ),
        STATUSES,
    )  # fmt: skip
    assert kept == filters(
        statuses=["acquired"], sectors=["Fintech"], categories=["Solar"], business_models=["SaaS"], niches=["x", "y z"],
        niche_mode="must_match",
    )  # fmt: skip


def test_without_a_known_status_startups_are_meant() -> None:
    assert known_only(filters(statuses=[]), STATUSES).statuses == ["startup"]
    assert known_only(filters(statuses=["asleep"]), STATUSES).statuses == ["startup"]


@given(
    st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)),
    st.lists(st.sampled_from(SECTORS)),
    st.lists(st.sampled_from(ALL_CATEGORIES)),
)
def test_nothing_invented_survives_and_nothing_known_is_lost(
    invented: list[str], sectors: list[str], categories: list[str]
) -> None:
    kept = known_only(filters(sectors=invented + sectors, categories=categories + invented), STATUSES)
    assert set(sectors) <= set(kept.sectors) <= set(SECTORS)
    assert set(categories) <= set(kept.categories) <= set(ALL_CATEGORIES)
    assert known_only(kept, STATUSES) == kept


@given(st.lists(st.text(max_size=5)))
def test_distinct_texts_are_on_one_line_and_once(texts: list[str]) -> None:
    kept = distinct(texts)
    assert all(text == " ".join(text.split()) != "" for text in kept)
    assert len({text.casefold() for text in kept}) == len(kept)
    assert distinct(kept) == kept


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (None, [], False),
        (None, ["a"], False),
        ([], [], True),
        (["a"], ["a"], True),
        (["a"], ["b"], False),
        (["a", "b"], ["b", "a"], False),
        (["a"], ["a", "b"], False),
        (list("abcdef"), list("abcdeg"), True),
        (list("abcdef"), list("abcdgf"), False),
    ],
)  # fmt: skip
def test_a_search_has_converged_when_the_best_five_stay(before: list[str] | None, now: list[str], same: bool) -> None:
    assert converged(before, now) is same
