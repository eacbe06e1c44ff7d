"""search_companies_keyword_v1, on a real Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.companies.seeded import Connection, add_company, seeded_id
from tests.plans import reads

KEYWORD = "select * from search_companies_keyword_v1(%s, %s, %s, %s, %s)"
READ = 8_000
"""Companies with the words that are read for whether they meet what else is asked."""
LOOKED_AT = 5000
"""Companies with the words of a phrase that are looked at for it."""


def keyword(
    connection: Connection,
    query: str | None,
    *,
    statuses: Sequence[str] | None = ("startup",),
    limit: int = 120,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = (),
) -> list[Any]:
    return connection.execute(
        KEYWORD,
        [
            query,
            None if statuses is None else list(statuses),
            limit,
            None if include is None else list(include),
            None if exclude is None else list(exclude),
        ],
    ).fetchall()


def ids(rows: Sequence[Any]) -> list[str]:
    return [row.company_id for row in rows]


def test_rows_with_every_word_have_the_score_of_the_formula(connection: Connection) -> None:
    add_company(connection, "name", company_name="Solar Grid")
    add_company(
        connection, "texts", tagline="a grid of solar roofs", problem_solved="no solar grid", niches=["solar grid"]
    )
    add_company(connection, "niches", niches=["grid-scale solar", "wind"])
    add_company(connection, "one word", tagline="a grid")
    literal = connection.execute("select * from literal_search_companies_keyword('solar grid', '{startup}')").fetchall()
    assert {row.company_id for row in literal} == {"name", "texts", "niches"}
    full = [row for row in keyword(connection, "solar grid") if row.coverage == 1]
    assert [(row.company_id, row.combined_score) for row in full] == [
        (row.company_id, pytest.approx(row.combined_score)) for row in literal
    ]
    for row in full:
        assert row.combined_score == pytest.approx(0.85 * row.keyword_score + 0.15 * row.niche_score)
    assert {row.company_id: row.matched_fields for row in full} == {
        "name": ["keyword"],
        "texts": ["keyword", "niche"],
        "niches": ["niche"],
    }


def test_the_weights_can_be_given(connection: Connection) -> None:
    add_company(connection, "a", tagline="solar", niches=["solar"])
    [row] = connection.execute(
        "select * from search_companies_keyword_v1('solar', p_weights => array[2, 3])"
    ).fetchall()
    assert row.combined_score == pytest.approx(2 * row.keyword_score + 3 * row.niche_score)


def test_words_may_be_shared_between_texts_and_niches(connection: Connection) -> None:
    add_company(connection, "shared", tagline="solar", niches=["roofs"])
    add_company(connection, "one word", tagline="solar")
    rows = keyword(connection, "solar roofs")
    assert [(row.company_id, row.coverage) for row in rows] == [
        ("shared", pytest.approx(1)),
        ("one word", pytest.approx(0.5)),
    ]


def test_a_name_counts_more_than_a_tagline_and_that_more_than_a_problem(connection: Connection) -> None:
    for id, column in [("d", "differentiator"), ("c", "target_customer"), ("b", "tagline"), ("a", "company_name")]:
        add_company(connection, id, degrees=(), **{column: "solar"})
    assert ids(keyword(connection, "solar")) == ["a", "b", "c", "d"]


def test_a_question_whose_words_never_all_occur_together_finds_the_company(connection: Connection) -> None:
    add_company(connection, "elm", description="Scans old trees for rot with sound waves.", niches=["tree safety"])
    for number in range(30):
        add_company(connection, f"other{number}", description=f"Payroll for small shops, number {number}.")
    connection.execute("select count_lexemes('companies')")
    question = "Which startups help a town to find out whether its trees are rotten before they fall on somebody?"
    [row] = keyword(connection, question)
    assert row.company_id == "elm"
    assert row.matched_fields == ["keyword", "niche"]
    assert 0 < row.coverage < 1


def test_what_covers_less_of_the_query_scores_less(connection: Connection) -> None:
    add_company(connection, "all", tagline="solar roofs for schools")
    add_company(connection, "two", tagline="solar roofs for shops")
    add_company(connection, "one", tagline="wooden roofs for farms")
    rows = keyword(connection, "solar roofs for schools")
    assert ids(rows) == ["all", "two", "one"]
    scores = [row.combined_score for row in rows]
    assert scores == sorted(scores, reverse=True)
    coverages = [row.coverage for row in rows]
    assert coverages[0] == 1 > coverages[1] > coverages[2] > 0


def test_enough_rows_with_every_word_are_not_followed_by_others(connection: Connection) -> None:
    for number in range(6):
        add_company(connection, f"all{number}", tagline="solar roofs")
        add_company(connection, f"some{number}", tagline="solar farms")
    assert len(keyword(connection, "solar roofs", limit=12)) == 6
    assert len(keyword(connection, "solar roofs", limit=14)) == 12


def test_a_misspelt_word_finds_what_was_meant(connection: Connection) -> None:
    for number in range(20):
        add_company(connection, f"a{number}", tagline="vertical farming in cellars")
    connection.execute("select count_lexemes('companies')")
    assert len(keyword(connection, "cellrs")) == 20


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("solar storage bananas", {"phrase", "split", "single"}),
        ('"solar storage" grid bananas', {"phrase"}),
        ("solar storage bananas -thermal", {"split", "single"}),
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


@pytest.mark.parametrize(
    "query", [None, "", "  ", "the of and", "😀 🎉", "!!! %%% ___", "-solar", "- -", '"', "-", "é" * 2000]
)
def test_a_query_without_words_finds_nothing(connection: Connection, query: str | None) -> None:
    add_company(connection, "a", tagline="100% _wind_")
    assert keyword(connection, query) == []


@pytest.mark.parametrize("query", ["solar", "solar of mine and yours, whoever you are"])
def test_statuses_and_ids_limit_what_is_found(connection: Connection, query: str) -> None:
    for id, status in [("a", "startup"), ("b", "acquired"), ("c", "closed"), ("d", "startup")]:
        add_company(connection, id, status=status, tagline="solar")
    assert ids(keyword(connection, query)) == ["a", "d"]
    assert ids(keyword(connection, query, statuses=["acquired", "closed"])) == ["b", "c"]
    assert ids(keyword(connection, query, statuses=None)) == ["a", "b", "c", "d"]
    assert keyword(connection, query, statuses=[]) == []
    assert ids(keyword(connection, query, include=["d", "b", "nobody"])) == ["d"]
    assert ids(keyword(connection, query, exclude=["a"])) == ["d"]
    assert ids(keyword(connection, query, exclude=None)) == ["a", "d"]
    assert keyword(connection, query, include=[]) == []
    assert len(keyword(connection, query, limit=1)) == 1


class TestManyCompanies:
    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(
            st.sampled_from(["topic3", "word5", "part7", "market2", "niche9", "builds", "better"]),
            min_size=1,
            max_size=3,
        )
    )
    def test_every_row_with_every_word_is_found_and_ranked(self, seeded: Connection, words: list[str]) -> None:
        literal = seeded.execute(
            "select combined_score from literal_search_companies_keyword(%s, '{startup}')", [" ".join(words)]
        ).fetchall()
        first = keyword(seeded, " ".join(words))[: len(literal)]
        assert [row.combined_score for row in first] == pytest.approx([row.combined_score for row in literal])
        assert {row.coverage for row in first} <= {1}

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80)
        | st.text(st.sampled_from("topic7 part1 \"'-:*&|!<>()\\@./:,;%_$é…"), max_size=60)
    )
    @example("http://x.com/it's\\foo")
    @example("a@b.co -\"x 'y'\" 10.5e7 -or or OR -")
    @example("' or 1=1; drop table companies --")
    def test_any_text_is_a_query(self, seeded: Connection, query: str) -> None:
        first = keyword(seeded, query, limit=20)
        assert keyword(seeded, query, limit=20) == first
        assert len(set(ids(first))) == len(first) <= 20
        for row in first:
            assert 0 < row.coverage <= 1 + 1e-9
            assert row.matched_fields

    def test_a_rare_word_outweighs_common_ones(self, seeded: Connection) -> None:
        rows = keyword(seeded, "who builds tool2104 better for market4, and with part7?")
        assert ids(rows)[0] == seeded_id(2104)

    @pytest.mark.parametrize("query", ["topic3 part7", "who makes topic3 with part7 and word9?"])
    def test_words_are_found_by_the_text_indexes(self, indexed: Connection, query: str) -> None:
        read = reads(indexed, "companies", KEYWORD, [query, ["startup"], 120, None, []])
        assert read.indexes >= {"companies_text_search", "companies_niches_search"}
        assert not read.whole


def test_a_phrase_is_looked_for_in_so_many_companies_where_some_words_suffice(connection: Connection) -> None:
    fill = (
        "insert into companies (id, company_name, status, description)"
        " select 'c' || n, 'Acme ' || n, 'startup', %s from generate_series(%s::int, %s) n"
    )
    connection.execute(fill, ["solar storage", 1, 20])
    connection.execute(fill, ["storage, solar", 21, LOOKED_AT])
    first = {f"c{number}" for number in range(1, 21)}
    assert set(ids(keyword(connection, '"solar storage" bananas'))) == first
    connection.execute(fill, ["solar storage", LOOKED_AT + 1, LOOKED_AT + 1])
    assert set(ids(keyword(connection, '"solar storage" bananas'))) == first


def test_so_many_companies_with_the_words_are_read_and_all_of_those_that_are_listed(connection: Connection) -> None:
    fill = (
        "insert into companies (id, company_name, status, description)"
        " select 'c' || n, 'Acme ' || n, %s, 'solar' from generate_series(%s::int, %s) n"
    )
    connection.execute(fill, ["closed", 1, READ - 1])
    connection.execute(fill, ["startup", READ, READ + 1])
    assert ids(keyword(connection, "solar")) == [f"c{READ}"]
    listed = [f"c{READ + 1}", "c1"]
    assert ids(keyword(connection, "solar", include=listed)) == [f"c{READ + 1}"]


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
    for query in ("solar", "solar -wind", "solar grid", "solar or grid"):
        literal = connection.execute(
            "select company_id, combined_score from literal_search_companies_keyword(%s, '{startup}')", [query]
        ).fetchall()
        found = keyword(connection, query)
        assert len(found) == 120
        assert [row.combined_score for row in found] == pytest.approx([row.combined_score for row in literal])
