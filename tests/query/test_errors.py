"""What a query names in vain is refused with a pointer to it and the nearest names."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from quarry.platform.errors import InvalidInput
from quarry.query.execute import Statement, compile_query
from quarry.schema.algebra import Query
from quarry.schema.source import Schema
from tests.query.desk_schema import AGENT, DESK, TICKET

TODAY = datetime.date(2026, 7, 20)


def compiled(source: str = "tickets", **query: Any) -> Statement:
    return compile_query(Query.model_validate({"source": source, **query}), DESK, TODAY)


def errors(source: str = "tickets", **query: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as raised:
        compiled(source, **query)
    return {error.pointer: error.message for error in raised.value.errors}


@pytest.mark.parametrize(
    ("query", "pointer", "said"),
    [
        ({"source": "ticket"}, "/source", "tickets"),
        ({"select": ["titel"]}, "/select/0", "title"),
        ({"select": ["agent.nam"]}, "/select/0", "name"),
        ({"select": ["agents.name"]}, "/select/0", "agent"),
        ({"select": ["agent"]}, "/select/0", "agent.name"),
        ({"select": ["comments"]}, "/select/0", "count(comments)"),
        ({"select": ["sum(comments.author)"]}, "/select/0", "needs a number"),
        ({"select": ["total(comments)"]}, "/select/0", "count"),
        ({"select": ["count(agent)"]}, "/select/0", "agent.name"),
        ({"select": ["max(cost)"]}, "/select/0", "one value a row"),
        ({"order": ["tags"]}, "/order/0/by", "min(tags)"),
        ({"where": [{"exists": "coments"}]}, "/where/0/exists", "comments"),
        ({"where": [{"exists": "comments", "where": [{"field": "word", "value": 1}]}]}, "/where/0/where/0/field", "words"),
        ({"where": [{"not": {"any_of": [{"field": "x", "value": 1}]}}]}, "/where/0/not/any_of/0/field", "x"),
        ({"where": [{"field": "hours", "op": ">", "value": "many"}]}, "/where/0/value", "not a number"),
        ({"where": [{"field": "hours", "values": [1, True]}]}, "/where/0/values/1", "number"),
        ({"where": [{"field": "hours", "value": "1e999999"}]}, "/where/0/value", "number"),
        ({"where": [{"field": "hours", "op": "contains", "value": 1}]}, "/where/0/op", "contains"),
        ({"where": [{"field": "opened_on", "value": "last fortnight"}]}, "/where/0/value", "2026-W40"),
        ({"where": [{"field": "opened_on", "value": "2026-02-30"}]}, "/where/0/value", "not a date"),
        ({"where": [{"field": "opened_on", "value": "2026-W60"}]}, "/where/0/value", "not a date"),
        ({"where": [{"field": "opened_on", "value": "9999"}]}, "/where/0/value", "not a date"),
        ({"where": [{"field": "urgent", "value": "maybe"}]}, "/where/0/value", "true or false"),
        ({"where": [{"field": "urgent", "op": ">", "value": True}]}, "/where/0/op", "true or false"),
        ({"where": [{"field": "status", "value": " "}]}, "/where/0/value", "is_null"),
        ({"where": [{"field": "hours", "value": {"field": "status"}}]}, "/where/0/value", "text"),
        ({"where": [{"field": "status", "value": {"field": "tags"}}]}, "/where/0/value/field", "several values"),
        ({"where": [{"field": "hours", "value": {"source": "comments", "select": ["author"]}}]}, "/where/0/value", "text"),
        ({"where": [{"field": "hours", "value": {"source": "comments"}}]}, "/where/0/value", "text"),
        (
            {"where": [{"field": "hours", "op": ">", "value": {"source": "comments", "select": ["words"]}}]},
            "/where/0/value",
            "limit it to 1",
        ),
        (
            {"where": [{"field": "id", "value": {"source": "comments", "where": {"field": "wrds", "value": 1}, "select": "id"}}]},
            "/where/0/value/where/0/field",
            "words",
        ),
        ({"aggregate": ["sum(status)"]}, "/aggregate/0/field", "needs a number"),
        ({"aggregate": ["max(urgent)"]}, "/aggregate/0/field", "true or false"),
        ({"group": [{"field": "status", "period": "month"}]}, "/group/0/period", "only dates"),
        ({"group": ["status"], "having": [{"field": "cont", "value": 1}]}, "/having/0/field", "count"),
        ({"group": ["status"], "order": ["stats"]}, "/order/0/by", "status"),
        ({"group": ["status"], "having": [{"exists": "comments"}]}, "/having/0", "`where`"),
        ({"aggregate": ["sum(cost + hours)"]}, "/aggregate/0/field", "same unit"),
        ({"aggregate": [{"sum": ["sum(cost)", "count"]}]}, "/aggregate/0/of", "same unit"),
        ({"aggregate": [{"product": ["sum(cost)", "max(cost)"]}]}, "/aggregate/0/of", "money"),
        ({"aggregate": ["sum(hours + )"]}, "/aggregate/0/field", "missing"),
        ({"aggregate": ["sum(hous * 2)"]}, "/aggregate/0/field", "hours"),
        ({"aggregate": ["sum(status * 2)"]}, "/aggregate/0/field", "text"),
        ({"aggregate": ["cont"]}, "/aggregate/0", "count"),
        ({"aggregate": ["median(opened_on)"]}, "/aggregate/0/field", "needs a number"),
        ({"aggregate": ["running(count)"], "group": ["status"]}, "/aggregate/0", "`period`"),
        ({"aggregate": ["sum(hours - comments.words)"]}, "/aggregate/0/field", "sum("),
        ({"select": ["opened_on + closed_at"]}, "/select/0", "subtract a date"),
        ({"select": ["age(hours)"]}, "/select/0", "not a date"),
        ({"select": ["hour(opened_on)"]}, "/select/0", "no hour"),
        ({"group": [{"field": "status", "width": 5}]}, "/group/0/field", "only numbers"),
        ({"group": ["status"], "then": {"aggregate": ["avg(cont)"]}}, "/then/aggregate/0/field", "status"),
        ({"source": "agents", "text": "Ada"}, "/text", "contains"),
        ({"source": "agents", "where": [{"words": "Ada"}]}, "/where/0/words", "contains"),
        ({"group": ["status"], "having": [{"words": "Ada"}]}, "/having/0", "`where`"),
    ],
)  # fmt: skip
def test_the_part_that_is_wrong_is_pointed_to(query: dict[str, Any], pointer: str, said: str) -> None:
    found = errors(**query)
    assert list(found) == [pointer]
    assert said in found[pointer]


def test_any_depth_of_json_is_an_error_of_the_client() -> None:
    condition: dict[str, Any] = {"field": "hours", "value": 1}
    for _ in range(2_000):
        condition = {"not": condition}
    with pytest.raises((ValidationError, InvalidInput)):
        compiled(where=[condition])


def test_a_source_that_the_caller_does_not_have_cannot_be_reached() -> None:
    schema = Schema({"tickets": TICKET})
    with pytest.raises(InvalidInput) as raised:
        compile_query(Query(source="tickets", select=("agent.name",)), schema, TODAY)
    assert raised.value.errors[0].pointer == "/select/0"


def test_predicates_that_refer_to_each_other_end() -> None:
    endless = Query.model_validate({"source": "agents", "where": [{"field": "idle", "value": True}]}).where
    source = replace(AGENT, predicates={"idle": endless})
    with pytest.raises(InvalidInput, match="idle"):
        compile_query(Query(source="agents", select=("idle",)), Schema({**DESK.sources, "agents": source}), TODAY)


def test_values_and_patterns_are_parameters() -> None:
    hostile = "'; drop table ticket; --"
    statement = compiled(
        where=[{"field": "status", "value": hostile}, {"field": "title", "op": "contains", "value": hostile}],
        text=hostile,
    )
    assert hostile not in statement.sql.as_string(None)
    assert list(statement.parameters.values()).count(hostile) == 2
