"""Ranking by words: BM25's scores out of a tsvector alone, whatever is asked at a bounded cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import namedtuple_row

from tests.conftest import create_database

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


def test_the_rarest_words_decide_which_rows_are_ranked(crowded: Connection) -> None:
    rows = crowded.execute(CANDIDATES, ["the council approves rare7", 100]).fetchall()
    assert {int(row.id[1:]) % 1000 for row in rows[:30]} == {7}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("coun", ["council"]),
        ("co", ["council"]),
        ("inf", ["infrastructur"]),
        ("park inf", ["inf", "park"]),
        ("35", ["35"]),
        ("What is co?", ["co"]),
        ("park infrastr", ["infrastructur", "park"]),
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


def counted(connection: Connection, query: str, limit: int) -> tuple[int, bool]:
    [row] = connection.execute(COUNTED, [query, limit]).fetchall()
    return row.rows, row.is_capped


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
