"""Queries for rows: one page of them, in order, with the total, in one statement. Pure."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry.query.base import ROW, Base
from quarry.query.conditions import aggregate_of, array_of, many_values, or_of_none, path_operand
from quarry.query.functions import ordered
from quarry.query.paths import Path, invalid, resolve
from quarry.query.scope import Scope

ROWS_DEFAULT = 100
"""Rows of a page, unless the query says how many."""
ROW_FIELDS = ("id", "title")
"""What a row shows, unless the query selects fields."""


def page_of_rows(base: Base) -> tuple[Composed, list[Path]]:
    """The statement of one page, with the total in every row: of no rows one without a place. And the paths of its columns.

    The total is counted apart, so that the page can stop early by an index or a short sort; where conditions join other rows it
    is counted with the page, so that they are joined once. What is shown of related rows is computed for the page alone.
    """
    query, order = base.query, order_of(base)
    paths: list[Path] = []
    own: list[Composable] = [SQL("{} as k").format(SQL(base.source.key(ROW)))]
    cells: list[Composable] = []
    joins: list[Composable] = []
    for place, name in enumerate(query.select or ROW_FIELDS):
        with base.building.collected():
            pointer = f"{base.pointer}/select/{place}"
            path = resolve(name, base.scope.rows, base.building.schema, pointer)
            column = Identifier(f"c{len(paths)}")
            if _is_related(base, path):
                joins.append(_of_page(base, path, pointer, column))
                cells.append(SQL("{} as {}").format(_related_cell(path, column), column))
            else:
                own.append(SQL("{} as {}").format(_cell(base, path, pointer), column))
                cells.append(SQL("page.{}").format(column))
            paths.append(path)
    if base.joins:
        own.append(SQL("count(*) over () as total"))
    sql = SQL(
        "with page as (select x.*, row_number() over () as place"
        " from (select {} from {} where {} order by {} limit {} offset {}) x)"
        " select {}, page.place, {} as total from (select) one left join page on true{} order by page.place"
    ).format(
        SQL(", ").join(own),
        base.scope.tables,
        base.where,
        order,
        Literal(query.limit or ROWS_DEFAULT),
        Literal(query.offset),
        SQL(", ").join(cells),
        _total(base),
        SQL("").join(joins),
    )
    return sql, paths


def _total(base: Base) -> Composed:
    """How many rows there are, on every page."""
    if not base.joins:
        return SQL("({})").format(base.counted)
    return SQL("coalesce(page.total, ({}))").format(base.counted if base.query.offset else SQL("0"))


def _is_related(base: Base, path: Path) -> bool:
    """Whether a column is read of related rows, and not for the order of rows anyway."""
    return path.leads_to_many and not path.is_array and path.text not in {order.by for order in base.query.order}


def _cell(base: Base, path: Path, pointer: str) -> Composable:
    return array_of(base.scope, path) if path.is_many else path_operand(base.scope, path, pointer).value


def _of_page(base: Base, path: Path, pointer: str, name: Identifier) -> Composed:
    """A join with what is computed over the related rows of the page's rows: the planner reads them by an index, or all once."""
    owner = Scope(base.building, base.scope.rows, base.building.alias())
    rows, value = many_values(owner, path, pointer)
    computed = (
        SQL("array_agg(distinct {0} order by {0}) filter (where {0} is not null)").format(value)
        if path.over is None
        else aggregate_of(path, value)
    )
    key = SQL(base.source.key(owner.alias))
    return SQL(
        " left join (select p.k, {} as v from page p, {}, {} where {} = p.k and {} group by p.k) {} on {}.k = page.k"
    ).format(computed, owner.tables, rows.scope.tables, key, rows.on, name, name)


def _related_cell(path: Path, name: Identifier) -> Composable:
    """What a row shows of its related rows: a number, or a list of their different values."""
    value = SQL("{}.v").format(name)
    return SQL("coalesce({}, '{{}}')").format(value) if path.over is None else or_of_none(path, value)


def order_of(base: Base) -> Composed:
    """As was asked for; then by date, the latest first, then by key."""
    scope, terms = base.scope, list[Composable]()
    for place, order in enumerate(base.query.order):
        with base.building.collected():
            pointer = f"{base.pointer}/order/{place}/by"
            path = resolve(order.by, scope.rows, base.building.schema, pointer)
            if path.is_many:
                raise invalid(
                    pointer, f"{order.by} may have several values a row: order by min({order.by}) or max({order.by})"
                )
            value = ordered(path_operand(scope, path, pointer).value, path.kind)
            terms.append(SQL("{} {} nulls last").format(value, SQL(order.direction)))
    dated = base.source.fields.get(base.source.dated or "")
    if dated is not None and not dated.is_array and dated.related is None:
        terms.append(SQL("{} desc nulls last").format(SQL(dated.sql(ROW))))
    return SQL(", ").join([*terms, SQL(base.source.key(ROW))])
