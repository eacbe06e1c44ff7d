"""Ranking by words: BM25's scores out of a tsvector alone, whatever is asked at a bounded cost."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, LiteralString

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import namedtuple_row

from tests.conftest import create_database
from tests.plans import calls, plans, reads

Connection = psycopg.Connection[Any]

WORDS = ("elm", "bridg", "park", "road", "water", "tax")
"""As they are stemmed, and none a stop word."""
K1, B = 1.2, 0.75
NEARNESS = 0.5
CANDIDATES = "select * from text_candidates('motions', weigh_query('{motions}', %s), %s)"
MANY = 30_000


@pytest.fixture(scope="module")
def connection(shared_url: str) -> Iterator[Connection]:
    """A database whose motions each test writes anew."""
    with psycopg.connect(shared_url, autocommit=True, row_factory=namedtuple_row) as connection:
        yield connection


@pytest.fixture(scope="module")
def crowded(server_url: str, migrated_template: str) -> Iterator[Connection]:
    """30,000 motions that all hold the commonest words, and each a word that 30 hold. Only read."""
    url = create_database(server_url, "words_crowded", template=migrated_template)
    with psycopg.connect(url, autocommit=True, row_factory=namedtuple_row) as connection:
        connection.execute(
            "insert into motions (id, text_content)"
            " select 'm' || n, 'council approve ' || case when n %% 2 = 0 then 'road ' else 'park ' end || 'rare' || n %% 1000"
            " from generate_series(1, %s) n",
            [MANY],
        )
        connection.execute("vacuum analyze motions")
        connection.execute("select count_lexemes('motions')")
        yield connection


def fill(connection: Connection, texts: Mapping[str, Sequence[str]]) -> None:
    """Motions of these words, counted."""
    connection.execute("delete from motions")
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into motions (id, text_content) values (%s, %s)",
            [(id, " ".join(words)) for id, words in texts.items()],
        )
    connection.execute("select count_lexemes('motions')")


def bm25(query: Sequence[str], texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The formula as published, as a share of the most that it can reach."""
    mean = sum(map(len, texts.values())) / len(texts)
    holders = {word: max(1, sum(word in words for words in texts.values())) for word in query}
    weights = {
        word: times * math.log(1 + (len(texts) - holders[word] + 0.5) / (holders[word] + 0.5))
        for word, times in Counter(query).items()
    }
    scores = {
        id: sum(
            weight * (K1 + 1) * words.count(word) / (words.count(word) + K1 * (1 - B + B * len(words) / mean))
            for word, weight in weights.items()
        )
        for id, words in texts.items()
    }
    possible = (K1 + 1) * sum(weights.values())
    return {id: score / possible for id, score in scores.items() if score}


TEXTS = st.dictionaries(
    st.sampled_from([f"m{number}" for number in range(8)]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(lambda words: _at_most_twice(words)),
    min_size=2,
)


def _at_most_twice(words: Sequence[str]) -> list[str]:
    """Up to two occurrences are told exactly from a rank."""
    return [word for word, times in Counter(words).items() for _ in range(min(2, times))]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.sampled_from(WORDS))
def test_of_one_word_the_score_is_bm25_s(connection: Connection, texts: dict[str, list[str]], word: str) -> None:
    fill(connection, texts)
    found = {row.id: row.text_score for row in connection.execute(CANDIDATES, [word, 100])}
    assert found == pytest.approx(bm25([word], texts), rel=1e-3)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.lists(st.sampled_from(WORDS), min_size=2, max_size=4, unique=True))
def test_neighbours_lift_and_nothing_else_changes_bm25_s_score(
    connection: Connection, texts: dict[str, list[str]], words: list[str]
) -> None:
    fill(connection, texts)
    expected = bm25(words, texts)
    for row in connection.execute(CANDIDATES, [" ".join(words), 100]):
        lift = row.text_score - expected.pop(row.id)
        assert -0.001 <= lift <= NEARNESS / (K1 + 1) + 0.001
        assert lift < 0.001 or sum(word in texts[row.id] for word in words) > 1
    assert not expected


def test_coverage_is_the_share_of_the_words_by_what_they_say(connection: Connection) -> None:
    fill(connection, {"both": ["elm", "road"], "rare": ["elm"], "common": ["road"], "other": ["road", "tax"]})
    rows = {row.id: row.coverage for row in connection.execute(CANDIDATES, ["elm road", 10])}
    assert rows["both"] == pytest.approx(1)
    assert rows["rare"] > rows["common"] == pytest.approx(rows["other"])
    assert rows["rare"] + rows["common"] == pytest.approx(1)


def test_scores_of_two_tables_are_of_one_scale(connection: Connection) -> None:
    fill(connection, {"a": ["elm", "road"], "b": ["road"], "c": ["tax"]})
    connection.execute("delete from matters")
    connection.execute("insert into matters (id, title) values ('x', 'elm road'), ('y', 'water')")
    connection.execute("select count_lexemes('matters')")
    scores = [
        row.text_score
        for table in ("motions", "matters")
        for row in connection.execute(
            f"select * from text_candidates('{table}', weigh_query('{{motions,matters}}', 'elm'), 10)"
        )
    ]
    assert len(scores) == 2
    assert scores[0] == pytest.approx(scores[1])


def test_a_condition_holds_for_all_that_is_found(connection: Connection) -> None:
    fill(connection, {f"m{number}": ["elm", "road"] for number in range(5)})
    rows = connection.execute(
        "select * from text_candidates('motions', weigh_query('{motions}', 'elm'), 10, $$t.id in ('m1', 'm3')$$)"
    ).fetchall()
    assert {row.id for row in rows} == {"m1", "m3"}


def test_a_word_is_forgiven_where_it_was_never_counted(connection: Connection) -> None:
    connection.execute("delete from motions")
    connection.execute("delete from lexeme_counts")
    connection.execute("delete from text_totals")
    connection.execute("insert into motions (id, text_content) values ('a', 'an elm'), ('b', 'a road')")
    assert [row.id for row in connection.execute(CANDIDATES, ["elm", 10])] == ["a"]


class TestManyRows:
    def test_the_rarest_words_decide_which_rows_are_ranked(self, crowded: Connection) -> None:
        rows = crowded.execute(CANDIDATES, ["the council approves rare7", 100]).fetchall()
        assert {int(row.id[1:]) % 1000 for row in rows[:30]} == {7}

    @pytest.mark.parametrize("query", ["rare7", "rare7 rare8 rare9", "what is rare7?"])
    def test_an_index_finds_them(self, crowded: Connection, query: str) -> None:
        read = reads(
            crowded, "motions", "select * from text_candidates('motions', weigh_query('{motions}', %s), 10)", [query]
        )
        assert "motions_text_search" in read.indexes
        assert not read.whole

    def test_words_that_no_row_holds_are_looked_for_by_the_index(self, crowded: Connection) -> None:
        unknown = " ".join(f"{first}q{second}x" for first in "bcdfg" for second in "aeio")
        with crowded.transaction(force_rollback=True):
            # as if the table were so large that reading it to the limit seemed less
            crowded.execute("set local random_page_cost = 10000")
            read = reads(
                crowded,
                "motions",
                "select * from text_candidates('motions', weigh_query('{motions}', %s), 10)",
                [unknown],
            )
        assert "motions_text_search" in read.indexes
        assert not read.whole

    def test_words_that_most_rows_hold_are_looked_for_in_the_table_as_far_as_rows_are_ranked(
        self, crowded: Connection
    ) -> None:
        ask: LiteralString = "select * from text_candidates('motions', weigh_query('{motions}', %s), 10, null, 500)"
        plan = plans(crowded, ask, ["council approve"], analyze=True)
        read = re.findall(r"Seq Scan on motions \w+ .*actual time=\S+ rows=(\d+)", plan)
        assert read
        assert sum(map(int, read)) <= 2_500
        # with what is excluded, or both of what half of the rows hold each, there may be none
        for query in ("council -tax", "road park"):
            assert "motions" not in reads(crowded, "motions", ask, [query]).whole

    def test_common_words_alone_are_ranked_over_some_rows(self, crowded: Connection) -> None:
        assert len(crowded.execute(CANDIDATES, ["council", 10]).fetchall()) == 10


@pytest.mark.parametrize("query", ["council", "council approve"])
def test_of_thousands_of_rows_with_a_common_word_the_best_are_found_wherever_they_are_stored(
    connection: Connection, query: str
) -> None:
    connection.execute("delete from motions")
    connection.execute(
        "insert into motions (id, text_content)"
        " select 'm' || n, 'council approve the road and park of ' || n from generate_series(1, 9000) n"
    )
    connection.execute(
        "insert into motions (id, text_content)"
        " select 'best' || n, repeat('council approve ', 3) || n from generate_series(1, 9) n"
    )
    connection.execute("select count_lexemes('motions')")
    found = connection.execute(CANDIDATES, [query, 9]).fetchall()
    assert {row.id for row in found} == {f"best{number}" for number in range(1, 10)}
    # whatever was written since they were counted, and whatever is asked beside
    connection.execute("update motions set text_content = 'tax' where id = 'best1'")
    connection.execute("insert into motions (id, text_content) values ('new', repeat('council approve ', 3) || 'new')")
    found = connection.execute(CANDIDATES, [query, 9]).fetchall()
    assert {row.id for row in found} == {"new", *(f"best{number}" for number in range(2, 10))}
    filtered = "select * from text_candidates('motions', weigh_query('{motions}', %s), 9, $$t.id > 'm7'$$)"
    found = connection.execute(filtered, [query]).fetchall()
    assert len(found) == 9
    assert all(row.id > "m7" for row in found)


def test_rows_that_hold_most_of_the_words_are_ranked_before_there_is_no_room_for_more(connection: Connection) -> None:
    connection.execute("delete from motions")
    connection.execute(
        "insert into motions (id, text_content)"
        " select 'm' || n, (array['elm park', 'park road', 'road elm', 'tax elm', 'tax road', 'tax park'])[1 + n % 6]"
        " from generate_series(1, 6000) n"
    )
    connection.execute(
        "insert into motions (id, text_content) select 'best' || n, 'elm park road tax' from generate_series(1, 9) n"
    )
    connection.execute("select count_lexemes('motions')")
    found = connection.execute(f"{CANDIDATES[:-1]}, null, 100)", ["Was the elm in the park taxed for the road?", 9])
    assert {row.id for row in found} == {f"best{number}" for number in range(1, 10)}


def test_of_a_large_table_more_rows_are_ranked(crowded: Connection) -> None:
    ask = f"{CANDIDATES[:-1]}, null, 100)"
    query = ["the council approves the road and park of rare7", 1000]
    with crowded.transaction(force_rollback=True):
        ranked = len(crowded.execute(ask, query).fetchall())
        crowded.execute("update pg_class set reltuples = 800000 where oid = 'motions'::regclass")
        assert len(crowded.execute(ask, query).fetchall()) == 2 * ranked == 200


def test_of_long_rows_fewer_are_ranked(connection: Connection) -> None:
    texts = {f"m{number:03}": ["elm", "road", "tax"] for number in range(900)}
    fill(connection, texts | {"m900": ["elm", "elm", "road", "road"]})
    ask = f"{CANDIDATES[:-1]}, null, 900)"
    for query in ("elm road", "elm", '"elm road" -park'):
        assert "m900" in {row.id for row in connection.execute(ask, [query, 10])}
        with connection.transaction(force_rollback=True):
            connection.execute("update text_totals set lexemes = 20000 * rows where of_table = 'motions'")
            assert "m900" not in {row.id for row in connection.execute(ask, [query, 10])}
            assert len(connection.execute(ask, [query, 100]).fetchall()) == 100


def test_of_long_rows_those_that_hold_a_word_best_are_known_where_fewer_hold_it(connection: Connection) -> None:
    texts = {f"m{number:03}": ["elm", "road", "tax"] for number in range(400)}
    texts |= {f"n{number:03}": ["lamp"] for number in range(300)} | {"n300": ["elm", "elm", "road", "road"]}
    ask = f"{CANDIDATES[:-1]}, null, 300)"
    with connection.transaction(force_rollback=True):
        connection.execute(
            "create or replace function rows_per_long_row(p_table regclass) returns float8 language sql stable as 'select 0.35'"
        )
        fill(connection, texts)
        kept = connection.execute("select lexeme from lexeme_counts where best_rows is not null").fetchall()
        assert {row.lexeme for row in kept} == {"elm", "road", "tax"}
        for query in ("elm", "elm road"):
            assert connection.execute(ask, [query, 10]).fetchall()[0].id == "n300"
    fill(connection, texts)
    assert connection.execute("select from lexeme_counts where best_rows is not null").fetchall() == []


def test_the_rows_kept_of_a_common_word_are_those_that_rank_highest(connection: Connection) -> None:
    connection.execute("delete from motions")
    connection.execute(
        "insert into motions (id, text_content)"
        " select 'm' || n, repeat('council ', 1 + n * 7 %% 5) || repeat('tax ', n * 11 %% 3)"
        "   || repeat('of word' || n || ' ', n %% 13) from generate_series(1, %s) n",
        [MANY],
    )
    connection.execute("vacuum analyze motions")
    connection.execute("select count_lexemes('motions')")
    kept = connection.execute("select lexeme, best_rows from lexeme_counts where best_rows is not null").fetchall()
    assert {row.lexeme for row in kept} == {"council", "tax"}
    for word, best in kept:
        all_ranked = connection.execute(f"{CANDIDATES[:-1]}, null, {2 * MANY})", [word, len(best)]).fetchall()
        assert len(best) == 1000
        assert best == [row.id for row in all_ranked]


def test_however_old_the_statistics_are_the_rows_that_hold_common_words_best_are_looked_for_once(
    database_url: str,
) -> None:
    """Of a third table's counts, where those of two were there when the statistics were taken."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for table in ("matters", "key_statements"):
            connection.execute(
                "insert into lexeme_counts (lexeme, of_table, rows) select 'word' || n, %s, 2 from generate_series(1, 20000) n",
                [table],
            )
        connection.execute("analyze lexeme_counts")
        connection.execute(
            "insert into motions (id, text_content)"
            " select 'm' || n, 'bridge lamp ' || n / 2 from generate_series(1, 1500) n"
        )
        assert calls(connection, "champion_lists", "select count_lexemes('motions')") == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("coun", ["council"]),
        ("co", ["council"]),
        ("inf", ["infrastructur"]),
        ("park inf", ["inf", "park"]),
        ("pq", ["pq"]),
        ("35", ["35"]),
        ("ol", ["ol"]),
        ("What is co?", ["co"]),
        ("inf's", ["inf"]),
        ("park infrastr", ["infrastructur", "park"]),
        ("infrastr park", ["infrastr", "park"]),
        ("the old park council of infrastr", ["council", "infrastr", "old", "park"]),
        ("park road", ["park", "road"]),
        ("infrasturcture", ["infrastructur"]),
    ],
)
def test_the_last_word_of_a_short_query_may_be_begun_only(connection: Connection, query: str, words: list[str]) -> None:
    texts = [
        ["council", "infrastructure", "old", "park"],
        ["council", "park", "road"],
        ["count", "infrastructure", "ol"],
        ["350"],
    ]
    fill(connection, {str(number): text for number, text in enumerate(texts)})
    connection.execute("select count_lexemes('motions')")
    row = connection.execute("select (weigh_query('{motions}', %s)).words", [query]).fetchone()
    assert row is not None
    assert sorted(row.words or []) == sorted(words)


PHRASED = "select * from text_candidates('motions', weigh_query('{motions}', %s, true), 1000, null, 100)"
COUNTED = "select * from count_candidates('motions', weigh_query('{motions}', %s, true), null, %s, '{}')"
LOOKED_AT = 500
"""Rows with its words that are looked at for a phrase where 100 rows are ranked: five times as many."""


def counted(connection: Connection, query: str, limit: int) -> tuple[int, bool]:
    [row] = connection.execute(COUNTED, [query, limit]).fetchall()
    return row.rows, row.is_capped


@pytest.mark.parametrize("query", ['"elm road"', '"elm road" -tax', '"elm road" elm -"tax park"'])
def test_a_phrase_is_looked_for_in_so_many_rows_with_its_words_and_counted_in_as_many_as_are_counted(
    connection: Connection, query: str
) -> None:
    texts = ["elm road"] * 20 + ["road elm"] * (LOOKED_AT - 20)
    fill(connection, {f"m{number:03}": text.split() for number, text in enumerate(texts)})
    first = {f"m{number:03}" for number in range(20)}
    assert {row.id for row in connection.execute(PHRASED, [query])} == first
    assert counted(connection, query, LOOKED_AT) == (20, False)
    connection.execute("insert into motions (id, text_content) values ('new', 'elm road')")
    assert {row.id for row in connection.execute(PHRASED, [query])} == first
    assert counted(connection, query, LOOKED_AT) == (21, True)
    assert counted(connection, query, LOOKED_AT + 1) == (21, False)
    assert counted(connection, query, 10) == (10, True)


def test_a_phrase_is_counted_by_its_own_words_alone_and_by_the_index(connection: Connection) -> None:
    fill(connection, {f"m{number}": "elm road tax".split() for number in range(LOOKED_AT)})
    connection.execute("analyze motions")
    plan = plans(connection, COUNTED, ['"elm road" tax park', LOOKED_AT // 2])
    assert re.findall(r"Index Cond: \(text_search @@ '(.*)'::tsquery\)", plan) == ["''elm'' & ''road''"]
    assert "Seq Scan on motions t" not in plan


def test_what_is_excluded_is_looked_for_in_rows_where_the_index_had_to_read_very_much(connection: Connection) -> None:
    texts = ["elm road"] * LOOKED_AT + ["elm"]
    fill(connection, {f"m{number:03}": text.split() for number, text in enumerate(texts)})
    asked: LiteralString = (
        "select * from text_candidates('motions', weigh_query('{motions}', 'elm -tax -road'), 10, null, 100)"
    )
    assert [row.id for row in connection.execute(asked)] == ["m500"]
    connection.execute("insert into lexeme_counts values ('tax', 'motions', 1e9)")
    # of one word no more, though as many more of it are ranked
    assert [row.id for row in connection.execute(asked)] == []
    connection.execute("delete from motions where id = 'm000'")
    assert [row.id for row in connection.execute(asked)] == ["m500"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    TEXTS,
    st.sampled_from(
        [
            '"elm road"',
            '"elm road" -tax',
            'water "elm road" -"tax park" -bridge',
            'elm tax -"elm road"',
            '"elm road" "park tax"',
            '"elm-road" elm',
        ]
    ),
)
def test_of_few_rows_those_with_a_phrase_are_all_found(
    connection: Connection, texts: dict[str, list[str]], query: str
) -> None:
    fill(connection, texts)
    exact = connection.execute(
        "select m.id from motions m, read_query(%s) q"
        " where m.text_search @@ q.required and tsvector_to_array(m.text_search) && q.words",
        [query],
    ).fetchall()
    found = connection.execute(PHRASED, [query]).fetchall()
    assert sorted(row.id for row in found) == sorted(row.id for row in exact)
    assert counted(connection, query, 100) == (len(exact), False)


def test_rows_that_most_words_are_in_are_found_sooner_by_reading_the_table(crowded: Connection) -> None:
    def is_read(*words: str) -> bool:
        [(answer,)] = crowded.execute("select favors_seq_scan('motions', %s, 100)", [[*words]]).fetchall()
        return bool(answer)

    assert is_read("council")
    assert is_read("council", "approv")
    assert not is_read("council", "rare1")
    assert not is_read("council", "nobodi")
    assert not is_read(*(f"rare{n}" for n in range(300)))  # so seldom together that no float says it
    assert not is_read()
