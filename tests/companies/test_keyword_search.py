"""search_companies_keyword_v1, on a real Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.companies.seeded import Connection, add_company
from tests.plans import reads

KEYWORD = "select * from search_companies_keyword_v1(%s, %s, %s, %s, %s)"
LOOKED_AT = 5000
"""Companies with the words of a query that are looked at."""


def keyword(
    connection: Connection,
    query: str | None,
    *,
    statuses: Sequence[str] | None = ("startup",),
    limit: int = 120,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
) -> list[Any]:
    chosen, among = (None if each is None else list(each) for each in (statuses, include))
    return connection.execute(KEYWORD, [query, chosen, limit, among, list(exclude)]).fetchall()


def ids(rows: Sequence[Any]) -> list[str]:
    return [row.company_id for row in rows]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("solar storage bananas", {"phrase", "split", "single"}),
        ('"solar storage" grid bananas', {"phrase"}),
        ('solar storage bananas -"solar storage" -single', {"split"}),
    ],
)
def test_phrases_and_exclusions_hold_also_where_some_words_suffice(
    connection: Connection, query: str, expected: set[str]
) -> None:
    add_company(connection, "phrase", description="thermal solar storage for the grid")
    add_company(connection, "split", description="storage of grain under solar roofs")
    add_company(connection, "single", description="a single solar panel")
    add_company(connection, "other", description="payroll")
    assert set(ids(keyword(connection, query))) == expected


@pytest.mark.parametrize("query", [None, " ", "the of and", "😀 🎉", "!!! %%% ___", "-solar", '"', "é" * 2000])
def test_a_query_without_words_finds_nothing(connection: Connection, query: str | None) -> None:
    add_company(connection, "a", tagline="100% _wind_")
    assert keyword(connection, query) == []


def test_statuses_and_ids_limit_what_is_found(connection: Connection) -> None:
    query = "solar of mine and yours, whoever you are"
    for id, status in [("a", "startup"), ("b", "acquired"), ("c", "closed"), ("d", "startup")]:
        add_company(connection, id, status=status, tagline="solar")
    assert ids(keyword(connection, query)) == ["a", "d"]
    assert ids(keyword(connection, query, statuses=["acquired", "closed"])) == ["b", "c"]
    assert ids(keyword(connection, query, statuses=None)) == ["a", "b", "c", "d"]
    assert ids(keyword(connection, query, include=["d", "b", "nobody"])) == ["d"]
    assert ids(keyword(connection, query, exclude=["a"])) == ["d"]
    assert keyword(connection, query, include=[]) == []
    assert len(keyword(connection, query, limit=1)) == 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["topic3", "word5", "part7", "market2", "niche9", "builds", "better"]), min_size=1, max_size=3
    )
)
def test_every_row_with_every_word_is_found_and_ranked(seeded: Connection, words: list[str]) -> None:
    literal = seeded.execute(
        "select combined_score from literal_search_companies_keyword(%s, '{startup}')", [" ".join(words)]
    ).fetchall()
    first = keyword(seeded, " ".join(words))[: len(literal)]
    assert [row.combined_score for row in first] == pytest.approx([row.combined_score for row in literal])
    assert {row.coverage for row in first} <= {1}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80)
    | st.text(st.sampled_from("topic7 part1 \"'-:*&|!<>()\\@./:,;%_$é…"), max_size=60)
)
@example("http://x.com/it's\\foo")
@example("a@b.co -\"x 'y'\" 10.5e7 -or or OR -")
@example("' or 1=1; drop table companies --")
def test_any_text_is_a_query(seeded: Connection, query: str) -> None:
    first = keyword(seeded, query, limit=20)
    assert len(set(ids(first))) == len(first) <= 20
    assert all(0 < row.coverage <= 1 + 1e-9 and row.matched_fields for row in first)


def test_words_are_found_by_the_text_indexes(indexed: Connection) -> None:
    query = "who makes topic3 with part7 and word9?"
    read = reads(indexed, "companies", KEYWORD, [query, ["startup"], 120, None, []])
    assert read.indexes >= {"companies_text_search", "companies_niches_search"}
    assert not read.whole


def test_the_companies_that_hold_common_words_best_are_found_wherever_they_are_stored(connection: Connection) -> None:
    connection.execute(
        "insert into companies (id, company_name, status, description, niches)"
        " select 'c' || n, 'Acme ' || n, case n %% 10 when 0 then 'closed' else 'startup' end,"
        "   'solar grid' || repeat(' solar', n %% 7) || repeat(' grid', n %% 11), array['roofs']"
        " from generate_series(1, %s) n",
        [LOOKED_AT + 2000],
    )
    best = "insert into companies (id, company_name, tagline) values (%s, %s, 'the grid')"
    connection.execute(best, ["listed", "Solar Grid"])
    connection.execute("analyze companies")
    connection.execute("select count_lexemes('companies')")
    connection.execute(best, ["written since", "Grid Solar Grid"])
    for query in ("solar -wind", "solar grid", "solar or grid"):
        literal = connection.execute(
            "select company_id, combined_score from literal_search_companies_keyword(%s, '{startup}')", [query]
        ).fetchall()
        found = keyword(connection, query)
        assert len(found) == 120
        assert [row.combined_score for row in found] == pytest.approx([row.combined_score for row in literal])
