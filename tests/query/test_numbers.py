"""Numbers of numbers, arithmetic, buckets, parts of dates, the first within groups, and queries about groups."""

from __future__ import annotations

from typing import Any

import pytest

from quarry.query.describe import describe
from quarry.schema.algebra import Query
from tests.query.conftest import TODAY, Ask
from tests.query.desk_schema import DESK

CLOSED = {"fn": "count", "where": [{"field": "status", "value": "closed"}]}
MONTHS = [{"field": "opened_on", "period": "month"}]


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [
        ("median(hours)", 0.65),
        ("percentile(hours, 1)", 3),
        ({"percentile": "hours", "p": 50}, 0.65),
        ("stddev(hours)", 1.173030264),
        ({"name": "closed to all", "ratio": [CLOSED, "count"]}, 2 / 7),
        ({"difference": ["count", CLOSED]}, 5),
        ({"change": [CLOSED, "count"]}, -5 / 7),
        ({"product": ["sum(hours)", 2]}, 13.2),
        ({"sum": ["count", "count(hours)"]}, 13),
        ({"sum": "hours"}, 6.6),
        ({"ratio": ["sum(cost)", {"fn": "count", "where": [{"field": "status", "value": "gone"}]}]}, None),
        ("sum(hours * 2 - 1)", 7.2),
        ("sum(cost / hours)", 101 + 101 + 101 + 5 + 3.5 + 0),
        ("avg(closed_at - opened_on)", 4.666666666667),
        ("max(today - opened_on)", 196),
        ("sum(hours * urgent)", 3.1),
        ("median(comments.words)", 10),
        ("sum(comments.words * 2)", 132),
        ("avg(abs(hours - 1))", 0.9),
        ("sum(cost / 0)", 0),
    ],
)
async def test_a_number(ask: Ask, aggregate: Any, value: float | None) -> None:
    result = await ask(aggregate=[aggregate])
    assert result.rows == [[value if value is None else pytest.approx(value)]]


async def test_a_row_that_several_refer_to_is_computed_with_once(ask: Ask) -> None:
    result = await ask("comments", aggregate=["median(ticket.hours)", "sum(ticket.hours - ticket.hours / 2)"])
    assert result.rows == [[pytest.approx(0.25), pytest.approx(1.8)]]


async def test_periods_follow_each_other(ask: Ask) -> None:
    numbers = ["count", "running(count)", "previous(count)", {"name": "growth", "change": ["count", "previous(count)"]}]
    result = await ask(where=[{"field": "opened_on", "op": "not_null"}], group=MONTHS, aggregate=numbers)
    assert result.rows == [
        ["2026-01", 2, 2, None, None],
        ["2026-02", 0, 2, 2, None],
        ["2026-03", 0, 2, None, None],
        ["2026-04", 3, 5, None, None],
        ["2026-05", 0, 5, 3, None],
        ["2026-06", 1, 6, None, None],
    ]


async def test_the_period_before_is_that_of_the_same_group(ask: Ask) -> None:
    group = [{"field": "opened_on", "period": "quarter"}, "agent.name"]
    result = await ask(
        group=group, aggregate=["count", "previous(count)", "running(count)"], order=["agent.name", "opened_on"]
    )
    assert ["2026-Q2", "Di", 1, None, 1] in result.rows
    assert ["2026-Q2", "Bob", 2, None, 2] in result.rows


@pytest.mark.parametrize(
    "where",
    [
        [{"field": "opened_on", "op": ">=", "value": "2026-04"}],
        [{"field": "opened_on", "op": ">", "value": "2026-Q1"}],
        [{"field": "opened_on", "op": "between", "values": ["2026-04", "2026-06"]}],
        [{"field": "opened_on", "op": ">=", "value": "2026-04"}, {"field": "opened_on", "op": "<", "value": "2026-07"}],
    ],
)
async def test_the_period_before_the_first_that_is_asked_for_is_read(ask: Ask, where: list[dict[str, Any]]) -> None:
    numbers = ["count", "previous(count)", "running(count)", "percent_of_total(count)", "rank(count)"]
    result = await ask(where=where, group=[{"field": "opened_on", "period": "quarter"}], aggregate=numbers)
    assert (result.rows, result.total) == ([["2026-Q2", 4, 2, 4, 1, 1]], 4)
    steps = await ask(where=where, group=MONTHS, aggregate=[{"fn": "previous", "of": ["count"], "steps": 3}])
    assert steps.rows[0] == ["2026-04", 2]
    assert (await ask(where=where, group=MONTHS, then={"aggregate": ["count"]}, aggregate=["previous(count)"])).rows[
        0
    ] == [3]


async def test_a_period_that_is_asked_for_in_part_holds_its_own_days_alone(ask: Ask) -> None:
    where = [{"field": "opened_on", "op": ">", "value": "2026-04-15"}, {"field": "status", "value": "closed"}]
    result = await ask(where=where, group=MONTHS, aggregate=["count", "previous(count)"])
    assert result.rows == [["2026-04", 1, None]]  # not the one that was closed on 2 April
    years = [{"field": "opened_on", "period": "year"}]
    numbers = ["count", {"name": "growth", "change": ["count", "previous(count)"]}]
    assert (await ask(where=[{"field": "opened_on", "value": "2026"}], group=years, aggregate=numbers)).rows == [
        ["2026", 6, None]
    ]


async def test_a_year_before_is_twelve_months_before(ask: Ask) -> None:
    result = await ask(group=MONTHS, aggregate=[{"fn": "previous", "of": ["count"], "steps": 3}])
    assert ["2026-04", 2] in result.rows


async def test_parts_of_the_total_add_up_and_ranks_begin_at_one(ask: Ask) -> None:
    result = await ask(
        group=["status"], aggregate=["percent_of_total(count)", "rank(count)", "percent_of_total(sum(hours))"]
    )
    assert sum(row[1] for row in result.rows) == pytest.approx(1)  # type: ignore[misc]
    assert sum(row[3] for row in result.rows) == pytest.approx(1)  # type: ignore[misc]
    assert [row[2] for row in result.rows] == [1, 2, 2]


async def test_the_first_within_each_group(ask: Ask) -> None:
    first = {"field": "title", "limit": 1, "order": [{"by": "sum(cost)", "direction": "desc"}]}
    result = await ask(
        where=[{"field": "agent.name", "op": "not_null"}], group=["agent.name", first], aggregate=["sum(cost)"]
    )
    assert result.rows == [["Ada", "Mail", 20.2], ["Bob", "Login", 30.3], ["Di", "Open door", 0]]
    same = {"field": "agent.name", "limit": 1, "order": [{"by": "sum(cost)", "direction": "desc"}]}
    where = [{"field": "agent.name", "op": "not_null"}]
    again = await ask(where=where, group=[same, "title"], aggregate=["sum(cost)"])
    assert again.rows == result.rows


async def test_buckets_leave_out_no_empty_one(ask: Ask) -> None:
    wide = await ask(
        where=[{"field": "hours", "op": "not_null"}], group=[{"field": "hours", "width": 1}], aggregate=["count"]
    )
    assert wide.rows == [["0 to 1", 3], ["1 to 2", 1], ["2 to 3", 1], ["3 to 4", 1]]
    given = await ask(group=[{"field": "cost", "borders": [0, 10, 15, 30]}], aggregate=["count"])
    assert given.rows == [["0 to 10", 3], ["10 to 15", 1], ["15 to 30", 1], ["30 and more", 1], [None, 1]]


async def test_parts_of_dates(ask: Ask) -> None:
    hours = await ask("comments", group=["hour(written_at)"], aggregate=["count"], order=["hour(written_at)"])
    assert hours.rows == [[0, 1], [10, 4], [23, 1]]
    assert (await ask(where=[{"field": "weekday(opened_on)", "value": 4}])).total == 3
    assert (await ask(group=["year(opened_on)"], aggregate=["count"])).rows == [[2026, 6], [None, 1]]


async def test_a_query_about_groups(ask: Ask) -> None:
    counts = {"group": ["agent.name"], "aggregate": ["count"]}
    result = await ask(**counts, then={"aggregate": ["avg(count)", "max(count)", "count"]})
    assert result.rows == [[1.75, 2, 4]]
    average = {"source": "tickets", **counts, "then": {"aggregate": ["avg(count)"]}}
    above = await ask(**counts, having=[{"field": "count", "op": ">", "value": average}])
    assert {row[0] for row in above.rows} == {"Ada", "Bob", None}


async def test_a_measure_is_known_by_its_synonyms(ask: Ask) -> None:
    assert (await ask(aggregate=["Expenses"])).rows == (await ask(aggregate=["spent"])).rows


@pytest.mark.parametrize(
    ("where", "total"),
    [
        ({"field": "title", "op": "starts_with", "value": "open"}, 1),
        ({"field": "title", "op": "starts_with", "value": "100%"}, 1),
        ({"field": "status", "op": "ends_with", "value": "EN"}, 3),
        ({"field": "title", "op": "ends_with", "values": ["_b", "door"]}, 2),
        ({"field": "comments.author", "op": "starts_with", "value": "ad"}, 2),
    ],
)
async def test_texts_are_found_by_how_they_begin_and_end(ask: Ask, where: dict[str, Any], total: int) -> None:
    assert (await ask(where=[where])).total == total


@pytest.mark.parametrize(
    ("value", "total"),
    [
        ("this month", 0), ("last month", 1), ("last quarter", 4), ("this year", 6), ("last year", 0), ("today-20d", 1),
    ],
)  # fmt: skip
async def test_dates_count_from_today(ask: Ask, value: str, total: int) -> None:
    assert (await ask(where=[{"field": "opened_on", "value": value}])).total == total


async def test_a_day_so_many_months_ago(ask: Ask) -> None:
    assert (await ask(where=[{"field": "opened_on", "op": ">=", "value": "today-3m"}])).total == 2


async def test_rows_with_arithmetic(ask: Ask) -> None:
    result = await ask(
        select=["title", "cost / hours", "today - opened_on"],
        where=[{"field": "cost - 10", "op": ">", "value": 0}],
        order=[{"by": "cost * 2", "direction": "desc"}],
    )
    assert result.rows == [["Login", 101, 109], ["Mail", 101, 181], ["Printer", 101, 196]]
    assert [each.unit for each in result.columns] == [None, "EUR", "days"]


async def test_a_measure_is_what_is_declared(ask: Ask) -> None:
    urgent = {"measure": "spent", "where": [{"field": "urgent", "value": True}]}
    result = await ask(aggregate=["spent", "per_hour", "closed_part", urgent])
    assert result.rows == [[42.3, pytest.approx(42.3 / 6.6), pytest.approx(2 / 7), 10.1]]
    assert [(each.unit, each.is_share) for each in result.columns[:3]] == [("EUR", False), ("EUR", False), (None, True)]
    above = await ask(group=["agent.name"], having=[{"field": "spent", "op": ">", "value": 10}], order=["spent"])
    assert above.rows == [[None], ["Ada"]]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            {"aggregate": ["avg(hours)"], "group": ["agent.name"]},
            "Average hours of 7 tickets by agent name: Di (3), none (1.5), Bob (0.3) and 1 more.",
        ),
        (
            {"aggregate": ["closed_part"]},
            "Tickets: closed part 28.57% (closed part is number of tickets (status: closed) per number of tickets).",
        ),
        (
            {"aggregate": [{"name": "gain", "change": ["count(hours)", "count"]}]},
            "Tickets: gain -14.29% (gain is change of number of hours against number of tickets).",
        ),
        (
            {"aggregate": ["percentile(hours, 0.9)", "median(cost)"]},
            "Tickets: 90% percentile of hours 2.5, median cost EUR 8.55.",
        ),
        (
            {"aggregate": ["ratio(sum(cost), count(comments))"], "where": [{"field": "status", "op": "is_null"}]},
            "Tickets (status: none): total cost per number of comments none;"
            " there is no number where it would be divided by nothing.",
        ),
        (
            {"group": ["agent.name"], "aggregate": ["count"], "then": {"aggregate": ["avg(count)"]}},
            "Tickets by agent name: average number of tickets 1.75.",
        ),
        (
            {
                "where": [{"field": "opened_on", "value": "2026-04"}],
                "group": MONTHS,
                "aggregate": ["count", {"previous": "count", "steps": 12}],
            },
            "Number of tickets, number of tickets 12 months before of 3 tickets in April 2026 by month (opened on):"
            " April 2026 (3, none).",
        ),
        (
            {
                "group": ["agent.name"],
                "aggregate": ["count"],
                "having": [
                    {
                        "field": "count",
                        "op": ">",
                        "value": {
                            "source": "tickets",
                            "group": ["agent.name"],
                            "aggregate": ["count"],
                            "then": {"aggregate": ["avg(count)"]},
                        },
                    }
                ],
            },
            "7 tickets (number of tickets: more than the average number of tickets of tickets by agent name) by agent name:"
            " Ada (2), Bob (2), none (2).",
        ),
        (
            {"group": ["urgent"], "aggregate": ["percent_of_total(count)"]},
            "Share of number of tickets of 7 tickets by urgent: no (42.86%), yes (42.86%), none (14.29%).",
        ),
    ],
)
async def test_a_sentence_says_what_the_number_is(ask: Ask, query: dict[str, Any], sentence: str) -> None:
    result = await ask(**query)
    asked = Query.model_validate({"source": "tickets", **query})
    assert describe(asked, result, DESK, TODAY).sentence == sentence
