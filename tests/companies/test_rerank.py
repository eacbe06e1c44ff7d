"""Which of the ranked companies answer a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.outputs import RankedCompany
from quarry.companies.ranking import NEAR_SHARE
from quarry.companies.rerank import by_meaning, likely, worth_ranking
from tests.companies.factories import company, entry

LEAST = 0.2


def confidences(*given: float) -> list[float]:
    ranked = [RankedCompany(company_id=str(place), confidence=each) for place, each in enumerate(given)]
    return [each.confidence for each in likely(ranked, LEAST)]


def test_where_not_even_the_best_is_likely_none_answers() -> None:
    assert confidences(0.19, 0.1) == []
    assert confidences() == []


def test_beside_a_sure_one_the_unlikely_are_left_out() -> None:
    assert confidences(0.9, 0.3, 0.19) == [0.9, 0.3]


def test_beside_one_that_is_hardly_likelier_those_near_it_answer_too() -> None:
    assert confidences(0.3, 0.12, 0.05) == [0.3, 0.12]


@given(st.lists(st.floats(0, 1)))
def test_those_left_out_are_less_likely_than_all_others(given: list[float]) -> None:
    kept = confidences(*given)
    dropped = [each for each in given if each not in kept]
    assert not kept or max(dropped, default=0.0) <= min(kept)
    assert all(each >= min(LEAST, NEAR_SHARE * max(given)) for each in kept)


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
