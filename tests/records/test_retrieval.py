"""The SQL of records search, on a real Postgres."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg.rows import namedtuple_row

from tests.conftest import create_database
from tests.plans import reads
from tests.vectors import DIMENSIONS, direction, vector_literal

Connection = psycopg.Connection[Any]

SEEDED_ROWS = 6000
SEEDED_TOPICS = 60


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """An empty database."""
    with psycopg.connect(database_url, autocommit=True, row_factory=namedtuple_row) as connection:
        yield connection


@pytest.fixture(scope="module")
def seeded(server_url: str, migrated_template: str) -> Iterator[Connection]:
    """A database with 6,000 motions about 60 topics, 60 motions a month over a hundred months. Only read."""
    url = create_database(server_url, "records_seeded", template=migrated_template)
    with psycopg.connect(url, autocommit=True, row_factory=namedtuple_row) as connection:
        _seed(connection)
        yield connection


@pytest.fixture
def without_sequential_scans(seeded: Connection) -> Iterator[Connection]:
    """Comparing all is cheapest among so few rows; an index that serves is taken all the same."""
    seeded.execute("set enable_seqscan = off")
    yield seeded
    seeded.execute("reset enable_seqscan")


def _seed(connection: Connection) -> None:
    connection.execute("drop index motion_embeddings_hnsw")
    connection.execute("set maintenance_work_mem = '256MB'")
    vectors = seeded_vectors()
    with connection.cursor() as cursor:
        with cursor.copy("copy motions (id, text_content, date) from stdin") as copy:
            for number in range(SEEDED_ROWS):
                copy.write_row((f"m{number:05}", seeded_text(number), seeded_date(number)))
        with cursor.copy("copy motion_embeddings (record_id, window_number, embedding) from stdin") as copy:
            for number, vector in enumerate(vectors):
                copy.write_row((f"m{number:05}", 0, vector_literal(vector.tolist())))
    connection.execute(
        "create index motion_embeddings_hnsw on motion_embeddings using hnsw (embedding halfvec_cosine_ops)"
    )
    connection.execute("vacuum analyze motions, motion_embeddings")
    connection.execute("select count_lexemes('motions')")


def seeded_text(number: int) -> str:
    return (
        f"moved that the council approve item{number} about topic{number % SEEDED_TOPICS}"
        f" in ward{number % 7} by word{number % 977} and word{number % 499}"
    )


def seeded_date(number: int) -> datetime.date:
    month = number % 100
    return datetime.date(2015 + month // 12, 1 + month % 12, 15)


def seeded_vectors() -> NDArray[np.float64]:
    random = np.random.default_rng(5)
    centres = random.normal(size=(SEEDED_TOPICS, DIMENSIONS))
    vectors = centres[np.arange(SEEDED_ROWS) % SEEDED_TOPICS] + random.normal(size=(SEEDED_ROWS, DIMENSIONS))
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def nearest(vector: NDArray[np.float64], count: int, since: datetime.date = datetime.date.min) -> list[str]:
    """The ids of the seeded motions nearest to `vector`, by comparing all."""
    order = np.argsort(-(seeded_vectors() @ vector))
    return [f"m{number:05}" for number in order if seeded_date(int(number)) >= since][:count]


def add_motion(connection: Connection, id: str, text: str, *, degrees: Sequence[float] = ()) -> None:
    """A motion, with a vector for each of `degrees`."""
    connection.execute("insert into motions (id, text_content) values (%s, %s)", [id, text])
    for window, angle in enumerate(degrees):
        connection.execute(
            "insert into motion_embeddings values (%s, %s, %s)", [id, window, vector_literal(direction(angle))]
        )


BY_WORDS = "select * from text_candidates('motions', weigh_query('{motions}', %s), %s)"
BY_MEANING = "select * from vector_candidates('motions', 'motion_embeddings', %s, %s, %s)"


def by_words(connection: Connection, query: str, count: int = 10) -> list[str]:
    return [row.id for row in connection.execute(BY_WORDS, [query, count])]


def by_meaning(connection: Connection, vector: Sequence[float], count: int, condition: str | None = None) -> list[Any]:
    return connection.execute(BY_MEANING, [vector_literal(vector), count, condition]).fetchall()


def test_a_row_counts_once_with_its_best_window(connection: Connection) -> None:
    add_motion(connection, "far", "x", degrees=[60])
    add_motion(connection, "long", "x", degrees=[80, 10, 70])
    add_motion(connection, "near", "x", degrees=[20])
    rows = by_meaning(connection, direction(0), 10)
    assert [row.id for row in rows] == ["long", "near", "far"]
    assert rows[0].similarity == pytest.approx(math.cos(math.radians(10)), abs=1e-3)
    assert [row.id for row in by_meaning(connection, direction(0), 2)] == ["long", "near"]


def test_rows_with_every_word_come_first(connection: Connection) -> None:
    add_motion(connection, "some", "elm elm elm elm elm elm")
    add_motion(connection, "all", "the council would rather keep, for a hundred years to come, this one old elm")
    add_motion(connection, "none", "bridge")
    rows = connection.execute(BY_WORDS, ["keep the elm", 10]).fetchall()
    assert [row.id for row in rows] == ["all", "some"]
    assert 1 > rows[0].text_score > rows[1].text_score > 0


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("elm square bananas", {"phrase", "split", "single"}),
        ('elm square bananas -"quill square" -single', {"split"}),
        ("-elm", set()),
    ],
)
def test_what_is_excluded_is_out_also_where_some_words_suffice(
    connection: Connection, query: str, expected: set[str]
) -> None:
    add_motion(connection, "phrase", "the heritage elm in quill square")
    add_motion(connection, "split", "a square elm, by the quill of a clerk")
    add_motion(connection, "single", "a single elm")
    add_motion(connection, "other", "the bridge")
    assert set(by_words(connection, query)) == expected


@pytest.mark.parametrize(
    ("query", "meant"),
    [("squaer", "square"), ("elmm", "elm")],
)
def test_a_slip_of_the_pen_is_read_as_the_word_that_is_spelt_most_like_it(
    connection: Connection, query: str, meant: str
) -> None:
    for number in range(3):
        add_motion(connection, f"{number}", f"{meant} {number}")
    add_motion(connection, "other", "a bridge")
    connection.execute("select count_lexemes('motions')")
    assert set(by_words(connection, query)) == {"0", "1", "2"}


@pytest.mark.parametrize("query", ["", "the of and", "😀 🎉", "市" * 2000, '""'])
def test_a_query_without_words_finds_nothing(seeded: Connection, query: str) -> None:
    assert by_words(seeded, query) == []


@pytest.mark.parametrize("query", ["a:* & !b <-> ", "item7'); drop table motions; --", "\\ \\' E'\\'"])
def test_query_syntax_of_postgres_is_read_as_words(seeded: Connection, query: str) -> None:
    by_words(seeded, query)
    assert by_words(seeded, "item7") == ["m00007"]


class TestPlans:
    """Indexes serve what they are for."""

    @pytest.mark.parametrize("condition", [None, "t.date >= '2017-01-01'"])
    def test_the_hnsw_index_serves_the_nearest(
        self, without_sequential_scans: Connection, condition: str | None
    ) -> None:
        vector = vector_literal(seeded_vectors()[1].tolist())
        read = reads(without_sequential_scans, "motion", BY_MEANING, [vector, 100, condition])
        assert "motion_embeddings_hnsw" in read.indexes

    @pytest.mark.parametrize("query", ["topic7 word12", "what was said about item4711 and word976?"])
    def test_words_are_found_by_the_gin_index(self, seeded: Connection, query: str) -> None:
        read = reads(seeded, "motions", BY_WORDS, [query, 100])
        assert "motions_text_search" in read.indexes
        assert not read.whole

    @pytest.mark.parametrize("year", [2022, 2017], ids=["few", "many"])
    def test_rows_given_by_their_ids_are_found_and_counted_as_by_the_condition_that_they_meet(
        self, seeded: Connection, year: int
    ) -> None:
        met = f"t.date >= '{year}-06-01'"
        ids = [row.id for row in seeded.execute(f"select t.id from motions t where {met}".encode())]
        found = """
            select c.id, c.text_score, c.similarity, n.rows from weigh_query('{motions}', 'topic7 word12') w,
              hybrid_candidates('motions', 'motion_embeddings', w, %(vector)s, 50, %(met)s, p_fitting => %(ids)s) c,
              count_candidates('motions', w, %(met)s, 100, '{}', %(ids)s) n order by c.id"""
        given = {"vector": vector_literal(seeded_vectors()[17].tolist())}
        by_condition = seeded.execute(found, given | {"met": met, "ids": None}).fetchall()
        assert seeded.execute(found, given | {"met": None, "ids": ids}).fetchall() == by_condition
        assert by_condition
        assert {row.id for row in by_condition} <= {*ids}

    def test_many_rows_left_are_found_by_the_index(self, seeded: Connection) -> None:
        since = datetime.date(2017, 1, 1)
        vector = seeded_vectors()[17]
        rows = by_meaning(seeded, vector.tolist(), 50, f"t.date >= '{since}'")
        assert len(set(nearest(vector, 50, since)) & {row.id for row in rows}) >= 45
        assert [row.similarity for row in rows] == sorted((row.similarity for row in rows), reverse=True)
