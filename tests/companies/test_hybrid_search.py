"""search_companies_hybrid_v1, on a real Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.companies.seeded import COMPANIES, Connection, add_company, seeded_vector
from tests.plans import reads
from tests.vectors import direction, vector_literal
from tools.benchmarks.literal_companies import WEIGHTED_TEXT
from tools.benchmarks.measuring import recall

HYBRID = "select * from search_companies_hybrid_v1(%s, %s, %s, %s, %s, %s)"

# The definition, with every company compared and ranked, and with the texts read again.
DEFINITION = f"""
select c.id, 0.58 * n.semantic + 0.27 * ts_rank({WEIGHTED_TEXT}, q.words) + 0.15 * ts_rank(c.niches_search, q.words) as score
from companies c join (
  select e.record_id, 1 - min(e.embedding <=> %(v)s::halfvec) as semantic from company_embeddings e group by 1
) n on n.record_id = c.id, websearch_to_tsquery('english', %(q)s) q (words)
where c.status = any(%(statuses)s) and n.semantic >= 0.25
order by 2 desc, 1
"""
OPEN = ("startup", "acquired", "public")


def hybrid(
    connection: Connection,
    query: str | None,
    vector: Sequence[float] | str | None,
    *,
    statuses: Sequence[str] | None = ("startup",),
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = (),
    limit: int = 120,
) -> list[Any]:
    place = vector if vector is None or isinstance(vector, str) else vector_literal(vector)
    lists = [None if each is None else list(each) for each in (statuses, include, exclude)]
    return connection.execute(HYBRID, [query, place, *lists, limit]).fetchall()


def ids(rows: Sequence[Any]) -> list[str]:
    return [row.company_id for row in rows]


def exact(connection: Connection, query: str, vector: str, *statuses: str) -> list[tuple[str, float]]:
    rows = connection.execute(DEFINITION.encode(), {"q": query, "v": vector, "statuses": list(statuses)})
    return [(row.id, row.score) for row in rows]


def test_statuses_and_ids_limit_what_is_found_and_equal_scores_are_ordered_by_id(connection: Connection) -> None:
    for id, status in [("d", "startup"), ("b", "acquired"), ("c", "closed"), ("a", "startup")]:
        add_company(connection, id, status=status, degrees=[10])
    place = direction(0)
    assert ids(hybrid(connection, "x", place)) == ["a", "d"]
    assert ids(hybrid(connection, "x", place, limit=1)) == ["a"]
    assert ids(hybrid(connection, "x", place, statuses=["acquired", "closed"])) == ["b", "c"]
    assert ids(hybrid(connection, "x", place, statuses=None)) == ["a", "b", "c", "d"]
    assert ids(hybrid(connection, "x", place, include=["d", "b", "nobody"])) == ["d"]
    assert ids(hybrid(connection, "x", place, statuses=None, include=["a", "b"], exclude=["a"])) == ["b"]
    assert hybrid(connection, "x", place, include=[]) == []


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(
        st.sampled_from(["topic3", "word5", "part7", "market2", "niche9", "builds", "nothing", "-word6"]),
        min_size=1,
        max_size=5,
    ).filter(lambda words: set(words) != {"-word6"}),  # what only excludes asks for nothing
    near=st.integers(0, COMPANIES - 1),
    status=st.sampled_from(["acquired", "public", "closed"]),
)
def test_of_few_companies_every_one_is_ranked(seeded: Connection, words: list[str], near: int, status: str) -> None:
    query, vector = " ".join(words), seeded_vector(near)
    found = hybrid(seeded, query, vector, statuses=[status])
    expected = exact(seeded, query, vector, status)[:120]
    assert [row.combined_score for row in found] == pytest.approx([score for _, score in expected])


def test_of_many_companies_nearly_all_that_belong_are_found(indexed: Connection) -> None:
    queries = [
        "topic3", "topic5 part7 word3", "which firms build tool2005 for topic5 in market3?", "market2 word9", "part12 niche9",
        "builds better market",
    ]  # fmt: skip
    recalls = []
    for number, query in enumerate(queries * 2):
        vector = seeded_vector((5 + 431 * number) % COMPANIES)
        rows = [(row.company_id, row.combined_score) for row in hybrid(indexed, query, vector, statuses=OPEN)]
        recalls.append(recall(rows, exact(indexed, query, vector, *OPEN), 120))
    assert sum(recalls) / len(recalls) >= 0.99


@pytest.mark.parametrize(
    ("statuses", "indexes"),
    [
        (OPEN, {"company_embeddings_searchable_profile_hnsw", "companies_text_search"}),
        (("closed",), {"companies_status", "company_embeddings_pkey"}),
    ],
)
def test_companies_are_compared_by_the_indexes(
    indexed: Connection, statuses: tuple[str, ...], indexes: set[str]
) -> None:
    read = reads(indexed, "compan", HYBRID, ["topic3 part7", seeded_vector(3), list(statuses), None, [], 20])
    assert read.indexes >= indexes
    assert not read.whole
