"""Queries for rows: one page of them, in order, with the total, in one statement. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry.query.algebra import LIMIT_MAX
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
    query, order, limit = base.query, _terms(base), base.query.limit or ROWS_DEFAULT
    paths, own, cells, joins = _columns(base)
    page = SQL("order by {} limit {}").format(_ordered(order), Literal(limit))
    numbered = SQL("row_number() over ()").format()
    if query.ties:
        # those that tie are put in order behind what an index may find
        names = [Identifier(f"o{at}") for at in range(len(order))]
        own += [SQL("{} as {}").format(value, name) for name, (value, _) in zip(names, order, strict=True)]
        page = SQL("order by {} fetch first {} rows with ties").format(
            _ordered(order[: len(query.order)]), Literal(limit)
        )
        known = [(SQL("x.{}").format(name), how) for name, (_, how) in zip(names, order, strict=True)]
        numbered = SQL("row_number() over (order by {})").format(_ordered(known))
    sql = SQL(
        "with page as (select * from (select x.*, {} as place from (select {} from {} where {} {} offset {}) x) y"
        " order by y.place limit {})"
        " select {}, page.place, {} as total from (select) one left join page on true{} order by page.place"
    ).format(
        numbered,
        SQL(", ").join(own),
        base.scope.tables,
        base.where,
        page,
        Literal(query.offset),
        Literal(LIMIT_MAX),
        SQL(", ").join(cells),
        _total(base),
        SQL("").join(joins),
    )
    return sql, paths


def _columns(base: Base) -> tuple[list[Path], list[Composable], list[Composable], list[Composable]]:
    """The paths that are shown, the columns of the inner select, the cells of the page, and the joins for the page alone."""
    paths: list[Path] = []
    own: list[Composable] = [SQL("{} as k").format(SQL(base.source.key(ROW)))]
    cells: list[Composable] = []
    joins: list[Composable] = []
    for place, name in enumerate(base.query.select or ROW_FIELDS):
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
    return paths, own, cells, joins


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
    return _ordered(_terms(base))


_Term = tuple[Composable, SQL]
"""A value to order by, and how."""


def _ordered(terms: Sequence[_Term]) -> Composed:
    return SQL(", ").join(SQL("{} {}").format(*term) for term in terms)


def _terms(base: Base) -> list[_Term]:
    scope, terms = base.scope, list[_Term]()
    for place, order in enumerate(base.query.order):
        with base.building.collected():
            pointer = f"{base.pointer}/order/{place}/by"
            path = resolve(order.by, scope.rows, base.building.schema, pointer)
            if path.is_many:
                raise invalid(
                    pointer, f"{order.by} may have several values a row: order by min({order.by}) or max({order.by})"
                )
            value = ordered(path_operand(scope, path, pointer).value, path.kind)
            terms.append((value, SQL("desc nulls last" if order.direction == "desc" else "asc nulls last")))
    dated = base.source.fields.get(base.source.dated or "")
    if dated is not None and not dated.is_array and dated.related is None:
        terms.append((SQL(dated.sql(ROW)), SQL("desc nulls last")))
    return [*terms, (SQL(base.source.key(ROW)), SQL("asc"))]
