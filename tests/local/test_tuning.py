"""Weights are chosen by some queries and judged by others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.local.sample import sample_directory
from quarry.platform.errors import QuarryError
from quarry.records.contract import SearchRequest
from quarry.records.search import search_records
from quarry.retrieval.fusion import SEMANTIC_WEIGHT
from quarry.services.services import Caller, Services
from quarry_tools.comparison import compared_pairs
from quarry_tools.judged import read_judged
from quarry_tools.tunable import TUNABLE
from quarry_tools.tune import Tuned, _conclusions
from quarry_tools.tuning import FOLDS, CrossValidated, Fold, Scored, cross_validate

OPTIONS = 4
VALUES = st.lists(st.floats(0, 1), min_size=OPTIONS, max_size=OPTIONS)
QUERIES = st.lists(st.tuples(st.sampled_from("ab"), VALUES), min_size=FOLDS, max_size=20).map(
    lambda rows: [Scored(f"q{number}", kind, values) for number, (kind, values) in enumerate(rows)]
)

laws = settings(max_examples=60)


@laws
@given(QUERIES, st.integers(0, OPTIONS - 1))
def test_each_query_is_held_out_once_and_the_choice_is_the_best_on_all(queries: list[Scored], present: int) -> None:
    validated = cross_validate(queries, present=present)
    assert sum(fold.queries for fold in validated.folds) == len(validated.pairs) == len(queries)
    assert sorted(before for before, _ in validated.pairs) == sorted(query.by_option[present] for query in queries)
    best = sum(query.by_option[validated.option] for query in queries)
    assert all(best >= sum(query.by_option[option] for query in queries) - 1e-9 for option in range(OPTIONS))


@pytest.mark.parametrize(("queries", "folds"), [(3, 4), (3, 1)])
def test_too_few_queries_for_the_folds_are_refused(queries: int, folds: int) -> None:
    with pytest.raises(QuarryError, match="folds take"):
        cross_validate([Scored(f"q{number}", "k", [0.0]) for number in range(queries)], present=0, folds=folds)


def tuned_to(half: dict[str, list[float]], mixed: list[float]) -> Tuned:
    """What tuning says where the weights in force, a mixture, do as well as any, query by query."""
    pairs = [(value, value) for value in mixed]
    halves = {
        name: compared_pairs("records", f"{name} alone", "ndcg", [*zip(mixed, alone, strict=True)])
        for name, alone in half.items()
    }
    return Tuned("records", "", {"w": 0.5}, [{"w": 0.5}], CrossValidated(0, [Fold(8, 0, 0.5, 0.5)], pairs), halves)


@pytest.mark.parametrize(
    ("words", "alone", "told"),
    [
        (
            [0.7] * 8,
            "words",
            "words alone does better than any mixture by 0.200, p = 0.008: the other half only disturbs it",
        ),
        (
            [0.66, *[0.5] * 7],
            "words",
            "words alone does better than any mixture by 0.020, p = 1.000: no difference shown",
        ),
        ([0.5] * 8, None, None),
        ([0.4] * 8, None, None),
    ],
)
def test_a_half_that_does_better_than_any_mixture_is_told(
    words: list[float], alone: str | None, told: str | None
) -> None:
    tuned = tuned_to({"words": words, "meaning": [0.2] * 8}, [0.5] * 8)
    assert tuned.half_alone == alone
    lines = [line for line in _conclusions(tuned, asked_to_store=False) if "better than any mixture" in line]
    assert [line.startswith(str(told)) for line in lines] == ([True] if told else [])


async def test_the_list_by_the_weights_in_force_is_the_one_that_search_gives(sample_services: Services) -> None:
    tunable = TUNABLE["records"]()
    queries = [query for query in read_judged(sample_directory() / "records" / "judged.jsonl") if query.relevant]
    for query in queries[:3]:
        fuse = await tunable.gather(query, Caller("tuner"), sample_services)
        response = await search_records(SearchRequest(q=query.query), Caller("tuner"), sample_services)
        keys = [f"{result.type}:{result.id}" for result in response.results]
        assert [*fuse({"records_semantic_weight": SEMANTIC_WEIGHT})][: len(keys)] == keys
