"""Which of the ranked companies answer a question."""

from __future__ import annotations

import pytest

from quarry.companies.outputs import RankedCompany
from quarry.companies.rerank import by_meaning, likely, worth_ranking
from tests.companies.factories import company, entry


@pytest.mark.parametrize(
    ("confidences", "answering"),
    [([0.19, 0.1], []), ([], []), ([0.9, 0.3, 0.19], [0.9, 0.3]), ([0.3, 0.12, 0.05], [0.3, 0.12])],
)
def test_the_likely_answer_and_with_a_best_that_is_hardly_likelier_those_near_it(
    confidences: list[float], answering: list[float]
) -> None:
    ranked = [RankedCompany(company_id=str(place), confidence=each) for place, each in enumerate(confidences)]
    assert [each.confidence for each in likely(ranked, 0.2)] == answering


def test_of_those_that_only_come_near_the_nearest_in_meaning_is_first_and_ties_stay_in_order() -> None:
    offered = [
        entry(company(id), semantic=semantic) for id, semantic in (("a", 0.0), ("b", 0.3), ("c", 0.4), ("d", 0.3))
    ]
    ranked = [RankedCompany(company_id=id, confidence=0.1) for id in "adbc"]
    assert [each.company_id for each in by_meaning(ranked, offered)] == ["c", "d", "b", "a"]


def test_the_model_is_sent_the_first_ten_and_of_the_others_those_that_come_near_the_best() -> None:
    scores = [1.0, *[0.3] * 10, 0.6, 0.4]
    entries = [entry(company(f"c{place}"), combined=score) for place, score in enumerate(scores)]
    assert [each.company.id for each in worth_ranking(entries, 0.5)] == [f"c{place}" for place in (*range(10), 11)]
    assert worth_ranking(entries, 0.0) == entries
    assert worth_ranking([], 0.5) == []
