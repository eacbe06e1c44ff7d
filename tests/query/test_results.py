"""What queries give, over rows with nulls, blanks, several spellings, gaps and hidden rows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.query.conftest import Ask


async def ids(ask: Ask, *where: Any, source: str = "tickets") -> list[str]:
    return sorted(str(row[0]) for row in (await ask(source, where=where, select=["id"])).rows)


async def test_pages_follow_each_other_and_the_total_stays(ask: Ask) -> None:
    first, second, behind = [await ask(limit=4, offset=offset) for offset in (0, 4, 40)]
    assert first.rows + second.rows == (await ask()).rows
    assert [page.truncated for page in (first, second, behind)] == [True, False, False]
    assert (second.total, behind.total, behind.rows) == (7, 7, [])
    joined = {"where": [{"field": "agent.name", "op": "not_null"}], "limit": 4}
    pages = [await ask(**joined, offset=offset) for offset in (0, 4, 40)]
    assert [(page.total, len(page.rows), page.truncated) for page in pages] == [
        (5, 4, True),
        (5, 1, False),
        (5, 0, False),
    ]
    assert (await ask(where=[{"field": "agent.name", "value": "nobody"}])).total == 0


async def test_fields_of_referenced_and_related_rows_can_be_selected(ask: Ask) -> None:
    result = await ask(
        select=[
            "title",
            "agent.team.name",
            "count(comments)",
            "max(comments.words)",
            "commenters",
            "tags",
            "count(tags)",
        ],
        where=[{"field": "id", "values": ["1", "3", "6"]}],
        order=["title"],
    )
    assert result.rows == [
        ["a_b", None, 0, None, [], ["office"], 1],
        ["Login", "Desk", 2, 5, ["Ada", "Cy"], [], 0],
        ["Printer", "Field", 2, 20, ["Ada", "ada "], ["hardware", "Office"], 2],
    ]
    assert [column.kind for column in result.columns] == [*["text"] * 2, *["number"] * 2, *["text"] * 2, "number"]


async def test_a_referenced_row_that_the_caller_may_not_see_reads_as_null(ask: Ask) -> None:
    assert (await ask(select=["agent.name"], where=[{"field": "id", "value": "5"}])).rows == [[None]]
    assert await ids(ask, {"field": "agent.name", "value": "Cy"}) == []
    assert await ids(ask, {"exists": "agent", "where": [{"field": "name", "value": "Cy"}]}) == []
    assert (await ask("teams", select=["name", "count(agents)", "count(agents.tickets)"], order=["name"])).rows == [
        ["Desk", 1, 2],
        ["Empty", 0, 0],
        ["Field", 1, 2],
    ]
    assert (await ask("agents", aggregate=["count"])).rows == [[3]]


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ({"field": "status", "value": " OPEN"}, "127"),
        ({"field": "status", "op": "!=", "value": "open"}, "3456"),
        ({"field": "status", "values": ["open", "closed"]}, "12347"),
        ({"field": "status", "op": "!=", "values": ["open", "closed"]}, "56"),
        ({"field": "status", "op": "is_null"}, "56"),
        ({"field": "status", "op": "not_null"}, "12347"),
        ({"not": {"field": "hours", "op": "<", "value": 1}}, "4567"),
        ({"field": "hours", "op": "between", "values": [0.2, 1]}, "235"),
        ({"field": "cost", "value": 10.1}, "1"),
        ({"field": "urgent", "op": "!=", "value": True}, "2356"),
        *(({"field": "urgent", "op": "!=", "value": said}, "2356") for said in ("Y", "yes", " On", "t", 1, "1")),
        ({"field": "title", "op": "contains", "value": "A_"}, "6"),
        ({"field": "title", "op": "contains", "values": ["0% C", "DOOR"]}, "57"),
        ({"field": "tags", "value": "office"}, "16"),
        ({"field": "tags", "op": "contains", "value": "HARDWARE"}, "157"),
        ({"field": "tags", "op": "!=", "value": "hardware"}, "2346"),
        ({"field": "tags", "op": "!=", "value": " Hardware "}, "2346"),
        ({"field": "tags", "value": "h_rd%"}, ""),
        ({"field": "tags", "op": "is_null"}, "34"),
        ({"field": "opened_on", "value": "2026-04-02"}, "36"),
        ({"field": "opened_on", "value": "2026-Q1"}, "12"),
        ({"field": "opened_on", "value": "2026-W14"}, "36"),
        ({"field": "opened_on", "op": ">", "value": "2026-04"}, "7"),
        ({"field": "opened_on", "op": "<=", "value": "2026-04"}, "12346"),
        ({"field": "opened_on", "op": "!=", "value": 2026}, "5"),
        ({"field": "opened_on", "op": ">=", "value": "today-30d"}, "7"),
        ({"field": "closed_at", "value": "2026-04-03"}, "3"),
        ({"field": "closed_at", "op": "<=", "value": "2026-04-03"}, "23"),
        ({"field": "closed_at", "op": "<", "value": "2026-04-03"}, "2"),
        ({"field": "closed_at", "op": ">", "value": "2026-04-03"}, "4"),
        ({"field": "closed_at", "value": "2026-04-03T00:30:00Z"}, "3"),
        ({"field": "closed_at", "op": "between", "values": ["2026-02", "2026-04-03"]}, "23"),
        ({"field": "closed_at", "op": "=", "value": {"field": "opened_on"}}, ""),
        ({"field": "closed_at", "op": ">", "value": {"field": "opened_on"}}, "234"),
        ({"field": "cost", "op": "<", "value": {"field": "hours"}}, "7"),
        ({"field": "comments.author", "value": "ADA"}, "13"),
        ({"field": "commenters", "value": "ADA"}, "13"),
        ({"field": "comments.author", "op": "!=", "value": "ada"}, "24567"),
        ({"field": "comments.words", "op": "is_null"}, "456"),
        ({"field": "count(comments)", "value": 0}, "456"),
        ({"field": "sum(comments.words)", "op": ">=", "value": 30}, "12"),
        ({"field": "count_distinct(comments.author)", "value": 1}, "12"),
        ({"exists": "comments", "where": [{"field": "author", "value": "ada"}, {"field": "words", "op": "<", "value": 10}]}, "3"),
        ({"not": {"exists": "comments"}}, "456"),
        ({"any_of": [{"exists": "comments", "where": [{"field": "words", "value": 30}]}, {"field": "hours", "value": 1}]}, "25"),
        ({"any_of": [{"not": {"exists": "comments"}}, {"field": "comments.author", "value": "cy"}]}, "3456"),
        ({"not": {"any_of": [{"field": "comments.author", "value": "ada"}, {"field": "tags", "value": "mail"}]}}, "456"),
        ({"any_of": [{"field": "comments.words", "value": {"field": "hours"}}, {"field": "id", "value": "2"}]}, "2"),
        ({"not": {"field": "agent.name", "value": {"source": "comments", "select": ["author"]}}}, "567"),
        ({"any_of": [{"field": "agent.name", "op": "!=", "value": {"source": "comments", "select": ["author"]}},
                     {"field": "hours", "value": 0.1}]}, "1567"),
        ({"exists": "comments", "where": [{"field": "ticket.agent.name", "value": "Bob"}]}, "3"),
        ({"field": "overdue", "value": True}, "16"),
        ({"field": "agent.idle", "op": "is_null"}, "56"),
        ({"any_of": [{"field": "agent.team.name", "value": "desk"}, {"field": "urgent", "value": True}]}, "1347"),
        ({"field": "agent.team.name", "op": "!=", "value": "field"}, "34567"),
        ({"field": "cost", "op": ">", "value": {"source": "tickets", "aggregate": ["avg(cost)"]}}, "23"),
        ({"field": "agent.name", "value": {"source": "comments", "select": ["author"]}}, "1234"),
        ({"field": "agent.name", "op": "!=", "value": {"source": "comments", "group": ["author"]}}, "567"),
        (
            {"field": "agent.name", "value": {"source": "tickets", "group": ["agent.name"],
                                              "having": [{"field": "count", "op": "<", "value": 2}]}},
            "7",
        ),
        (
            {"field": "opened_on", "op": ">=",
             "value": {"source": "tickets", "select": ["opened_on"], "limit": 1}},
            "7",
        ),
    ],
)  # fmt: skip
async def test_rows_that_meet_a_condition(ask: Ask, condition: dict[str, Any], met: str) -> None:
    assert "".join(await ids(ask, condition)) == met


async def test_conditions_on_related_rows_may_hold_of_different_ones(ask: Ask) -> None:
    apart = [{"field": "comments.author", "value": "Cy"}, {"field": "comments.words", "value": 5}]
    assert await ids(ask, *apart) == ["3"]
    together = {"exists": "comments", "where": [{"field": "author", "value": "Cy"}, {"field": "words", "value": 5}]}
    assert await ids(ask, together) == []


async def test_words_leave_only_rows_that_hold_them(ask: Ask) -> None:
    assert (await ask(text=" doors ", select=["id"])).rows == [["7"]]
    assert await ids(ask, {"words": "doors"}) == ["7"]
    either = await ids(ask, {"any_of": [{"words": "doors"}, {"not": {"words": "doors"}}]})
    assert sorted(either) == sorted(["7", *await ids(ask, {"not": {"words": "doors"}})])
    assert (await ask(where=[{"words": "doors"}], aggregate="count")).total == 1


async def test_numbers_are_one_row(ask: Ask) -> None:
    result = await ask(
        aggregate=[
            "count", "count(status)", "count_distinct(status)", "count_distinct(tags)", "count_distinct(comments.author)",
            "sum(cost)", "avg(cost)", "max(opened_on)", "sum(hours)", "avg(comments.words)", "count(comments)",
            {"fn": "share", "where": [{"field": "urgent", "value": True}]},
            {"fn": "count", "where": [{"field": "status", "value": "open"}]},
        ]
    )  # fmt: skip
    assert result.rows == [[7, 5, 2, 3, 3, 72.6, 12.1, "2026-06-30", 6.6, 13.2, 6, 0.428571428571, 3]]
    assert result.total == 7
    assert [column.name for column in result.columns][-2:] == ["share", "count#2"]
    assert result.columns[5].unit == "EUR"


async def test_numbers_of_no_rows(ask: Ask) -> None:
    result = await ask(
        where=[{"field": "hours", "op": ">", "value": 99}],
        aggregate=["count", "sum(cost)", "avg(cost)", {"fn": "share", "where": [{"field": "urgent", "value": True}]}],
    )
    assert (result.rows, result.total, result.truncated) == ([[0, 0, None, None]], 0, False)


async def test_groups_fold_case_and_blanks_and_show_the_most_frequent_spelling(ask: Ask) -> None:
    result = await ask(group=["status"], aggregate=["count", "sum(cost)"])
    assert result.rows == [["Open", 3, 30.3], ["CLOSED", 2, 30.3], [None, 2, 12]]
    assert (result.total, result.truncated) == (7, False)


async def test_each_of_several_values_is_a_group_and_a_row_counts_once_in_each(ask: Ask) -> None:
    result = await ask(group=["tags"], aggregate=["count"])
    assert result.rows == [["hardware", 3], ["mail", 2], ["Office", 2], [None, 2]]
    assert result.total == 7
    assert (await ask(group=["comments.author"], aggregate=["count"])).rows == [
        [None, 4],
        ["Ada", 2],
        ["Bob", 1],
        ["Cy", 1],
    ]


@pytest.mark.parametrize(
    ("period", "first", "steps"),
    [
        ("day", "2026-01-05", 177),
        ("week", "2026-W02", 26),
        ("month", "2026-01", 6),
        ("quarter", "2026-Q1", 2),
        ("year", "2026", 1),
    ],
)
async def test_empty_steps_of_a_period_are_rows(ask: Ask, period: str, first: str, steps: int) -> None:
    result = await ask(group=[{"field": "opened_on", "period": period}], aggregate=["count", "sum(cost)", "avg(cost)"])
    assert result.rows[0][0] == first
    assert result.rows[-1] == [None, 1, 5, 5]
    assert len(result.rows) == steps + 1
    assert sum(row[1] for row in result.rows if isinstance(row[1], int)) == result.total == 7
    assert all(row[2:] == [0, None] for row in result.rows if row[1] == 0)


async def test_periods_of_moments_are_those_of_utc(ask: Ask) -> None:
    rows = (await ask(group=[{"field": "closed_at", "period": "day"}], aggregate=["count"])).rows
    assert [row[0] for row in rows if row[1]] == ["2026-02-01", "2026-04-03", "2026-05-01", None]
    rows = (await ask("comments", group=[{"field": "written_at", "period": "day"}], aggregate=["count"])).rows
    assert [row[0] for row in rows if row[1]] == ["2026-01-05", "2026-01-06", "2026-01-20", "2026-04-02", "2026-06-30"]


async def test_having_and_order_may_name_what_is_not_shown(ask: Ask) -> None:
    result = await ask(
        group=["status"],
        having=[{"any_of": [{"field": "sum(cost)", "op": ">", "value": 20}, {"field": "status", "op": "is_null"}]}],
        order=[{"by": "max(hours)", "direction": "desc"}, "count"],
    )
    assert result.rows == [["Open"], [None], ["CLOSED"]]
    assert result.total == 7
    assert (await ask(group=["status"], order=["count"], limit=1)).truncated


async def test_groups_of_two_fields_are_in_order_of_the_period(ask: Ask) -> None:
    result = await ask(group=["status", {"field": "opened_on", "period": "quarter"}], aggregate=["count"])
    assert result.rows == [
        ["Open", "2026-Q1", 2],
        ["CLOSED", "2026-Q2", 2],
        ["Open", "2026-Q2", 1],
        [None, "2026-Q2", 1],
        [None, None, 1],
    ]


async def test_rows_without_a_value_come_last_in_any_order(ask: Ask) -> None:
    for direction in ("asc", "desc"):
        result = await ask(select=["id"], order=[{"by": "cost", "direction": direction}])
        assert result.rows[-1] == ["4"]
