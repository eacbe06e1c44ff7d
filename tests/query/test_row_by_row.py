"""Random numbers of random queries are what arithmetic row by row gives: no join multiplies a sum, and nothing divides."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
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

TODAY = datetime.date(2026, 7, 20)
Connection = psycopg.Connection[dict[str, Any]]
Row = Mapping[str, Any]
Number = float | None
Conditions = list[dict[str, Any]]
Leaf = tuple[str, str, str]
"""A function, what it is of, and which rows it is over."""
FUNCTIONS: dict[str, Callable[[list[float]], Number]] = {
    "sum": sum,
    "count": len,
    "avg": lambda values: mean(values) if values else None,
    "median": lambda values: median(values) if values else None,
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
}
ONLY: dict[str, tuple[Conditions, Callable[[Row], bool]]] = {
    "": ([], lambda row: True),
    "open": ([{"field": "status", "value": "open"}], lambda row: row["status"] == "open"),
    "not open": ([{"field": "status", "op": "!=", "value": "open"}], lambda row: row["status"] != "open"),
    "with comments": ([{"exists": "comments"}], lambda row: bool(row["comments"])),
}


@dataclass(frozen=True)
class Desk:
    """Tickets with their comments, as Python has them."""

    tickets: Sequence[Row]

    def values(self, field: str, rows: Sequence[Row]) -> list[float]:
        """The numbers of a field of tickets, of their agent, or of their comments, without nulls."""
        found = [each for row in rows for each in FIELDS[field](row)]
        return [each for each in found if each is not None]


def _over(one: Number, two: Number) -> Number:
    return None if one is None or not two else one / two


FIELDS: dict[str, Callable[[Row], list[Number]]] = {
    "hours": lambda row: [row["hours"]],
    "hours * 2 - 1": lambda row: [None if row["hours"] is None else row["hours"] * 2 - 1],
    "6 / hours": lambda row: [_over(6, row["hours"])],
    "today - opened_on": lambda row: [(TODAY - row["opened_on"]).days if row["opened_on"] else None],
    "hours * urgent": lambda row: [None if row["hours"] is None else row["hours"] * bool(row["urgent"])],
    "comments.words": lambda row: row["comments"],
    "comments.words * 2": lambda row: [None if each is None else each * 2 for each in row["comments"]],
}
GROUPS: dict[str, tuple[Any, Callable[[Row], Any]]] = {
    "": ([], lambda row: None),
    "status": (["status"], lambda row: row["status"]),
    "agent": (["agent.team.name"], lambda row: {0: "North", 1: "South"}.get(row["agent"])),
    "month": (
        [{"field": "opened_on", "period": "month"}],
        lambda row: f"{row['opened_on']:%Y-%m}" if row["opened_on"] else None,
    ),
}

small = st.one_of(st.none(), st.integers(0, 6))
tickets = st.lists(
    st.fixed_dictionaries(
        {
            "hours": small,
            "status": st.sampled_from(["open", "closed", None]),
            "urgent": st.sampled_from([True, False, None]),
            "agent": st.sampled_from([0, 1, 2, None]),
            "opened_on": st.one_of(st.none(), st.dates(datetime.date(2026, 1, 1), datetime.date(2026, 5, 30))),
            "comments": st.lists(small, max_size=3),
        }
    ),
    max_size=9,
)
leaves = st.tuples(st.sampled_from([*FUNCTIONS]), st.sampled_from([*FIELDS]), st.sampled_from([*ONLY]))
plain = leaves.filter(lambda leaf: not leaf[1].startswith("today"))  # days are added to nothing else
paired = st.sampled_from(["ratio", "difference", "change", "product", "sum"])
pairs = st.tuples(paired, plain, st.one_of(plain, st.integers(0, 3)))


@pytest.fixture(scope="module")
def connection(desk_url: str) -> Iterator[Connection]:
    with psycopg.connect(desk_url, row_factory=dict_row) as connection:
        yield connection


def _filled(connection: Connection, rows: Sequence[Row]) -> None:
    connection.rollback()
    connection.execute("truncate comment, ticket, agent, team")
    connection.execute("insert into team values (0, 'North'), (1, 'South')")
    connection.execute("insert into agent (id, name, team_id) values (0, 'Ada', 0), (1, 'Bob', 1), (2, 'Cy', null)")
    for place, row in enumerate(rows):
        given = [place, *(row[each] for each in ("hours", "status", "urgent", "agent", "opened_on"))]
        connection.execute(
            "insert into ticket (id, hours, status, urgent, agent_id, opened_on) values (%s, %s, %s, %s, %s, %s)", given
        )
        for at, words in enumerate(row["comments"]):
            connection.execute(
                "insert into comment (id, ticket_id, words) values (%s, %s, %s)", [place * 10 + at, place, words]
            )


def _asked(connection: Connection, query: dict[str, Any]) -> Result:
    statement = compile_query(Query.model_validate({"source": "tickets", **query}), DESK, TODAY)
    return result_of(statement, connection.execute(statement.sql, statement.parameters).fetchall())


def _written(leaf: Leaf | int) -> Any:
    if isinstance(leaf, int):
        return leaf
    function, field, only = leaf
    return {"fn": function, "field": field, "where": ONLY[only][0]}


def _of(leaf: Leaf | int, rows: Sequence[Row]) -> Number:
    if isinstance(leaf, int):
        return leaf
    function, field, only = leaf
    return FUNCTIONS[function](Desk(rows).values(field, [row for row in rows if ONLY[only][1](row)]))


def _paired(function: str, one: Number, two: Number, rows: Sequence[Row]) -> Number:
    if one is None or two is None:
        return None
    match function:
        case "ratio":
            return _over(one, two) if rows else None
        case "change":
            return _over(one - two, two) if rows else None
        case "difference":
            return one - two
        case "product":
            return one * two
        case _:
            return one + two


def _months(groups: dict[Any, Sequence[Row]]) -> dict[Any, Sequence[Row]]:
    """The groups with the months between the first and the last that have no rows."""
    named = sorted(each for each in groups if each is not None)
    for month in range(int(named[0][5:]), int(named[-1][5:])) if named else ():
        groups.setdefault(f"2026-{month:02}", [])
    return groups


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(rows=tickets, group=st.sampled_from([*GROUPS]), asked=st.lists(leaves, min_size=1, max_size=2), pair=pairs)
def test_numbers_are_those_of_arithmetic_row_by_row(
    connection: Connection,
    rows: list[dict[str, Any]],
    group: str,
    asked: list[Leaf],
    pair: tuple[str, Leaf, Leaf | int],
) -> None:
    _filled(connection, rows)
    keys, key_of = GROUPS[group]
    function, one, two = pair
    pair_written = {"name": "pair", function: [_written(one), _written(two)]}
    result = _asked(connection, {"group": keys, "aggregate": [*map(_written, asked), pair_written]})
    by_key = sorted(rows, key=lambda row: str(key_of(row)))
    groups: dict[Any, Sequence[Row]] = (
        {key: list(each) for key, each in groupby(by_key, key=key_of)} if keys else {None: rows}
    )
    expected = {
        key: [*(_of(leaf, each) for leaf in asked), _paired(function, _of(one, each), _of(two, each), each)]
        for key, each in (_months(groups) if group == "month" else groups).items()
    }
    found = {row[0] if keys else None: row[len(keys) :] for row in result.rows}
    assert found.keys() == expected.keys()
    for key, numbers in expected.items():
        assert found[key] == [None if each is None else pytest.approx(each) for each in numbers], key


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(rows=tickets, leaf=leaves, steps=st.integers(1, 2))
def test_numbers_of_other_groups_are_theirs(
    connection: Connection, rows: list[dict[str, Any]], leaf: Leaf, steps: int
) -> None:
    rows = [row for row in rows if row["opened_on"]]
    _filled(connection, rows)
    keys, key_of = GROUPS["month"]
    of = [_written(leaf)]
    asked = [{"previous": of, "steps": steps}, {"running": of}, {"percent_of_total": of}]
    result = _asked(connection, {"group": keys, "aggregate": asked})
    by_key = sorted(rows, key=lambda row: str(key_of(row)))
    groups = _months({key: [*each] for key, each in groupby(by_key, key=key_of)})
    values = {key: _of(leaf, groups[key]) for key in sorted(groups)}
    whole = sum(each for each in values.values() if each is not None)
    so_far: list[float] = []
    for (key, value), row in zip(values.items(), result.rows, strict=True):
        so_far += [] if value is None else [value]
        before = f"2026-{int(key[5:]) - steps:02}"
        expected = [
            values[before] if groups.get(before) else None,
            sum(so_far) if so_far else None,
            _over(value, whole),
        ]
        assert row == [key, *(None if each is None else pytest.approx(each) for each in expected)]
