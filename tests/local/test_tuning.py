"""Weights are chosen by some queries and judged by others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.core.errors import QuarryError
from quarry.core.retrieval.fusion import SEMANTIC_WEIGHT
from quarry.core.services import Caller, Services
from quarry.local.judged import read_judged
from quarry.local.measures import ndcg
from quarry.local.sample import sample_directory
from quarry.local.tunable import TUNABLE
from quarry.local.tune import Tuned
from quarry.local.tuning import FOLDS, CrossValidated, Fold, Scored, best_option, cross_validate
from quarry.records.contract import SearchRequest
from quarry.records.search import search_records

OPTIONS = 4
VALUES = st.lists(st.floats(0, 1), min_size=OPTIONS, max_size=OPTIONS)
QUERIES = st.lists(st.tuples(st.sampled_from("ab"), VALUES), min_size=FOLDS, max_size=20).map(
    lambda rows: [Scored(f"q{number}", kind, values) for number, (kind, values) in enumerate(rows)]
)

laws = settings(max_examples=60)


@laws
@given(QUERIES)
def test_the_order_of_the_queries_changes_nothing(queries: list[Scored]) -> None:
    shuffled = sorted(queries, key=lambda query: query.id[::-1])
    assert cross_validate(shuffled, present=0) == cross_validate(queries, present=0)


@laws
@given(QUERIES, st.integers(0, OPTIONS - 1))
def test_each_query_is_held_out_once_and_the_choice_is_the_best_on_all(queries: list[Scored], present: int) -> None:
    validated = cross_validate(queries, present=present)
    assert sum(fold.queries for fold in validated.folds) == len(validated.pairs) == len(queries)
    assert sorted(before for before, _ in validated.pairs) == sorted(query.by_option[present] for query in queries)
    best = sum(query.by_option[validated.option] for query in queries)
    assert all(best >= sum(query.by_option[option] for query in queries) - 1e-9 for option in range(OPTIONS))


@laws
@given(QUERIES)
def test_an_option_that_is_best_for_every_query_is_chosen_in_every_fold(queries: list[Scored]) -> None:
    better = [Scored(query.id, query.kind, [*query.by_option, 2.0]) for query in queries]
    validated = cross_validate(better, present=0)
    assert {fold.option for fold in validated.folds} == {OPTIONS}
    assert validated.held_out == 2


@laws
@given(QUERIES)
def test_folds_hold_about_as_many_queries_of_each_kind(queries: list[Scored]) -> None:
    sizes = [fold.queries for fold in cross_validate(queries, present=0).folds]
    assert max(sizes) - min(sizes) <= 1


def test_a_query_is_not_judged_by_what_it_alone_speaks_for() -> None:
    # each query likes an option of its own best; the others do not know it
    queries = [
        Scored(f"q{own}", "k", [0.5, *(1.0 if own == option else 0.0 for option in range(4))]) for own in range(4)
    ]
    validated = cross_validate(queries, present=0, folds=4)
    assert (validated.held_out, validated.present) == (0.5, 0.5)


def test_of_equal_options_the_one_in_force_is_kept() -> None:
    assert best_option([Scored("a", "k", [1.0, 0.5, 1.0])], present=2) == 2
    assert best_option([Scored("a", "k", [0.0, 1.0, 1.0])], present=0) == 1


@pytest.mark.parametrize(("queries", "folds"), [(3, 4), (3, 1)])
def test_too_few_queries_for_the_folds_are_refused(queries: int, folds: int) -> None:
    with pytest.raises(QuarryError, match="folds take"):
        cross_validate([Scored(f"q{number}", "k", [0.0]) for number in range(queries)], present=0, folds=folds)


@pytest.mark.parametrize(
    ("halves", "alone"), [({"words": 0.7, "meaning": 0.2}, "words"), ({"words": 0.6, "meaning": 0.5}, None)]
)
def test_a_half_that_does_better_than_any_mixture_is_told(halves: dict[str, float], alone: str | None) -> None:
    validated = CrossValidated(1, [Fold(2, 1, 0.6, 0.4)], [(0.3, 0.5), (0.5, 0.7)])
    tuned = Tuned("records", "", {"w": 0.5}, [{"w": 0.5}, {"w": 0.0}], validated, halves)
    assert (tuned.half_alone, tuned.is_better, tuned.best) == (alone, True, {"w": 0.0})


async def test_the_list_by_the_weights_in_force_is_the_one_that_search_gives(sample_services: Services) -> None:
    tunable = TUNABLE["records"]()
    queries = [query for query in read_judged(sample_directory() / "records" / "judged.jsonl") if query.relevant]
    for query in queries[:6]:
        fuse = await tunable.gather(query, Caller("tuner"), sample_services)
        response = await search_records(SearchRequest(q=query.query), Caller("tuner"), sample_services)
        keys = [f"{result.type}:{result.id}" for result in response.results]
        assert [*fuse({"records_semantic_weight": SEMANTIC_WEIGHT})][: len(keys)] == keys


async def test_each_half_of_companies_orders_by_its_own_signal(sample_services: Services) -> None:
    tunable = TUNABLE["companies"]()
    [query, *_] = [query for query in read_judged(sample_directory() / "companies" / "judged.jsonl") if query.relevant]
    fuse = await tunable.gather(query, Caller("tuner"), sample_services)
    lists = {name: [*fuse(weights)] for name, weights in tunable.halves.items()}
    assert {*lists["words"]} == {*lists["meaning"]}
    assert lists["words"] != lists["meaning"]
    assert 0 < ndcg(lists["meaning"], query.relevant) <= 1


def test_every_tunable_domain_tries_each_half_alone() -> None:
    for make in TUNABLE.values():
        tunable = make()
        assert tunable.halves["meaning"] in tunable.options
        assert {*tunable.halves["words"]} == {*tunable.names}
