"""Groups add up to the total, and a group is the rows that a filter by its value finds, whatever the values are. A number of a
row that several rows refer to counts once.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from statistics import mean, median
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import dict_row

from quarry.query.execute import compile_query, result_of
from quarry.schema.algebra import Query, Result
from tests.query.desk_schema import DESK

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


measured = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.sampled_from(["open", "closed"])), max_size=6)
referring = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 5)), st.sampled_from(["Ada", "Bob", None]), st.integers(0, 3)),
    max_size=14,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    tickets=measured,
    comments=referring,
    group=st.sampled_from([None, "author", "ticket.status"]),
    function=st.sampled_from(["sum", "avg", "median"]),
    is_chosen=st.booleans(),
    arithmetic=st.sampled_from([("ticket.hours", 1, 0), ("ticket.hours * 2 - 1", 2, -1), ("3 - ticket.hours", -1, 3)]),
)
def test_a_number_of_a_referred_row_counts_once_in_each_group(
    connection: Connection,
    tickets: list[tuple[int | None, str]],
    comments: list[tuple[int | None, str | None, int]],
    group: str | None,
    function: str,
    is_chosen: bool,
    arithmetic: tuple[str, int, int],
) -> None:
    field, factor, added = arithmetic
    connection.rollback()
    connection.execute("truncate ticket cascade")
    with connection.cursor() as cursor:
        hours = [(place, *ticket) for place, ticket in enumerate(tickets)]
        cursor.executemany("insert into ticket (id, hours, status) values (%s, %s, %s)", hours)
        written = [
            (n, ticket if ticket is not None and ticket < len(tickets) else None, author, words)
            for n, (ticket, author, words) in enumerate(comments)
        ]
        cursor.executemany("insert into comment (id, ticket_id, author, words) values (%s, %s, %s, %s)", written)
    expected: dict[Any, set[int]] = {None: set()} if group is None else {}
    for _, ticket, author, words in written:
        status = tickets[ticket][1] if ticket is not None else None
        found = expected.setdefault({None: None, "author": author, "ticket.status": status}[group], set())
        if ticket is not None and (not is_chosen or words > 1):
            found.add(ticket)
    numbers = {
        key: [factor * number + added for ticket in found if (number := tickets[ticket][0]) is not None]
        for key, found in expected.items()
    }
    only = {"where": [{"field": "words", "op": ">", "value": 1}]} if is_chosen else {}
    result = asked(
        connection,
        {
            "source": "comments",
            "group": [group] if group else [],
            "aggregate": [
                {"fn": function, "field": field, **only},
                {"ratio": [{"fn": function, "field": field, **only}, 4]},
            ],
        },
    )
    empty = 0 if function == "sum" else None
    compute: dict[str, Callable[[list[int]], float]] = {"sum": sum, "avg": mean, "median": median}
    computed = {key: compute[function](each) if each else empty for key, each in numbers.items()}
    assert {row[0] if group else None: row[-2] for row in result.rows} == pytest.approx(computed)
    quarters = {key: None if each is None or not written else each / 4 for key, each in computed.items()}
    assert {row[0] if group else None: row[-1] for row in result.rows} == pytest.approx(quarters)
    if not is_chosen:
        through = {"fn": function, "field": "comments.ticket.hours"}
        [[alike]] = asked(connection, {"source": "tickets", "aggregate": [through]}).rows
        reached = {ticket for _, ticket, *_ in written if ticket is not None}
        numbers_reached = [number for each in reached if (number := tickets[each][0]) is not None]
        whole = compute[function](numbers_reached) if numbers_reached else empty
        assert alike == pytest.approx(whole)


@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", "2026-02-01"), ("Europe/Berlin", "2026-02-02"), ("America/Lima", "2026-02-01")]
)
def test_days_of_moments_are_those_of_the_time_zone_that_the_database_has(
    connection: Connection, desk_url: str, zone: str, day: str
) -> None:
    connection.rollback()  # it locks the tables
    with psycopg.connect(desk_url, row_factory=dict_row, options=f"-c TimeZone={zone}") as connection:
        connection.execute("insert into ticket (id, closed_at) values (90, '2026-02-01 23:30+00')")
        by_day = {
            "source": "tickets",
            "where": [{"field": "id", "value": "90"}],
            "group": [{"field": "closed_at", "period": "day"}],
        }
        assert asked(connection, by_day).rows == [[day]]
        for value, number in ((day, 1), ("2026-02-01T23:30:00Z", 1), ("2026-02-03", 0)):
            where = [*by_day["where"], {"field": "closed_at", "value": value}]
            assert asked(connection, {"source": "tickets", "where": where}).total == number
        [[moment]] = asked(connection, {**by_day, "group": [], "select": ["closed_at"]}).rows
        assert str(moment).startswith(day)
        assert datetime.datetime.fromisoformat(str(moment)) == datetime.datetime(
            2026, 2, 1, 23, 30, tzinfo=datetime.UTC
        )
        connection.rollback()
