"""Ranking by meaning where a caller knows which rows are in question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.conftest import clone_database
from tests.vectors import direction, vector_literal

Connection = psycopg.Connection[Any]

MOTIONS = 12


@pytest.fixture(scope="module")
def connection(server_url: str, migrated_template: str) -> Iterator[Connection]:
    """Twelve motions, the later the farther; every other one is carried. Only read."""
    with (
        clone_database(server_url, migrated_template) as url,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        for number in range(MOTIONS):
            text = "carried" if number % 2 else "failed"
            connection.execute("insert into motions (id, text_content) values (%s, %s)", [f"m{number:02}", text])
            connection.execute(
                "insert into motion_embeddings (record_id, window_number, embedding) values (%s, 0, %s)",
                [f"m{number:02}", vector_literal(direction(number))],
            )
        yield connection


def nearest(connection: Connection, limit: int, more: str = "") -> list[str]:
    statement = (
        f"select id from vector_candidates('motions', 'motion_embeddings', %s, %s{more}) order by similarity desc"
    )
    return [id for (id,) in connection.execute(statement.encode(), [vector_literal(direction(0)), limit]).fetchall()]


def test_what_their_texts_must_match_holds_for_few_rows_too(connection: Connection) -> None:
    named = ", p_filter => $$t.id in ('m02', 'm03', 'm05')$$"
    assert nearest(connection, 5, named + ", p_required => 'carri'") == ["m03", "m05"]


def test_of_more_than_are_wanted_the_nearest_that_fit_are_found(connection: Connection) -> None:
    carried = ", p_filter => $$t.text_content = 'carried'$$"
    assert nearest(connection, 4, carried) == ["m01", "m03", "m05", "m07"]


def test_rows_that_are_known_to_meet_a_filter_are_compared_and_not_looked_for(connection: Connection) -> None:
    named = ", p_filter => $$t.id in ('m02', 'm03', 'm05')$$"
    assert nearest(connection, 10, named) == ["m02", "m03", "m05"]
    assert nearest(connection, 10, f"{named}, p_fitting => '{{m02, m05}}'") == ["m02", "m05"]
    # of so many the index is walked, where the filter holds for each row
    many = ", p_fitting => array(select n::text from generate_series(1, 2001) n)"
    assert nearest(connection, 10, named + many) == ["m02", "m03", "m05"]
    # and where it is only known that they are many
    assert nearest(connection, 10, f"{named}, p_fits_many => true") == ["m02", "m03", "m05"]
