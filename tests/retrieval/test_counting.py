"""How writes keep count of the values of the data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry import catalog
from quarry.schema.matching import holds_one_of
from quarry.schema.source import Field

DIFFERENCES = """
  select table_name, facet, scope, value, sum(row_count) from (
    select table_name, facet, scope, value, row_count from facet_values
    {}
  ) c where folded_words(value) is not null group by 1, 2, 3, 4 having sum(row_count) <> 0
"""
OF_A_TABLE = "union all select {}, v.facet, v.scope, v.value, -v.row_count from {}() v"
WORDS = """
  select stem, sum(n) from (
    select unnest(stems) as stem, 1 as n from facet_values union all select stem, -value_count from facet_words) c
  group by 1 having sum(n) <> 0
"""


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


def differences(connection: psycopg.Connection) -> list[object]:
    """What the dictionary of values tells otherwise than the rows of all tables."""
    tables = SQL(" ").join(SQL(OF_A_TABLE).format(name, Identifier(f"{name}_values")) for name in catalog.SEARCHED)
    return [
        *connection.execute(SQL(DIFFERENCES).format(tables)).fetchall(),
        *connection.execute(WORDS).fetchall(),
    ]


names = st.sampled_from(["Ada Quist", "Bo Quist", "Quist Holding", "!?", "It", ""])
ids = st.sampled_from("abc")
companies = st.lists(st.tuples(ids, names, st.lists(names, max_size=2)), max_size=4, unique_by=lambda row: row[0])
cards = st.lists(
    st.tuples(ids, ids, names, st.sampled_from(["work", "education"]), st.booleans()),
    max_size=4,
    unique_by=lambda row: row[0],
)
motions = st.lists(st.tuples(ids, ids, names), max_size=4, unique_by=lambda row: row[0])
writes = st.one_of(
    st.tuples(
        st.just(
            "insert into companies (id, company_name, niches) values (%s, %s, %s)"
            " on conflict (id) do update set company_name = excluded.company_name, niches = excluded.niches"
        ),
        companies,
    ),
    st.tuples(
        st.just(
            "insert into experience_cards (id, person_id, company_name, title, intent_primary, visible)"
            " values (%s, %s, %s, 'Smith', %s, %s)"
            " on conflict (id) do update set person_id = excluded.person_id, company_name = excluded.company_name,"
            " intent_primary = excluded.intent_primary, visible = excluded.visible"
        ),
        cards,
    ),
    st.tuples(
        st.just(
            "insert into motions (id, meeting_id, text_content, mover) values (%s, %s, 'x', %s)"
            " on conflict (id) do update set meeting_id = excluded.meeting_id, mover = excluded.mover"
        ),
        motions,
    ),
    st.tuples(st.just("update people set name = %s where id = %s"), st.lists(st.tuples(names, ids), max_size=2)),
    st.tuples(st.just("update meetings set body = %s where id = %s"), st.lists(st.tuples(names, ids), max_size=2)),
    st.tuples(st.just("update companies set tagline = %s where id > %s"), st.lists(st.tuples(names, ids), max_size=2)),
    *(
        st.tuples(st.just(f"delete from {table} where id = any(%s)"), st.lists(st.tuples(st.lists(ids)), max_size=1))
        for table in ("companies", "experience_cards", "motions", "people")
    ),
    st.tuples(st.just("truncate experience_cards cascade"), st.just([()])),
    st.tuples(st.just("truncate motions cascade"), st.just([()])),
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(writes, min_size=3, max_size=8))
def test_whatever_is_written_the_counts_are_those_of_the_rows(
    connection: psycopg.Connection, written: list[tuple[str, list[tuple[object, ...]]]]
) -> None:
    connection.execute("truncate companies, people, meetings cascade")
    for id in "abc":
        connection.execute("insert into people (id, name) values (%s, %s)", [id, f"Person {id}"])
        connection.execute("insert into meetings (id, body, title, date) values (%s, 'Board', 'x', '2020-01-01')", [id])
    for statement, rows in written:
        for row in rows:
            with suppress(psycopg.errors.ForeignKeyViolation):  # of a person that is gone
                connection.execute(statement.encode(), row)
    assert differences(connection) == []


def test_writers_at_once_lose_no_count(database_url: str, connection: psycopg.Connection) -> None:
    connection.execute(
        "insert into companies (id, company_name, hq_city) values ('a', 'Zebu', 'Bergen'), ('b', 'Yak', 'Bergen')"
    )
    with psycopg.connect(database_url) as one, psycopg.connect(database_url) as other:
        for writer in (one, other):
            writer.execute("set statement_timeout = 10000")
        one.execute("update companies set hq_city = 'Oslo' where id = 'a'")
        other.execute("insert into companies (id, company_name, hq_city) values ('c', 'Zebu', 'Bergen')")
        one.execute("insert into companies (id, company_name, hq_city) values ('d', 'Gnu', 'Bergen')")
        other.execute("delete from companies where id = 'b'")
        assert connection.execute("select refresh_facet_values('companies')").fetchone()
        one.commit()
        other.commit()
    assert differences(connection) == []
    connection.execute("select refresh_facet_values('companies')")
    assert differences(connection) == []
    assert ("Bergen", 2) in connection.execute("select value, row_count from facet_values").fetchall()


class Written:
    """Values that stand in a statement."""

    def parameter(self, value: object) -> Composable:
        return Literal(value)

    def once(self, expression: Composable) -> Composable:
        return SQL("(select {})").format(expression)


PHRASES = (
    "happy",
    "dying",
    "skies",
    "R&D",
    "and",
    "c++",
    "U.S.A.",
    "café",
    "possible",
    "hope",
    "driver's licence",
    "?!",
    "東京",
)
TEXTS = (
    "He died of happiness", "the sky is dying", "A CAFE in the USA", "R and D", "R & D at Çafé's", "C++ and C#", "possibilities",
    "hoping", "Drivers licences", "happ", "", None, "東京 駅", "hopping", "u.s.a, café",
)  # fmt: skip


def test_texts_are_stemmed_only_where_they_may_hold_a_phrase(connection: psycopg.Connection) -> None:
    """What a text begins with leaves none out that holds a phrase."""
    facet, text = Field("note", "text", "{}.text".format, "note", "notes", facet="text"), SQL("v.text")
    for phrase in PHRASES:
        holds = holds_one_of(facet, text, [phrase], Written())
        rows = connection.execute(
            SQL(
                "select v.text, {} is true, has_any_phrase(v.text, {}) is true from unnest(%s::text[]) v (text)"
            ).format(holds, Literal([phrase])),
            [[*TEXTS]],
        ).fetchall()
        assert [row for row in rows if row[1] != row[2]] == [], phrase
        assert any(row[2] for row in rows) or phrase == "?!", phrase
