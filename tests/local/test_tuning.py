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
from quarry_tools.judged import read_judged
from quarry_tools.tunable import TUNABLE
from quarry_tools.tuning import FOLDS, Scored, cross_validate

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


async def test_the_list_by_the_weights_in_force_is_the_one_that_search_gives(sample_services: Services) -> None:
    tunable = TUNABLE["records"]()
    queries = [query for query in read_judged(sample_directory() / "records" / "judged.jsonl") if query.relevant]
    for query in queries[:3]:
        fuse = await tunable.gather(query, Caller("tuner"), sample_services)
        response = await search_records(SearchRequest(q=query.query), Caller("tuner"), sample_services)
        keys = [f"{result.type}:{result.id}" for result in response.results]
        assert [*fuse({"records_semantic_weight": SEMANTIC_WEIGHT})][: len(keys)] == keys
