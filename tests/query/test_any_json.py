"""Whatever JSON is sent as a Query is a Query or is refused, never an error of ours."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, get_args

from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from quarry.query.contract import Understood
from quarry.schema.algebra import Function, Query

WORDS = ("amount", "count", "sum(amount)", "month(date)", "a.b", "2026-Q3", "today-1m", "rank", "like", "", "(", "💥")
KEYS = (
    *("source", "where", "select", "group", "aggregate", "having", "order", "limit", "field", "op", "value", "not"),
    *("any", "all", "exists", "per", "then", "fn", "of", "as", "name", "p", "steps", "by", "desc", "width", "borders"),
    *get_args(Function),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(), st.sampled_from(WORDS))
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=12,
)
QUERIES = st.fixed_dictionaries(
    {"source": st.just("orders")},
    optional=dict.fromkeys(("where", "group", "aggregate", "having", "order", "then", "select"), JSON),
)


@given(QUERIES)
@example({"source": "orders", "aggregate": [{"fn": []}]})
def test_a_query_is_valid_or_refused(value: dict[str, Any]) -> None:
    with suppress(ValidationError):
        Query.model_validate(value)


@given(st.dictionaries(st.sampled_from(sorted(Understood.model_fields)), st.one_of(JSON, QUERIES), max_size=5))
def test_what_was_understood_is_valid_or_refused(value: dict[str, Any]) -> None:
    with suppress(ValidationError):
        Understood.model_validate(value)
