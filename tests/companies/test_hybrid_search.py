"""search_companies_hybrid_v1, on a real Postgres."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.companies.seeded import (
    COMPANIES,
    Connection,
    add_company,
    seeded_id,
    seeded_status,
    seeded_vector,
)
from tests.plans import reads
from tests.vectors import direction, vector_literal
from tools.benchmarks.literal_companies import WEIGHTED_TEXT
from tools.benchmarks.measuring import recall

HYBRID = "select * from search_companies_hybrid_v1(%s, %s, %s, %s, %s, %s)"

# The definition, with every company compared and ranked, and with the texts read anew.
DEFINITION = f"""
select c.id, 0.58 * n.semantic + 0.27 * ts_rank({WEIGHTED_TEXT}, q.words) + 0.15 * ts_rank(c.niches_search, q.words) as score
from companies c join (
  select e.record_id, 1 - min(e.embedding <=> %(v)s::halfvec) as semantic from company_embeddings e group by 1
) n on n.record_id = c.id, websearch_to_tsquery('english', %(q)s) q (words)
where c.status = any(%(statuses)s) and n.semantic >= 0.25
order by 2 desc, 1
"""


def hybrid(
    connection: Connection,
    query: str | None,
    vector: Sequence[float] | str | None = None,
    *,
    statuses: Sequence[str] | None = ("startup",),
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = (),
    limit: int = 120,
) -> list[Any]:
    return connection.execute(
        HYBRID,
        [
            query,
            vector if vector is None or isinstance(vector, str) else vector_literal(vector),
            None if statuses is None else list(statuses),
            None if include is None else list(include),
            None if exclude is None else list(exclude),
            limit,
        ],
    ).fetchall()


def ids(rows: Sequence[Any]) -> list[str]:
    return [row.company_id for row in rows]


def exact(connection: Connection, query: str, vector: str, *statuses: str) -> list[tuple[str, float]]:
    rows = connection.execute(DEFINITION.encode(), {"q": query, "v": vector, "statuses": list(statuses)})
    return [(row.id, row.score) for row in rows]


def test_the_score_is_the_weighted_sum_of_the_three_signals(connection: Connection) -> None:
    add_company(connection, "a", tagline="solar roofs", niches=["solar roofs"], degrees=[60])
    add_company(connection, "b", differentiator="solar, and a roof", degrees=[30])
    add_company(connection, "c", degrees=[10])
    rows = hybrid(connection, "solar roof", direction(0))
    assert {row.company_id: row.semantic_score for row in rows} == pytest.approx(
        {"a": 0.5, "b": math.cos(math.radians(30)), "c": math.cos(math.radians(10))}, abs=1e-3
    )
    for row in rows:
        parts = 0.58 * row.semantic_score + 0.27 * row.keyword_score + 0.15 * row.niche_score
        assert row.combined_score == pytest.approx(parts)
    assert {row.company_id: (row.keyword_score > 0, row.niche_score > 0) for row in rows} == {
        "a": (True, True),
        "b": (True, False),
        "c": (False, False),
    }
    literal = connection.execute(
        "select * from literal_search_companies_hybrid('solar roof', %s, '{startup}')", [vector_literal(direction(0))]
    ).fetchall()
    assert [tuple(row) for row in literal] == [(row.company_id, pytest.approx(row.combined_score)) for row in rows]


def test_the_weights_can_be_given(connection: Connection) -> None:
    add_company(connection, "a", tagline="solar", niches=["solar"], degrees=[60])
    [row] = connection.execute(
        "select * from search_companies_hybrid_v1('solar', %s, p_weights => array[2, 3, 5])",
        [vector_literal(direction(0))],
    ).fetchall()
    assert row.combined_score == pytest.approx(2 * row.semantic_score + 3 * row.keyword_score + 5 * row.niche_score)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("solar", ["semantic", "keyword", "niche"]),
        ("solar grid storage", ["semantic", "keyword"]),  # two of the three words
        ("solar wind storage", ["semantic"]),  # one: ts_rank gives it 1e-20
        ("wind", ["semantic"]),
        ("", ["semantic"]),
        ("the of and", ["semantic"]),
    ],
)
def test_matched_fields_are_those_that_really_match(connection: Connection, query: str, expected: list[str]) -> None:
    add_company(connection, "a", description="solar panels for the grid", niches=["solar"], degrees=[0])
    [row] = hybrid(connection, query, direction(0))
    assert row.matched_fields == expected
    assert (row.keyword_score > 0, row.niche_score > 0) == ("keyword" in expected, "niche" in expected)


def test_only_what_is_similar_enough_is_found(connection: Connection) -> None:
    add_company(connection, "near", degrees=[75], tagline="solar")
    add_company(connection, "far", degrees=[76], tagline="solar")
    assert ids(hybrid(connection, "solar", direction(0))) == ["near"]
    call = "select company_id from search_companies_hybrid_v1('solar', %s, p_min_semantic => %s)"
    assert len(connection.execute(call, [vector_literal(direction(0)), 0.2]).fetchall()) == 2


def test_a_company_is_as_near_as_its_nearest_window(connection: Connection) -> None:
    add_company(connection, "long", degrees=[80, 10, 70])
    add_company(connection, "near", degrees=[20])
    add_company(connection, "not embedded", tagline="solar")
    rows = hybrid(connection, "solar", direction(0))
    assert ids(rows) == ["long", "near"]
    assert rows[0].semantic_score == pytest.approx(math.cos(math.radians(10)), abs=1e-3)


def test_vectors_of_another_type_are_not_compared(connection: Connection) -> None:
    add_company(connection, "a", degrees=[40])
    connection.execute("insert into company_embeddings values ('a', 'other', 0, %s)", [vector_literal(direction(0))])
    [row] = hybrid(connection, "solar", direction(0))
    assert row.semantic_score == pytest.approx(math.cos(math.radians(40)), abs=1e-3)


def test_equal_scores_are_ordered_by_id(connection: Connection) -> None:
    for id in ["c", "a", "d", "b"]:
        add_company(connection, id, degrees=[5])
    assert ids(hybrid(connection, "solar", direction(0))) == ["a", "b", "c", "d"]
    assert ids(hybrid(connection, "solar", direction(0), limit=2)) == ["a", "b"]
    assert hybrid(connection, "solar", direction(0), limit=0) == []


def test_statuses_and_ids_limit_what_is_found(connection: Connection) -> None:
    for id, status in [("a", "startup"), ("b", "acquired"), ("c", "closed"), ("d", "startup")]:
        add_company(connection, id, status=status, degrees=[10])
    place = direction(0)
    assert ids(hybrid(connection, "x", place)) == ["a", "d"]
    assert ids(hybrid(connection, "x", place, statuses=["acquired", "closed"])) == ["b", "c"]
    assert ids(hybrid(connection, "x", place, statuses=None)) == ["a", "b", "c", "d"]
    assert hybrid(connection, "x", place, statuses=[]) == []
    assert ids(hybrid(connection, "x", place, include=["d", "b", "nobody"])) == ["d"]
    assert ids(hybrid(connection, "x", place, exclude=["a", "nobody"])) == ["d"]
    assert ids(hybrid(connection, "x", place, exclude=None)) == ["a", "d"]
    assert ids(hybrid(connection, "x", place, statuses=None, include=["a", "b"], exclude=["a"])) == ["b"]
    assert hybrid(connection, "x", place, include=[]) == []


def test_without_an_embedding_nothing_is_found(connection: Connection) -> None:
    add_company(connection, "a", tagline="solar", degrees=[0])
    assert hybrid(connection, "solar", None) == []


def test_a_query_without_a_text_goes_by_meaning(connection: Connection) -> None:
    add_company(connection, "a", tagline="solar", degrees=[0])
    assert ids(hybrid(connection, None, direction(0))) == ["a"]


def test_an_empty_table_finds_nothing(connection: Connection) -> None:
    assert hybrid(connection, "solar", direction(0)) == []


OPEN = ("startup", "acquired", "public")


class TestManyCompanies:
    """Of the 2,700 that are not closed some are compared by the index; of the 300 of each status but startup, all."""

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        words=st.lists(
            st.sampled_from(["topic3", "word5", "part7", "market2", "niche9", "builds", "nothing", "-word6"]),
            min_size=1,
            max_size=5,
        ).filter(lambda words: set(words) != {"-word6"}),  # what only excludes asks for nothing
        near=st.integers(0, COMPANIES - 1),
        status=st.sampled_from(["acquired", "public", "closed"]),
    )
    def test_of_few_companies_every_one_is_ranked(
        self, seeded: Connection, words: list[str], near: int, status: str
    ) -> None:
        query, vector = " ".join(words), seeded_vector(near)
        found = hybrid(seeded, query, vector, statuses=[status])
        expected = exact(seeded, query, vector, status)[:120]
        assert [row.combined_score for row in found] == pytest.approx([score for _, score in expected])

    @pytest.mark.parametrize("depth", [40, 120])
    def test_of_many_companies_nearly_all_that_belong_are_found(self, indexed: Connection, depth: int) -> None:
        queries = [
            "topic3",
            "topic5 part7 word3",
            "which firms build tool2005 for topic5 in market3?",
            "market2 word9",
            "part12 niche9",
            "builds better market",
        ]
        recalls = []
        for number, query in enumerate(queries * 3):
            vector = seeded_vector((5 + 431 * number) % COMPANIES)
            rows = [(row.company_id, row.combined_score) for row in hybrid(indexed, query, vector, statuses=OPEN)]
            recalls.append(recall(rows, exact(indexed, query, vector, *OPEN), depth))
        assert sum(recalls) / len(recalls) >= 0.99

    def test_a_company_far_down_by_meaning_rises_by_its_words(self, indexed: Connection) -> None:
        vector = seeded_vector(5)
        by_meaning = [id for id, _ in exact(indexed, "", vector, *OPEN)]
        assert len(by_meaning) > 600
        deep = by_meaning[-1]
        words = f"firm{int(deep[1:])} word{int(deep[1:]) % 97}"
        scores = {row.company_id: row.combined_score for row in hybrid(indexed, words, vector, statuses=OPEN)}
        assert deep not in ids(hybrid(indexed, "", vector, statuses=OPEN))
        assert scores[deep] == pytest.approx(dict(exact(indexed, words, vector, *OPEN))[deep])

    def test_the_same_query_gives_the_same_list(self, seeded: Connection) -> None:
        lists = [ids(hybrid(seeded, "topic3 part7", seeded_vector(3))) for _ in range(3)]
        assert lists[0] == lists[1] == lists[2]
        assert len(lists[0]) == 120

    @pytest.mark.parametrize("statuses", [OPEN, ("startup",), ("acquired", "closed")])
    def test_only_companies_of_the_statuses_are_found(self, indexed: Connection, statuses: tuple[str, ...]) -> None:
        found = ids(hybrid(indexed, "topic3", seeded_vector(3), statuses=statuses, exclude=[seeded_id(3)]))
        assert len(found) == 120
        assert {seeded_status(int(id[1:])) for id in found} == set(statuses)
        assert seeded_id(3) not in found

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80))
    def test_any_text_is_a_query(self, seeded: Connection, query: str) -> None:
        scores = [row.combined_score for row in hybrid(seeded, query, seeded_vector(1), statuses=None, limit=20)]
        assert len(scores) == 20
        assert scores == sorted(scores, reverse=True)


class TestPlans:
    def test_many_companies_are_compared_by_the_vector_index(self, indexed: Connection) -> None:
        read = reads(indexed, "compan", HYBRID, ["topic3 part7", seeded_vector(3), list(OPEN), None, [], 20])
        assert read.indexes >= {"company_embeddings_searchable_profile_hnsw", "companies_text_search"}
        assert not read.whole

    def test_few_companies_are_read_by_their_keys(self, indexed: Connection) -> None:
        read = reads(indexed, "compan", HYBRID, ["topic3", seeded_vector(3), ["closed"], None, [], 120])
        assert read.indexes >= {"companies_status", "company_embeddings_pkey"}
        assert not read.whole
