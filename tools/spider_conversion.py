"""Converts gold SQL into queries mechanically: one SELECT, set operations as conditions, and queries about queries.

A SELECT can be written in several ways (about one table or another); those that keep the exact number of rows come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from tools.number_conversion import Json, Unwritable, number
from tools.select_conversion import Select, Written
from tools.spider_database import Database


def written(database: Database, tree: exp.Expression) -> Iterator[Written]:
    """The ways to write a statement as a query. Raises Unwritable if there is none."""
    if isinstance(tree, exp.Select):
        inner = _inner(tree)
        if inner is not None:
            yield from _of_subquery(database, tree, inner)
        else:
            yield from Select(database, tree, written).ways()
        return
    if tree.args.get("order") or tree.args.get("limit"):
        raise Unwritable("order of a set operation")
    yield from _set_operation(database, tree)


def _inner(tree: exp.Select) -> exp.Select | None:
    """The query that is the only table of another, by itself or by a name in `with`."""
    source = tree.args.get("from_") or tree.args.get("from")
    subqueries = {each.alias: each.this for each in (tree.args.get("with_") or exp.With()).expressions}
    table = source.this if source is not None and not tree.args.get("joins") else None
    inner = subqueries.get(table.name) if isinstance(table, exp.Table) else table.this if table is not None else None
    return inner if isinstance(inner, exp.Select) else None


def _of_subquery(database: Database, tree: exp.Select, inner: exp.Select) -> Iterator[Written]:
    """A query about the rows of another: about these rows themselves, or with `then` about its groups."""
    selected = {each.alias_or_name.lower(): each.unalias() for each in inner.expressions}
    if not any(inner.args.get(part) for part in ("group", "distinct", "limit", "having")):
        yield from written(database, _merged(tree, inner, selected))
        return
    places = [list(selected).index(each.name.lower()) for each in tree.expressions if each.name.lower() in selected]
    if len(places) == len(tree.expressions) and not any(tree.args.get(part) for part in ("where", "group", "order")):
        for way in written(database, inner):
            yield replace(way, places=tuple(way.places[place] for place in places))
        return
    for way in written(database, inner):
        if not way.query.get("group") or any(tree.args.get(part) for part in ("where", "group", "order", "limit")):
            continue
        numbers = _numbers_of_groups(tree, dict(zip(selected, map(way.column, way.places), strict=True)))
        yield Written({**way.query, "then": {"aggregate": numbers}}, tuple(range(len(numbers))))
    raise Unwritable("a query about another")


def _numbers_of_groups(tree: exp.Select, names: dict[str, str]) -> list[Json]:
    """The numbers that a statement computes of groups, whose columns are called by `names` in the query for them."""
    numbers = [
        number(each.unalias(), lambda column: names[column.name.lower()], _no_condition) for each in tree.expressions
    ]
    return [{"name": f"number {place}", **each} for place, each in enumerate(numbers, 1) if isinstance(each, dict)]


def _no_condition(condition: exp.Expression) -> Json:
    raise Unwritable("a condition on groups")


def _merged(tree: exp.Select, inner: exp.Select, selected: dict[str, exp.Expression]) -> exp.Select:
    """The outer statement over the tables of the inner one."""

    def of_inner(node: exp.Expression) -> exp.Expression:
        return (
            selected[node.name.lower()].copy()
            if isinstance(node, exp.Column) and node.name.lower() in selected
            else node
        )

    merged = tree.copy()
    for part in ("from", "from_", "joins", "with_"):
        merged.set(part, None)
    merged = merged.transform(of_inner)
    for part in ("from", "from_", "joins"):
        merged.set(
            part, inner.args[part].copy() if isinstance(inner.args.get(part), exp.Expression) else inner.args.get(part)
        )
    if inner.args.get("where"):
        merged = merged.where(inner.args["where"].this.copy())
    assert isinstance(merged, exp.Select)
    return merged


def _set_operation(database: Database, tree: exp.Expression) -> Iterator[Written]:
    left, right = tree.this, tree.expression
    if not isinstance(left, exp.Select):
        raise Unwritable("several set operations")
    select = Select(database, left, written)
    if isinstance(tree, exp.Union):
        yield from _united(database, select, right)
        return
    if not isinstance(tree, exp.Intersect | exp.Except):
        raise Unwritable(type(tree).__name__)
    op = "=" if isinstance(tree, exp.Intersect) else "!="
    places = select.identifying_places()
    if not places:
        raise Unwritable("a set operation over several columns")
    has_query = False
    for place in places:
        for other in written(database, _only(right, place)):
            for way in select.ways(extra=(place, op, other.query), distinct=True):
                has_query = True
                yield way
    if not has_query:
        raise Unwritable("a set operation")


def _united(database: Database, left: Select, right: exp.Expression) -> Iterator[Written]:
    """A union within one table: either condition holds. For a column of two tables: its values that are in either."""
    if not isinstance(right, exp.Select):
        raise Unwritable("several set operations")
    other = Select(database, right, written)
    for way in left.ways(distinct=True):
        for second in other.ways(distinct=True):
            one, two = way.query, second.query
            if _without_where(one) == _without_where(two) and not (one.get("having") or two.get("having")):
                either = {"any_of": [{"all_of": each.get("where", [])} for each in (one, two)]}
                if one.get("where") and two.get("where"):
                    yield replace(way, query={**one, "where": [either]})
                else:
                    yield replace(way, query=_without_where(one))
    raise Unwritable("a union of different tables")


def _without_where(query: Json) -> Json:
    return {key: value for key, value in query.items() if key != "where"}


def _only(tree: exp.Expression, place: int) -> exp.Expression:
    """The statement with only one of its columns."""
    tree = tree.copy()
    for select in [tree] if isinstance(tree, exp.Select) else [tree.this, tree.expression]:
        select.set("expressions", [select.expressions[place]])
    return tree
