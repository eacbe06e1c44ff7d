"""Derived predicates of a declaration: what can be written, and what is told of a wrong one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from quarry.collections.checking import check
from quarry.collections.declaration_file import DeclarationError, Lines, read_declarations
from quarry.collections.predicate import read_predicate
from quarry.query.algebra import Condition
from tests.collections.made import catalog, table

FIELD = {"field": "due_on", "op": "<", "value": "today"}
TRUE = {"field": "b", "op": "=", "value": True}


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("due_on < today and closed_at is null", [FIELD, {"field": "closed_at", "op": "is_null"}]),
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
        ("a = 1; drop table x", "cannot be read at"),
        ("a = (select 1)", "a number, a text"),
        ("not " * 9 + "a", "nested more than 5 deep"),
    ],
)
def test_what_is_no_predicate_says_where_it_goes_wrong(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        read_predicate(text)


DECLARED = """
[collections.tickets]
source = "tickets"
text = ["subject"]
hidden = ["note"]
facets = {{ price = "money" }}

[collections.tickets.predicates]
{predicate}
"""
TICKETS = table(
    "tickets",
    [("id", "integer"), ("subject", "text"), ("price", "numeric(10,2)"), ("due_on", "date"), ("note", "text")],
    key=["id"],
)


def problems(predicate: str) -> list[str]:
    text = DECLARED.format(predicate=predicate)
    return check(read_declarations(text), catalog(TICKETS), Lines(text, "quarry.toml"), own_schema=None).errors


def test_the_fields_are_checked_against_the_table() -> None:
    assert problems('dear = "price > 100 and due_on < today"') == []
    assert problems('dear = "pryce > 100"') == [
        "quarry.toml:9: collections.tickets.predicates.dear: there is no facet or column 'pryce'; did you mean 'price'?"
    ]
    assert "is hidden" in problems("""noted = "note = 'x'\"""")[0]
    assert "a column of this name" in problems('due_on = "price > 1"')[0]
    with pytest.raises(DeclarationError, match=r"quarry\.toml:9: collections\.tickets\.predicates\.overdue"):
        problems('overdue = "due_on <"')
