"""A Query as one parameterised statement, every name quoted by the schema, every value a parameter; and its result, in values
that JSON has. And its conditions as a part of another statement, and which of them given rows meet.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import Any, LiteralString, NamedTuple

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import EXACT_MAX
from quarry.postgres.pool import Database
from quarry.query.conditions import (
    Reader,
    aggregate_of,
    array_of,
    each_met,
    many_values,
    or_of_none,
    path_operand,
    words_condition,
)
from quarry.query.expressions import ROW, Base, Building, Scope, Values, folded, ordered
from quarry.query.groups import bucket_name, column_of, grouped, may_cut_ties, page_of, source_of_groups, tie_name
from quarry.query.paths import Path, source_of
from quarry.query.phrases import Phrases
from quarry.query.values import invalid, period_name
from quarry.schema.algebra import (
    LIMIT_MAX,
    Aggregate,
    Cell,
    Column,
    Comparison,
    Condition,
    Group,
    Period,
    Query,
    Result,
    check_size,
    comparisons_of,
)
from quarry.schema.source import Kind, Schema, Source

_COUNTING = frozenset(("count", "count_distinct"))


def check_listing(query: Query, source: Source, pointer: str) -> None:
    """Raises InvalidInput for a query that lists rows of a source with `found_by`, or names them by a group, a least value or an
    order, unless it gives their ids. Counts and groups may be asked for.
    """
    if not source.found_by or _names_ids(query):
        return
    places = ["/where"] if query.asks_for_rows else list(dict.fromkeys(_naming(query, source)))
    if places:
        raise InvalidInput([FieldError(pointer + each, source.found_by) for each in places])


def _names_ids(query: Query) -> bool:
    return any(
        isinstance(each, Comparison) and (each.field, each.op) == ("id", "=") and each.scalars for each in query.where
    )


def _naming(query: Query, source: Source) -> Iterator[str]:
    """Where a query without rows tells one row of the source from the others."""
    for place, group in enumerate(query.group):
        if is_naming(group.field, source):
            yield f"/group/{place}"
    for place, aggregate in enumerate(query.aggregate):
        if any(
            is_naming(leaf.name if leaf.own_name is None else f"{leaf.fn}({leaf.field})", source)
            for leaf in aggregate.leaves
        ):
            yield f"/aggregate/{place}"
    if any(is_naming(each.field, source) for each in comparisons_of(query.having)):
        yield "/having"
    for place, order in enumerate(query.order):
        if is_naming(order.by, source):
            yield f"/order/{place}"


def is_naming(path: str, source: Source) -> bool:
    """Whether a path, or what is computed over it, tells one row of the source from the others."""
    function, _, inner = path.rpartition("(")
    field = inner.rstrip(") ").strip()
    own = {"id", "title"} - source.fields.keys()
    return bool(source.found_by) and field in {*own, *source.naming} and function.strip() not in _COUNTING


ROWS_DEFAULT = 100
"""Rows of a page, unless the query says how many."""
ROW_FIELDS = ("id", "title")
"""The fields of a row, unless the query selects others."""


def page_of_rows(base: Base) -> tuple[Composed, list[Path]]:
    """The statement of one page, with the total in every row: of no rows one without a place. And the paths of its columns.

    The total is counted apart, so that the page can stop early by an index or a short sort; where conditions join other rows it
    is counted with the page, so that they are joined once. What is shown of related rows is computed for the page alone.
    """
    query, order, limit = base.query, _terms(base), base.query.limit or ROWS_DEFAULT
    paths, own, cells, joins = _columns(base)
    if may_cut_ties(query):
        # one more row says whether it ties with the last
        limit += 1
        names = [tie_name(at) for at in range(len(query.order))]
        own += [SQL("{} as {}").format(value, name) for name, (value, _) in zip(names, order, strict=False)]
        cells += [SQL("page.{}").format(name) for name in names]
    page = SQL("order by {} limit {}").format(_ordered(order), Literal(limit))
    numbered = SQL("row_number() over ()").format()
    if query.ties:
        # ties are ordered after the page, which an index may find
        names = [Identifier(f"o{at}") for at in range(len(order))]
        own += [SQL("{} as {}").format(value, name) for name, (value, _) in zip(names, order, strict=True)]
        page = SQL("order by {} fetch first {} rows with ties").format(
            _ordered(order[: len(query.order)]), Literal(limit)
        )
        terms = [(SQL("x.{}").format(name), how) for name, (_, how) in zip(names, order, strict=True)]
        numbered = SQL("row_number() over (order by {})").format(_ordered(terms))
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
        Literal(max(LIMIT_MAX, limit)),
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
            path = base.scope.resolve(name, pointer)
            column = Identifier(f"c{len(paths)}")
            if _is_related(base, path):
                joins.append(_of_page(base, path, pointer, column))
                cells.append(SQL("{} as {}").format(_related_cell(path, column), column))
            else:
                scope = base.scope
                cell = array_of(scope, path) if path.is_many else path_operand(scope, path, pointer).value
                own.append(SQL("{} as {}").format(cell, column))
                cells.append(SQL("page.{}").format(column))
            paths.append(path)
    if base.joins:
        own.append(SQL("count(*) over () as total"))
    return paths, own, cells, joins


def _total(base: Base) -> Composed:
    """The number of all rows, the same on every page."""
    if not base.joins:
        return SQL("({})").format(base.row_count)
    return SQL("coalesce(page.total, ({}))").format(base.row_count if base.query.offset else SQL("0"))


def _is_related(base: Base, path: Path) -> bool:
    """Whether a column is read from related rows, unless the order of rows needs it anyway."""
    return path.leads_to_many and not path.is_array and path.text not in {order.by for order in base.query.order}


def _of_page(base: Base, path: Path, pointer: str, name: Identifier) -> Composed:
    """A join with values computed over the related rows of the page's rows. The planner reads them by an index, or all once."""
    owner = Scope(base.building, base.scope.source, base.building.alias())
    rows, value = many_values(owner, path, pointer)
    computed = (
        SQL("array_agg(distinct {0} order by {0}) filter (where {0} is not null)").format(value)
        if path.over is None
        else aggregate_of(path, value, rows.scope)
    )
    key = SQL(base.source.key(owner.alias))
    return SQL(
        " left join (select p.k, {} as v from page p, {}, {} where {} = p.k and {} group by p.k) {} on {}.k = page.k"
    ).format(computed, owner.tables, rows.scope.tables, key, rows.on, name, name)


def _related_cell(path: Path, name: Identifier) -> Composable:
    """The cell for related rows: a number, or a list of their different values."""
    value = SQL("{}.v").format(name)
    return SQL("coalesce({}, '{{}}')").format(value) if path.over is None else or_of_none(path, value)


_Term = tuple[Composable, SQL]
"""A value to order by, and how."""


def _ordered(terms: Sequence[_Term]) -> Composed:
    return SQL(", ").join(SQL("{} {}").format(*term) for term in terms)


def _terms(base: Base) -> list[_Term]:
    """The query's order; then by date, the latest first, then by key."""
    scope, terms = base.scope, list[_Term]()
    for place, order in enumerate(base.query.order):
        with base.building.collected():
            pointer = f"{base.pointer}/order/{place}/by"
            path = scope.resolve(order.by, pointer)
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


class Statement(NamedTuple):
    """A statement whose rows have the columns `c0`, `c1` …, `place` from 1 within the page, and `total`; where there is nothing,
    one row without a place. Of groups it gives one more than `limit`. `periods` and `rounded` say how its columns are shown.
    For the aggregates that are `measured`, `odd` are how many values are no finite numbers, of `each`.
    """

    sql: Composed
    parameters: Mapping[str, Any]
    columns: tuple[Column, ...]
    periods: tuple[Period | None, ...]
    rounded: tuple[bool, ...]
    limit: int
    offset: int
    of_rows: bool
    ties: int = 0
    """How many columns `tie_0` … have the values by which what is behind the limit may tie with the last."""
    measured: tuple[str, ...] = ()
    buckets: tuple[Group | None, ...] = ()


def compile_query(query: Query, schema: Schema, today: datetime.date) -> Statement:
    """The statement that answers a query. Raises InvalidInput for what the schema does not have, with what comes nearest."""
    check_size(query)
    building = Building(schema, today, lambda nested, pointer: values_of(building, nested, pointer))
    base = base_of(building, query, "")
    statement = _rows(base) if base.query.asks_for_rows else _groups(base)
    if building.errors:
        raise InvalidInput(building.errors)
    return statement


def uncomputed(source: Source, schema: Schema) -> dict[str, str]:
    """Why measures of a source cannot be computed: what they add up has different units, or no such field exists."""
    reasons: dict[str, str] = {}
    dated = next((name for name, each in source.fields.items() if each.kind in ("date", "datetime")), None)
    # some go from period to period
    group = (Group(field=dated, period="month"),) if dated else ()
    for name in source.measures:
        query = Query(source=source.name, aggregate=(Aggregate(fn="measure", field=name),), group=group)
        try:
            compile_query(query, schema, datetime.date.min)
        except InvalidInput as error:
            reasons[name] = "; ".join(dict.fromkeys(each.message for each in error.errors))
    return reasons


def _groups(base: Base) -> Statement:
    limit = LIMIT_MAX if base.query.ties else base.query.limit or LIMIT_MAX
    groups = grouped(base, limit + 1)
    return Statement(
        page_of(groups),
        base.building.parameters,
        (*(key.column for key in groups.keys), *(number.column for number in groups.numbers)),
        (*(key.group.period for key in groups.keys), *(None for _ in groups.numbers)),
        (*(key.is_rounded for key in groups.keys), *(number.is_rounded for number in groups.numbers)),
        limit,
        base.query.offset,
        of_rows=False,
        ties=len(groups.ordered_by),
        measured=tuple(number.column.name for number in groups.measured),
        buckets=tuple(key.group if key.group.is_bucketed else None for key in groups.keys),
    )


def _rows(base: Base) -> Statement:
    sql, paths = page_of_rows(base)
    return Statement(
        sql,
        base.building.parameters,
        tuple(Column(path.text, path.label, path.kind, path.unit) for path in paths),
        (None,) * len(paths),
        tuple(path.is_rounded for path in paths),
        LIMIT_MAX if base.query.ties else base.query.limit or ROWS_DEFAULT,
        base.query.offset,
        of_rows=True,
        ties=len(base.query.order) if may_cut_ties(base.query) else 0,
    )


def base_of(building: Building, query: Query, pointer: str) -> Base:
    """The rows of a query, or of what it asks about its groups. Raises InvalidInput for an unknown source."""
    source = source_of(building.schema, query.source, f"{pointer}/source")
    with building.collected():
        check_listing(query, source, pointer)
    if query.then is None:
        return _base_in(building, query, source, pointer)
    groups = grouped(_base_in(building, query, source, pointer), query.limit)
    if building.errors:
        raise InvalidInput(building.errors)
    return _base_in(building, query.then, source_of_groups(groups, source), f"{pointer}/then")


def _base_in(building: Building, query: Query, source: Source, pointer: str) -> Base:
    scope = Scope(building, source, ROW)
    fixed = [SQL("({})").format(SQL(source.guard(ROW)))]
    met = each_met(Reader(building, scope), query.where, f"{pointer}/where")
    if query.text.strip():
        with building.collected():
            fixed.append(SQL("({})").format(words_condition(scope, query.text.strip(), f"{pointer}/text")))
    return Base(query, pointer, source, scope, scope.tables, scope.joins, fixed, met)


def values_of(building: Building, query: Query, pointer: str) -> Values:
    """A query as a subquery of one column. Unlike a query by itself it has no default limit."""
    base = base_of(building, query, pointer)
    query = base.query
    is_single = query.limit == 1 or bool(query.aggregate and not query.group)
    sql, kind = _row_values(base) if query.asks_for_rows else _group_values(base)
    value = folded(SQL("q.v")) if kind == "text" else SQL("q.v")
    return Values(SQL("select {} from ({}) q").format(value, sql), kind, is_single)


def _row_values(base: Base) -> tuple[Composed, Kind]:
    query, pointer = base.query, f"{base.pointer}/select/0"
    if len(query.select) > 1:
        raise invalid(f"{base.pointer}/select", "a query that is compared with gives one column: `select` one field")
    path = base.scope.resolve([*query.select, *ROW_FIELDS][0], pointer)
    if path.is_many:
        raise invalid(pointer, f"{path.text} may have several values a row: ask its own source")
    value = path_operand(base.scope, path, pointer).value
    page = SQL("").format()
    if query.limit is not None or query.offset:
        order = _ordered(_terms(base))
        page = SQL(" order by {} limit {} offset {}").format(order, Literal(query.limit), Literal(query.offset))
    return SQL("select {} as v from {} where {}{}").format(value, base.scope.tables, base.where, page), path.kind


def _group_values(base: Base) -> tuple[Composed, Kind]:
    query = base.query
    if len(query.aggregate) > 1 or (not query.aggregate and len(query.group) > 1):
        raise invalid(base.pointer, "a query used as a value must have one column: one aggregate, or one group")
    if not query.aggregate and query.group[0].period:
        raise invalid(f"{base.pointer}/group/0/period", "periods cannot be compared with values")
    groups = grouped(base, query.limit)
    if not groups.keys and not groups.numbers:
        return SQL("select null as v").format(), "text"  # its errors are collected
    return column_of(groups), groups.numbers[0].kind if groups.numbers else groups.keys[0].kind


DIGITS = 12
"""Significant digits of averages and shares, whose decimals may never end."""


async def execute(database: Database, query: Query, schema: Schema, today: datetime.date) -> Result:
    """The exact result of a query, under the rights that `database` has. Raises InvalidInput."""
    statement = await off_loop(compile_query, query, schema, today)
    return result_of(statement, await database.rows(statement.sql, statement.parameters))


def result_of(statement: Statement, rows: Sequence[Mapping[str, Any]]) -> Result:
    """The result that the rows of a statement make."""
    placed = [row for row in rows if row["place"] is not None]
    shapes = list(zip_longest(statement.periods, statement.rounded, statement.buckets))
    cells = [
        [
            bucket_name(bucket, row[f"c{place}"]) if bucket else cell_of(row[f"c{place}"], period, rounded)
            for place, (period, rounded, bucket) in enumerate(shapes)
        ]
        for row in placed[: statement.limit]
    ]
    total = int(rows[0]["total"])
    tied = bool(statement.ties and len(placed) > statement.limit) and all(
        placed[statement.limit - 1][name] == placed[statement.limit][name]
        for name in (f"tie_{place}" for place in range(statement.ties))
    )
    if statement.of_rows:
        return Result(list(statement.columns), cells, total, total > statement.offset + len(cells), tied)
    groups, grouped = int(rows[0]["groups"]), int(rows[0]["grouped"])
    unfinite = {
        name: (odd, each)
        for name, odd, each in zip(statement.measured, rows[0]["odd"] or (), rows[0]["each"] or (), strict=False)
        if odd
    }
    return Result(list(statement.columns), cells, total, len(placed) > statement.limit, tied, groups, grouped, unfinite)


def cell_of(value: Any, period: Period | None = None, rounded: bool = False) -> Cell:
    """A value of Postgres as JSON has it: moments in the session's time zone, periods by name; as text what no number of
    JSON is, and whole numbers that many readers would round.
    """
    if rounded and isinstance(value, Decimal) and value.is_finite():
        return _number(Decimal(f"{value:.{DIGITS}g}"))
    if isinstance(value, list):
        return [_scalar(each) for each in value]
    if period is not None and isinstance(value, datetime.date):
        return period_name(value, period)
    return _scalar(value)


def _scalar(value: Any) -> str | int | float | bool | None:
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) <= EXACT_MAX else str(value)
        case Decimal():
            return _number(value)
        case float():
            return value if math.isfinite(value) else _number(Decimal(value))
        case datetime.datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return moment.isoformat().replace("+00:00", "Z")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return str(value)


def _number(value: Decimal) -> str | int | float | bool | None:
    if not value.is_finite():
        return "NaN" if value.is_nan() else "Infinity" if value > 0 else "-Infinity"
    return _scalar(int(value)) if value == value.to_integral_value() else float(value)


class _WithoutParameters(Building):
    """A statement whose values stand in it as quoted literals."""

    def parameter(self, value: object) -> Composable:
        return Literal(value)

    def text(self, value: str) -> LiteralString:
        return Literal(value).as_string(None)

    def once(self, expression: Composable) -> Composable:
        # it is evaluated while it is planned: so the planner knows how many rows meet it
        return expression


class RowConditions:
    """Conditions on the rows `t` of a source, for one statement. Values become `parameters`; without these, quoted literals."""

    def __init__(self, source: str, schema: Schema, today: datetime.date, parameters: dict[str, Any] | None) -> None:
        self._source = source
        building = _WithoutParameters if parameters is None else Building
        self._building = building(
            schema,
            today,
            lambda nested, pointer: values_of(self._building, nested, pointer),
            {} if parameters is None else parameters,
            joins=False,
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self._building.parameters

    def parameter(self, value: object) -> Composable:
        """Another value of the statement."""
        return self._building.parameter(value)

    def met(self, conditions: Sequence[Condition]) -> Composed:
        """True of the rows that the caller may see and that meet all conditions. Raises InvalidInput for what the schema
        does not have, with pointers below `/where`.
        """
        query = Query(source=self._source, where=tuple(conditions))
        check_size(query)
        base = base_of(self._building, query, "")
        if self._building.errors:
            raise InvalidInput(self._building.errors)
        if not base.joins:
            return base.where
        key = SQL(base.source.key(ROW))
        # read once: IS TRUE keeps the planner from a nested loop
        return SQL("({} in (select {} from {} where {}) is true)").format(key, key, base.scope.tables, base.where)

    @property
    def keys_max(self) -> int:
        """Up to this number of rows, those that meet the conditions are selected by their keys."""
        return KEYS_ACROSS_MAX if self._building.reads_others else KEYS_MAX

    def keys(self, met: Composable) -> Composed:
        """Selects the `keys` of the rows that meet a condition; null for more than `keys_max`."""
        source, most = self._building.schema.sources[self._source], self.keys_max
        array = SQL("array(select ({})::text from {} t where {} limit {})").format(
            SQL(source.key(ROW)), SQL(source.rows), met, Literal(most + 1)
        )
        # OFFSET 0: otherwise the array would be read for each place that names it
        statement = SQL(
            "select case when cardinality(f.keys) <= {} then f.keys end as keys from (select {} as keys offset 0) f"
        )
        return statement.format(Literal(most), array)


KEYS_MAX, KEYS_ACROSS_MAX = 10_000, 25_000
"""For so many rows conditions are read once, over the source as a whole; otherwise they are tested for each row with a word,
which costs more where they look other rows up.
"""

SERIAL: Mapping[str, str] = {"max_parallel_workers_per_gather": "0"}
"""For a statement that reads `keys`. Its parallel workers would take half as much CPU again, which other searches need."""

COSTS_MAX = 10
"""Costs are computed for at most this many conditions."""


async def meets_and_misses(
    database: Database,
    conditions: Sequence[Condition],
    source: str,
    schema: Schema,
    keys: Sequence[str],
    today: datetime.date,
) -> dict[str, list[bool]]:
    """Whether the rows of these keys meet each condition by itself, by key. Raises DatabaseUnavailable."""
    if not keys or not conditions:
        return {}
    rows, of = RowConditions(source, schema, today, {}), schema.sources[source]
    met = SQL(", ").join(SQL("coalesce({}, false)").format(rows.met([each])) for each in conditions)
    statement = SQL(
        "select {key} as key, array[{met}]::boolean[] as met from {table} t where {key} = any({keys})"
    ).format(key=SQL(of.key(ROW)), met=met, table=SQL(of.rows), keys=rows.parameter(list(keys)))
    return {row["key"]: row["met"] for row in await database.rows(statement, rows.parameters)}


async def costs(
    database: Database, conditions: Sequence[Condition], phrases: Phrases, today: datetime.date
) -> list[tuple[str, int]]:
    """How many rows there would be without each condition alone, by what it is called, most first; none of more than `COSTS_MAX`.
    Raises DatabaseUnavailable.
    """
    if not 0 < len(conditions) <= COSTS_MAX:
        return []
    rows = RowConditions(phrases.source.name, phrases.schema, today, {})
    others = [[*conditions[:place], *conditions[place + 1 :]] for place in range(len(conditions))]
    counts = SQL(", ").join(
        SQL("(select count(*) from {} t where {})").format(SQL(phrases.source.rows), rows.met(each)) for each in others
    )
    row = await database.row(SQL("select array[{}]::bigint[] as counts").format(counts), rows.parameters)
    assert row is not None
    labels = [phrases.condition(each) for each in conditions]
    return sorted(zip(labels, row["counts"], strict=True), key=lambda each: -each[1])
