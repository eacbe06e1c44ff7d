"""A query and its result in words."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from quarry.query.describe import Description, describe
from quarry.schema.algebra import Cell, Column, Query, Result
from quarry.schema.source import Field, Link, Schema, Source

TODAY = datetime.date(2026, 10, 25)


def _field(name: str, kind: Any = "text", **known: Any) -> Field:
    return Field(name, kind, lambda row: f'{row}."{name}"', name.replace("_", " "), f"{name}s", **known)


def _source(name: str, noun: str, fields: list[Field], languages: tuple[str, ...] = (), **links: Link) -> Source:
    return Source(
        name, name, (noun,), name, key=lambda row: f"{row}.id", title=lambda row: f"{row}.name",
        fields={each.name: each for each in fields}, links=links, dated="opened_on", languages=languages,
    )  # fmt: skip


SCHEMA = Schema({
    "tickets": _source(
        "tickets", "ticket",
        [
            _field("status"), _field("opened_on", "date"), _field("due_on", "date"), _field("urgent", "boolean"),
            _field("price", "money", currency="EUR"), _field("days_open", "number", unit="days"), _field("year", "year"),
        ],
        agent=Link("agent", "agent", lambda row, other: "true", False, "agents"),
    ),
    "agents": _source(
        "agents", "agent", [_field("name"), _field("price", "money", currency="EUR")],
        tickets=Link("tickets", "tickets", lambda row, other: "true", True, "tickets"),
    ),
    "rechnungen": _source("rechnungen", "rechnung", [_field("price", "money", currency="EUR")], ("german",)),
})  # fmt: skip


def said(query: dict[str, Any], columns: list[Column], rows: list[list[Cell]], total: int) -> Description:
    return describe(Query.model_validate(query), Result(columns, rows, total, False), SCHEMA, TODAY)


def chip(condition: dict[str, Any], source: str = "tickets") -> str:
    [found] = said({"source": source, "where": [condition]}, [], [], 0).filters
    return found.label


@pytest.mark.parametrize(
    ("condition", "label"),
    [
        ({"field": "status", "value": "open"}, "status: open"),
        ({"field": "status", "values": ["a", "b", "c"]}, "status: a, b or c"),
        ({"field": "status", "values": ["a", "b", "c", "d", "e", "f"]}, "status: a, b, c or 3 others"),
        ({"field": "status", "op": "!=", "value": "open"}, "status: not open"),
        ({"field": "status", "op": "is_null"}, "status: none"),
        ({"field": "agent.name", "op": "contains", "value": "Ada"}, "agent name: containing “Ada”"),
        ({"field": "urgent", "value": True}, "urgent"),
        ({"field": "urgent", "op": "!=", "value": True}, "not urgent"),
        ({"field": "price", "op": ">", "value": 1200}, "price: more than EUR 1,200"),
        ({"field": "price", "op": "between", "values": [5, 9.5]}, "price: at least EUR 5 and at most EUR 9.50"),
        ({"field": "days_open", "op": "<=", "value": 3}, "days open: at most 3 days"),
        ({"field": "year", "op": ">=", "value": 2024}, "year: at least 2024"),
        ({"field": "due_on", "op": "<", "value": "today"}, "due on: until 24 October 2026"),
        ({"field": "due_on", "op": ">", "value": "2026-Q2"}, "due on: since July 2026"),
        ({"field": "due_on", "op": "between", "values": ["2025", "2026-03"]}, "due on: between January 2025 and March 2026"),
        ({"field": "due_on", "op": ">", "value": {"field": "opened_on"}}, "due on: after opened on"),
        ({"any_of": [{"field": "urgent", "value": True}, {"field": "status", "value": "new"}]}, "urgent or status: new"),
        ({"not": {"field": "status", "value": "open"}}, "not (status: open)"),
        (
            {"field": "price", "op": ">", "value": {"source": "tickets", "aggregate": "avg(price)"}},
            "price: more than the average price of tickets",
        ),
    ],
)  # fmt: skip
def test_a_condition_is_a_chip(condition: dict[str, Any], label: str) -> None:
    assert chip(condition) == label


@pytest.mark.parametrize(
    ("condition", "label"),
    [
        ({"exists": "tickets", "where": [{"field": "urgent", "value": True}]}, "with tickets (urgent)"),
        ({"not": {"exists": "tickets"}}, "without tickets"),
        ({"field": "count(tickets)", "op": ">", "value": 2}, "number of tickets: more than 2"),
        ({"field": "sum(tickets.price)", "op": "<", "value": 9}, "total tickets price: less than EUR 9"),
    ],
)
def test_related_rows_are_said(condition: dict[str, Any], label: str) -> None:
    assert chip(condition, "agents") == label


COUNT = Column("count", "count", "number")


@pytest.mark.parametrize(
    ("query", "columns", "rows", "total", "sentence"),
    [
        ({"aggregate": "count"}, [COUNT], [[1]], 1, "1 ticket."),
        (
            {"aggregate": "count", "where": [{"field": "opened_on", "value": "2026-10"}, {"field": "status", "value": "new"}]},
            [COUNT], [[5]], 5, "5 tickets in October 2026 (status: new).",
        ),
        ({"aggregate": "count", "text": "smoke"}, [COUNT], [[0]], 0, "0 tickets (with the words “smoke”)."),
        (
            {"aggregate": ["avg(price)", "max(days_open)"]},
            [Column("avg(price)", "", "money", "EUR"), Column("max(days_open)", "", "number", "days")], [[12.3456, 4]], 9,
            "Tickets: average price EUR 12.35, highest days open 4 days.",
        ),
        ({"aggregate": "avg(price)"}, [Column("avg(price)", "", "money", "EUR")], [[None]], 0, "Tickets: average price none."),
        (
            {"aggregate": {"fn": "share", "where": {"field": "urgent", "value": True}}},
            [Column("share", "", "number", is_share=True)], [[0.375]], 8, "Of 8 tickets, 37.5% match (urgent).",
        ),
        (
            {"aggregate": "count", "group": {"field": "opened_on", "period": "week"}},
            [Column("opened_on", "", "date"), COUNT], [["2026-W40", 2], [None, 1]], 3,
            "3 tickets by week (opened on): the week of 28 September 2026 (2), none (1).",
        ),
        (
            {"aggregate": "count", "group": "status"}, [Column("status", "", "text"), COUNT],
            [["a", 4], ["b", 3], ["c", 2], ["d", 1], [None, 1]], 11, "11 tickets by status: a (4), b (3), c (2) and 2 more.",
        ),
        (
            {"order": [{"by": "price", "direction": "desc"}], "limit": 2}, [Column("id", "id", "text")], [["1"], ["2"]], 1234,
            "2 of 1,234 tickets, by price, highest first.",
        ),
    ],
)  # fmt: skip
def test_a_result_is_a_sentence(
    query: dict[str, Any], columns: list[Column], rows: list[list[Cell]], total: int, sentence: str
) -> None:
    assert said({"source": "tickets", **query}, columns, rows, total).sentence == sentence


def test_numbers_are_written_as_the_language_of_the_rows_has_them() -> None:
    condition = {"field": "price", "op": ">", "value": 1234.5}
    assert chip(condition, "rechnungen") == "price: more than 1.234,50 EUR"
