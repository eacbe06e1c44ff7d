"""Numbers in SQL as the Query writes them: arithmetic as a field path, parts of dates, and what is computed of aggregates.

What only rounds, casts, or keeps a divisor from being 0 is left out: the Query divides by nothing to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

Json = dict[str, Any]

SIGNS: dict[type[exp.Expression], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
PAIRED: dict[type[exp.Expression], str] = {exp.Add: "sum", exp.Sub: "difference", exp.Mul: "product", exp.Div: "ratio"}
FUNCTIONS: dict[type[exp.Expression], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.Stddev: "stddev",
}  # fmt: skip
_PARTS = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour"}
_PERIODS = ("%Y", "%Y-%m", "%Y-%m-%d")
_LENGTHS = {4: "%Y", 7: "%Y-%m", 10: "%Y-%m-%d"}
"""The periods that the beginnings of a written date are, by their length."""


class Unwritable(Exception):
    """The part of a SELECT that no query can express."""


def bare(value: exp.Expression) -> exp.Expression:
    """The value without what only shows it differently."""
    while isinstance(value, exp.Paren | exp.Cast | exp.TryCast | exp.Round) or _keeps_nothing(value):
        value = value.this
    return value


def _keeps_nothing(value: exp.Expression) -> bool:
    """Whether it says what stands for nothing, or for 0."""
    others = [value.expression] if isinstance(value, exp.Nullif) else value.expressions
    return isinstance(value, exp.Nullif | exp.Coalesce) and len(others) == 1 and _is_number(others[0], 0)


def _is_number(value: exp.Expression, number: float | None = None) -> bool:
    value = bare(value)
    return isinstance(value, exp.Literal) and not value.is_string and (number is None or float(value.this) == number)


def is_aggregated(value: exp.Expression) -> bool:
    """Whether it is computed over rows."""
    return any(
        isinstance(each, exp.AggFunc)
        for each in value.walk(prune=lambda each: isinstance(each, exp.Select | exp.Subquery))
    )


def arithmetic(value: exp.Expression, path: Callable[[exp.Column], str]) -> str:
    """A value of a row as a field path. Raises Unwritable."""
    value = bare(value)
    if isinstance(value, exp.Column):
        return path(value)
    if isinstance(value, exp.Neg):
        return f"(0 - {arithmetic(value.this, path)})"
    if type(value) in SIGNS:
        left, right = (arithmetic(each, path) for each in (value.left, value.right))
        return f"({left} {SIGNS[type(value)]} {right})"
    if isinstance(value, exp.Literal) and not value.is_string:
        return str(value.this)
    if isinstance(value, exp.Abs):
        return f"abs({arithmetic(value.this, path)})"
    if isinstance(value, exp.CurrentTimestamp | exp.CurrentDate):
        return "today"
    if isinstance(value, exp.Extract):
        return f"{value.this.name.lower()}({arithmetic(value.expression, path)})"
    if isinstance(value, exp.TimeToStr) and value.args["format"].name in _PARTS:
        return f"{_PARTS[value.args['format'].name]}({arithmetic(value.this, path)})"
    raise Unwritable(f"a {type(value).__name__}")


def period_of(value: exp.Expression) -> exp.Expression | None:
    """The date whose period, as the Query writes it, a value is: of `to_char(day, 'YYYY-MM')` or `substr(day, 1, 7)` the day."""
    value = bare(value)
    if isinstance(value, exp.TimeToStr) and value.args["format"].name in _PERIODS:
        return bare(value.this)
    if isinstance(value, exp.Substring) and _is_number(value.args["start"], 1):
        return bare(value.this) if int(bare(value.args["length"]).name) in _LENGTHS else None
    return None


def number(
    value: exp.Expression,
    path: Callable[[exp.Column], str],
    condition: Callable[[exp.Expression], Json],
) -> Json | float:
    """A number of aggregates as the Query writes it. Raises Unwritable."""
    value = bare(value)
    if isinstance(value, exp.Literal) and not value.is_string:
        return float(value.this) if "." in value.this else int(value.this)
    if type(value) in PAIRED:
        parts = [number(each, path, condition) for each in (value.left, value.right)]
        return {PAIRED[type(value)]: parts}
    if isinstance(value, exp.Filter):
        inner = number(value.this, path, condition)
        assert isinstance(inner, dict)
        return {**inner, "where": [condition(value.expression.this)]}
    if type(value) not in FUNCTIONS:
        raise Unwritable(f"a {type(value).__name__}")
    return _aggregate(value, path, condition)


def _aggregate(
    value: exp.Expression, path: Callable[[exp.Column], str], condition: Callable[[exp.Expression], Json]
) -> Json:
    function, inner, distinct = FUNCTIONS[type(value)], bare(value.this), ""
    if isinstance(inner, exp.Distinct):
        inner, distinct = bare(inner.expressions[0]), "_distinct"
    where: list[Json] = []
    if isinstance(inner, exp.Case) and inner.this is None and len(inner.args["ifs"]) == 1:
        [case] = inner.args["ifs"]
        other = inner.args.get("default")
        is_nothing = other is None or isinstance(other, exp.Null) or (function == "sum" and _is_number(other, 0))
        if not is_nothing:
            raise Unwritable("a case of several values")
        where, inner = [condition(case.this)], bare(case.args["true"])
        if isinstance(inner, exp.Distinct):
            inner, distinct = bare(inner.expressions[0]), "_distinct"
    elif isinstance(inner, exp.EQ | exp.GT | exp.LT | exp.GTE | exp.LTE | exp.NEQ | exp.And) and function == "sum":
        where, inner = [condition(inner)], exp.Literal.number(1)
    if isinstance(inner, exp.Star) or (_is_number(inner) and function == "count"):
        return _with({"fn": "count"}, where)
    if _is_number(inner, 1) and function == "sum":
        return _with({"fn": "count"}, where)
    return _with({"fn": f"{function}{distinct}", "field": arithmetic(inner, path)}, where)


def _with(aggregate: Json, where: list[Json]) -> Json:
    return {**aggregate, "where": where} if where else aggregate


def ranked(
    value: exp.Expression, path: Callable[[exp.Column], str], condition: Callable[[exp.Expression], Json]
) -> Json:
    """A rank by a number of the group, the highest first. A value of a row is the highest of the group that the row is."""
    order = value.args["order"].expressions if value.args.get("order") else []
    is_rank = type(value.this).__name__ in ("Rank", "DenseRank", "RowNumber") and not value.args.get("partition_by")
    if not is_rank or len(order) != 1 or not order[0].args.get("desc"):
        raise Unwritable("a window")
    [by] = order
    of = by.this if is_aggregated(by.this) else exp.Max(this=by.this)
    return {"rank": [number(of, path, condition)]}


def own_columns(condition: exp.Expression) -> Iterator[exp.Column]:
    """The columns of a condition, except those in subqueries."""
    for node in condition.walk(prune=lambda each: isinstance(each, exp.Select | exp.Subquery)):
        if isinstance(node, exp.Column):
            yield node


def literal(value: exp.Expression) -> str | int | float:
    value = bare(value)
    if isinstance(value, exp.Neg):
        negated = literal(value.this)
        assert not isinstance(negated, str)
        return -negated
    if isinstance(value, exp.Column) and not value.table:
        return str(value.name)
    if not isinstance(value, exp.Literal):
        raise Unwritable("arithmetic" if isinstance(value, exp.Binary) else f"a {type(value).__name__}")
    if value.is_string:
        return str(value.this)
    return float(value.this) if "." in value.this else int(value.this)


def conjuncts(condition: exp.Expression) -> list[exp.Expression]:
    """The conditions of a conjunction."""
    if isinstance(condition, exp.And):
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]


def without_truths(tree: exp.Expression) -> exp.Where | None:
    """The conditions of a statement, without those that are always true."""
    remaining = [each for each in conjuncts(tree.args["where"].this) if not isinstance(each, exp.Boolean)]
    return exp.Where(this=exp.and_(*remaining)) if remaining else None


def is_measured(value: exp.Expression) -> bool:
    """Whether it is a number of a group: an aggregate, or a rank."""
    return isinstance(value, exp.Window) or is_aggregated(value)
