"""Groups add up to the total, and a group is the rows that a filter by its value finds, whatever the values are."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import dict_row

from quarry.query.algebra import Query, Result
from quarry.query.execute import compile_query, result_of
from tests.query_language.made import DESK

Connection = psycopg.Connection[dict[str, Any]]

texts = st.one_of(
    st.none(), st.sampled_from(["", " ", "a", "A ", " a", "É", "é", "İ", "ß", "%", "\\"]), st.text("aB _%", max_size=3)
)
days = st.one_of(st.none(), st.dates(datetime.date(2024, 12, 20), datetime.date(2026, 1, 10)))
numbers = st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([0.1, 0.2, 0.3]))
rows = st.lists(st.tuples(texts, days, numbers, st.one_of(st.none(), st.booleans())), max_size=12)
periods = [{"field": "opened_on", "period": period} for period in ("day", "week", "month", "quarter", "year")]
groups = st.sampled_from(["status", "opened_on", "hours", "urgent", *periods])


@pytest.fixture(scope="module")
def connection(desk_url: str) -> Iterator[Connection]:
    with psycopg.connect(desk_url, row_factory=dict_row) as connection:
        yield connection


def asked(connection: Connection, query: dict[str, Any]) -> Result:
    statement = compile_query(Query.model_validate(query), DESK, datetime.date(2026, 1, 1))
    return result_of(statement, connection.execute(statement.sql, statement.parameters).fetchall())


def _filled(connection: Connection, rows: list[tuple[Any, ...]]) -> None:
    connection.rollback()
    connection.execute("truncate ticket cascade")
    for place, row in enumerate(rows):
        connection.execute(
            "insert into ticket (id, status, opened_on, hours, urgent) values (%s, %s, %s, %s, %s)", [place, *row]
        )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows, group=groups)
def test_groups_add_up_and_each_is_what_a_filter_by_it_finds(
    connection: Connection, rows: list[tuple[Any, ...]], group: Any
) -> None:
    _filled(connection, rows)
    result = asked(connection, {"source": "tickets", "group": [group], "aggregate": ["count"]})
    assert result.total == len(rows)
    assert not result.truncated
    assert sum(int(str(count)) for _, count in result.rows) == len(rows)
    name = group if isinstance(group, str) else group["field"]
    for value, count in result.rows:
        condition = {"field": name, "op": "is_null"} if value is None else {"field": name, "value": value}
        assert asked(connection, {"source": "tickets", "where": [condition]}).total == count
        assert asked(connection, {"source": "tickets", "where": [{"not": condition}]}).total == len(rows) - int(
            str(count)
        )
