"""The order of candidates, what is filtered, when a search has converged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.candidates import Candidate
from quarry.companies.outputs import PlanFilters
from quarry.companies.ranking import (
    FIRST_SECTOR_WEIGHT,
    boosted,
    converged,
    distinct,
    has_niche,
    in_order,
)
from tests.companies.factories import company, entry

FARM = company(
    "c-farm", "Farm", sectors=["Food & Agriculture", "Fintech"], categories=["Soil Health", "Lending"],
    business_models=["Leasing"], niches=["robotic weeding", "beets"], description="Robots for growers.",
)  # fmt: skip


def filters(**given: Any) -> PlanFilters:
    return PlanFilters(**{"statuses": ["startup"]} | given)


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
