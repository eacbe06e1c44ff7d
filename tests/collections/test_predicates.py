"""Derived predicates of a declaration: what can be written."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from quarry.collections.predicate import read_predicate
from quarry.schema.algebra import Condition

FIELD = {"field": "due_on", "op": "<", "value": "today"}
TRUE = {"field": "b", "op": "=", "value": True}


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("due_on < today and closed_at is null", [FIELD, {"field": "closed_at", "op": "is_null"}]),
        (
            "due_on between today - 1 day and today",
            [{"field": "due_on", "op": "between", "values": ["today-1d", "today"]}],
        ),
        ("paid <> 'it''s due'", [{"field": "paid", "op": "!=", "value": "it's due"}]),
        ('paid < "Amount Owed"', [{"field": "paid", "op": "<", "value": {"field": "Amount Owed"}}]),
        ("not b = true or s not in ('a')", [{"any_of": [{"not": TRUE}, {"field": "s", "op": "!=", "values": ["a"]}]}]),
    ],
)
def test_a_predicate_is_the_conditions_of_a_query(text: str, conditions: list[dict[str, Any]]) -> None:
    assert read_predicate(text) == conditions
    TypeAdapter(tuple[Condition, ...]).validate_python(conditions)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("due_on < today + soon", "a number of days"),
        ("a = 1; drop table x", "is wrong at"),
        ("a = (select 1)", "a number, a text"),
        ("not " * 9 + "a", "nested more than 5 deep"),
    ],
)
def test_what_is_no_predicate_says_where_it_goes_wrong(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        read_predicate(text)
