"""Queries with groups: one row for each different value, in one statement. Pure.

b  what is read of each row: keys, spellings, the values that are aggregated
r  with which rows are the first in their group that lead to another row, whose numbers are counted once
g  the groups                f  with the empty steps of a period
q  those of texts as they are spelt, which add up to g
h  those that `having` keeps     p  one page of them, in order
s  the most frequent spelling of each text
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import LiteralString, NamedTuple

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry.query.conditions import NamedOperand, Reader, joined_by, key_of_name, many_values, path_operand
from quarry.query.expressions import DATES, Base, Operand, Scope, display_of, first_day, key_of
from quarry.query.numbers import Number, Numbers, length_of
from quarry.query.paths import NUMERIC, Path, unknown
from quarry.query.values import invalid, period_start
from quarry.schema.algebra import Column, Comparison, Condition, Group, Operator, Period, Query
from quarry.schema.source import Field, Kind, Source

FILL_MAX = 1_000
"""Most empty steps of a period that are filled in."""


class Key(NamedTuple):
    """What rows are grouped by: `k` compares, `x` is a text's spelling, `i` the key of the row that is called so. `is_many`: a
    row may be in several groups.
    """

    group: Group
    column: Column
    kind: Kind
    place: int
    k: Composable
    x: Composable | None
    is_many: bool
    is_rounded: bool
    i: Composable | None = None
    y: Composable | None = None
    """The text itself, and what it is compared by and shown as, over the column with the text."""
    folding: tuple[Composable, Composable | None] | None = None
    value: Composable | None = None
    """The value itself, if a row has only one."""

    @property
    def name(self) -> Identifier:
        return Identifier(f"k{self.place}")

    @property
    def names(self) -> list[Identifier]:
        """The columns that tell its groups apart."""
        return [self.name] if self.i is None else [self.name, Identifier(f"i{self.place}")]


class Grouped(NamedTuple):
    """The groups of a query. `page` reads them as `p`, with `place` from 1, after the tables of `parts`."""

    base: Base
    keys: list[Key]
    numbers: list[Number]
    parts: list[Composed]
    within: Composable
    """True of the groups that are asked for, not of those before them."""
    in_parts: bool = False
    """Whether `q` has the groups of texts as they are spelt."""
    ordered_by: Sequence[Composable] = ()
    """The values of the order that is asked for, by which the groups behind the limit may tie with the last."""

    @property
    def measured(self) -> list[Number]:
        """The numbers whose values may be NaN or infinite."""
        return [each for each in self.numbers if each.unfinite is not None]


def grouped(base: Base, limit: int | None) -> Grouped:
    """The groups, or without `group` the one row of numbers, that a query asks for: `limit` of them at most."""
    query, pointer, building = base.query, base.pointer, base.building
    keys: list[Key] = []
    listed: list[Number] = []
    numbers = Numbers(base.scope)
    for place, group in enumerate(query.group):
        with building.collected():
            keys.append(_key(base, group, len(keys), f"{pointer}/group/{place}"))
    numbers.keys = [name for key in keys for name in key.names]
    numbers.period = next(((key.place, key.group.period) for key in keys if key.group.period), None)
    begins = _begins(base, keys, numbers)
    if begins is not None:
        key, start = keys[numbers.period[0] if numbers.period else 0], Literal(begins)
        numbers.shown = SQL("coalesce({} >= {}, true)").format(key.name, start)
    for place, aggregate in enumerate(query.aggregate):
        with building.collected():
            listed.append(numbers.add(aggregate, f"{pointer}/aggregate/{place}"))

    def operand(name: str, where: str) -> Operand:
        return _operand(base, keys, numbers, name, where)

    having = joined_by(" and ", Reader(building, None, operand), query.having, f"{pointer}/having")
    terms, order = _order(base, keys, listed, operand)
    sort_keys = SQL(", ").join(SQL("{} {}").format(*term) for term in terms)
    values = [value for value, _ in terms] if may_cut_ties(query) else []
    tied: Composable = SQL("h")
    if query.ties:
        tied = SQL("(select * from h order by {} offset {} fetch first {} rows with ties)").format(
            sort_keys, Literal(query.offset), Literal(query.limit)
        )
    within = _within(keys, listed, operand, base)
    parts = [
        # no copy of the rows is kept
        SQL("b as not materialized (select {} from {} where {})").format(
            _row_columns(keys, numbers), base.scope.tables, _where(base, keys, numbers, begins)
        ),
        SQL("r as (select b.*{} from b)").format(_firsts(keys, numbers)),
        *_groups(base, keys, numbers),
        *_derived(numbers),
        *_remaining(
            SQL("{} and {}").format(numbers.shown, having),
            within,
            "f" if not numbers.derived else f"d{numbers.derived[-1].place}",
        ),
        SQL(
            "p as (select *, row_number() over (order by {}) as place{} from {} h order by place limit {} offset {})"
        ).format(order, _tie_columns(values), tied, Literal(limit), Literal(0 if query.ties else query.offset)),
    ]
    return Grouped(base, keys, listed, parts, numbers.shown, _in_parts(keys, numbers), values)


def may_cut_ties(query: Query) -> bool:
    """Whether what is behind its limit may tie with the last by its order."""
    return bool(query.limit and query.order and not query.ties)


def tie_name(place: int) -> Identifier:
    """The column with the value by which rows or groups tie."""
    return Identifier(f"tie_{place}")


def _tie_columns(values: Sequence[Composable]) -> Composed:
    return SQL("").join(SQL(", {} as {}").format(value, tie_name(at)) for at, value in enumerate(values))


def _begins(base: Base, keys: list[Key], numbers: Numbers) -> datetime.date | None:
    """The first day of the first period that the conditions ask for, if they leave out earlier ones."""
    if numbers.period is None:
        return None
    place, period = numbers.period
    key = next(each for each in keys if each.place == place)
    first, _ = _days(base, key)
    try:
        return None if first is None or key.value is None else period_start(first, period)
    except (ValueError, OverflowError):
        return None


def _where(base: Base, keys: list[Key], numbers: Numbers, begins: datetime.date | None) -> Composable:
    """True of the rows that are read: those of the query, and those of the periods before its first that numbers go back to."""
    if begins is None or not numbers.back or numbers.period is None or len(base.met) != len(base.query.where):
        return base.where
    key = next(each for each in keys if each.place == numbers.period[0])
    try:
        from_day = period_start(begins, numbers.period[1], -numbers.back)
    except (ValueError, OverflowError):
        from_day = datetime.date.min
    bounds = [met for met, each in zip(base.met, base.query.where, strict=True) if _is_bound(each, key)]
    others = [met for met, each in zip(base.met, base.query.where, strict=True) if not _is_bound(each, key)]
    earlier = SQL("({0} >= {1} and {0} < {2})").format(key.value, Literal(from_day), Literal(begins))
    dated = SQL("({} or {})").format(SQL(" and ").join(bounds), earlier)
    return SQL(" and ").join([*base.fixed, *others, dated])


def _is_bound(condition: Condition, key: Key) -> bool:
    """Whether a condition bounds the periods of a group."""
    return isinstance(condition, Comparison) and condition.field == key.group.field and condition.op in _BOUNDS


def _derived(numbers: Numbers) -> list[Composed]:
    """What is computed of the numbers of groups, each after those that it is computed of."""
    tables: list[Composed] = []
    before = "f"
    for number in numbers.derived:
        name = f"d{number.place}"
        tables.append(
            SQL("{} as (select *, {} as {} from {})").format(
                Identifier(name), number.sql, number.name, Identifier(before)
            )
        )
        before = name
    return tables


_Within = tuple[list[Identifier], Composed, int]
"""The columns of the groups within which others are counted, their order there, and how many are kept."""


def _within(keys: list[Key], listed: list[Number], operand: NamedOperand, base: Base) -> list[_Within]:
    """What the `limit` of groups keeps: of the last, of its values within the groups before; of another, of what follows it."""
    limits: list[_Within] = []
    for key in keys:
        if key.group.limit is None:
            continue
        terms: list[Composable] = []
        for place, order in enumerate(key.group.order):
            with base.building.collected():
                value = operand(order.by, f"{base.pointer}/group/{key.place}/order/{place}/by").value
                terms.append(SQL("{} {} nulls last").format(value, SQL(order.direction)))
        if not terms:
            terms += [SQL("h.{} desc nulls last").format(number.name) for number in listed[:1]]
        outer = keys[: key.place] if key is keys[-1] else keys[: key.place + 1]
        terms += [SQL("h.{} nulls last").format(name) for each in keys for name in each.names]
        limits.append(([name for each in outer for name in each.names], SQL(", ").join(terms), key.group.limit))
    return limits


def _remaining(having: Composed, within: list[_Within], table: str) -> list[Composed]:
    """`h`, the groups that `having` keeps, and of these the first within others."""
    if not within:
        return [SQL("h as (select * from {} h where {})").format(Identifier(table), having)]
    ranks = [
        SQL("row_number() over ({}order by {}) as {}").format(
            SQL("partition by {} ").format(SQL(", ").join(SQL("h.{}").format(name) for name in names))
            if names
            else SQL(""),
            order,
            Identifier(f"w_{place}"),
        )
        for place, (names, order, _) in enumerate(within)
    ]
    ranked_first = [
        SQL("{} <= {}").format(Identifier(f"w_{place}"), Literal(each[2])) for place, each in enumerate(within)
    ]
    return [
        SQL("h as (select * from (select *, {} from {} h where {}) h where {})").format(
            SQL(", ").join(ranks), Identifier(table), having, SQL(" and ").join(ranked_first)
        )
    ]


def total_of(groups: Grouped) -> Composed:
    """The number of rows in the groups. A row with several values is in several groups, and counts once."""
    if any(key.is_many for key in groups.keys):
        return SQL("({})").format(groups.base.row_count)
    return SQL("(select coalesce(sum(n), 0) from g where {})").format(groups.within)


def page_of(groups: Grouped) -> Composed:
    """The statement of one page, with the total in every row: of no groups one row without a place."""
    spelled = [key for key in groups.keys if key.x is not None]
    columns = [
        SQL("{}.x").format(_spelling(key)) if key.x is not None else SQL("p.{}").format(key.name) for key in groups.keys
    ]
    columns += [SQL("p.{}").format(number.name) for number in groups.numbers]
    cells = [SQL("{} as {}, ").format(column, Identifier(f"c{i}")) for i, column in enumerate(columns)]
    cells += [SQL("p.{}, ").format(tie_name(at)) for at in range(len(groups.ordered_by))]
    joins = [SQL(" left join {0} on {0}.k = p.{1}").format(_spelling(key), key.name) for key in spelled]
    return SQL(
        "with {} select {}p.place, {} as total, (select count(*) from h) as groups,"
        " (select coalesce(sum(n), 0) from f where {}) as grouped, {}, {}"
        " from (select) one left join p on true{} order by p.place"
    ).format(
        SQL(", ").join([*groups.parts, *(_spellings(key, in_parts=groups.in_parts) for key in spelled)]),
        SQL("").join(cells),
        total_of(groups),
        groups.within,
        *(_unfinite(groups, place, name) for place, name in enumerate(("odd", "each"), 1)),
        SQL("").join(joins),
    )


def bucket_name(group: Group, value: object) -> str | None:
    """How a bucket is shown: `10 to 20` holds 10, and not 20."""
    if not isinstance(value, int | Decimal):
        return None
    if group.width is not None:
        return f"{value:f} to {value + Decimal(str(group.width)):f}" if Decimal(value).is_finite() else str(value)
    place, borders = int(value), group.borders
    if place == 0:
        return f"under {borders[0]}"
    return f"{borders[-1]} and more" if place == len(borders) else f"{borders[place - 1]} to {borders[place]}"


def source_of_groups(groups: Grouped, source: Source) -> Source:
    """The groups as rows that can be asked about: their keys and numbers are fields, by the names that the query has for them."""
    rows = SQL("(select * from ({}) q where q.place is not null)").format(page_of(groups)).as_string()
    columns: list[tuple[Column, Kind]] = [
        (key.column, "date" if key.group.period else "number" if key.group.is_bucketed else key.kind)
        for key in groups.keys
    ]
    columns += [(number.column, number.kind) for number in groups.numbers]
    fields = {
        column.name: Field(
            column.name, kind, partial("{1}.c{0}".format, place), column.label, column.label,
            unit=None if kind == "money" else column.unit, currency=column.unit if kind == "money" else None,
        )
        for place, (column, kind) in enumerate(columns)
    }  # fmt: skip
    first = groups.keys[0].column.label
    return Source(source.name, source.label, (first,), rows, "{}.place".format, "({}.c0)::text".format, fields)


def _unfinite(groups: Grouped, place: int, name: str) -> Composed:
    """How many values of each measured number are not finite (1), or how many values it has (2), in all groups."""
    sums = [SQL("sum(w{}[{}])").format(Literal(each.place), Literal(place)) for each in groups.measured]
    condition = (
        SQL("(select array[{}]::bigint[] from g where {})").format(SQL(", ").join(sums), groups.within)
        if sums
        else SQL("null::bigint[]")
    )
    return SQL("{} as {}").format(condition, Identifier(name))


def column_of(groups: Grouped) -> Composed:
    """The only aggregate, else the only group, as a subquery reads it."""
    name = groups.numbers[0].name if groups.numbers else groups.keys[0].name
    return SQL("with {} select {} as v from p").format(SQL(", ").join(groups.parts), name)


def _key(base: Base, group: Group, place: int, pointer: str) -> Key:
    scope = base.scope
    path = scope.resolve(group.field, f"{pointer}/field")
    if group.period is not None and path.kind not in DATES:
        raise invalid(f"{pointer}/period", f"{group.field} is {path.kind}: only dates have periods")
    if group.is_bucketed and path.kind not in NUMERIC:
        raise invalid(f"{pointer}/field", f"{group.field} is {path.kind}: only numbers have buckets")
    column = Column(group.field, path.label, "text" if group.is_bucketed else path.kind, path.unit)
    if path.is_many:
        k, x = _several(scope, path, group, f"{pointer}/field")
        return Key(group, column, path.kind, place, k, x, True, False)
    operand = path_operand(scope, path, f"{pointer}/field")
    k, x = _compared(operand.value, path, group)
    row_key = key_of_name(scope, path) if path.names_rows else None
    key = Key(group, column, path.kind, place, k, x, False, path.is_rounded, row_key, value=operand.value)
    if x is None:
        return key
    return key._replace(
        y=SQL("({})::text").format(operand.value), folding=_compared(Identifier(f"x{place}"), path, group)
    )


def _several(scope: Scope, path: Path, group: Group, pointer: str) -> tuple[Composed, Composed | None]:
    """The keys of a row with several values, which is joined with each different one."""
    rows, value = many_values(scope, path, pointer, at_once=True)
    k, x = _compared(value, path, group)
    alias = SQL(scope.building.alias())
    values = rows.select(SQL("{} as o, {} as k, {} as x").format(rows.owner_key, k, x or SQL("null")))
    scope.add(
        SQL(
            "left join {} (select distinct on (o, k) o, k, x from ({}) e where k is not null order by o, k, x) {} on {}"
        ).format(
            SQL("lateral" if rows.owner is None else ""),
            values,
            alias,
            SQL("true") if rows.owner is None else SQL("{}.o = {}").format(alias, rows.outer_key),
        )
    )
    return SQL("{}.k").format(alias), x and SQL("{}.x").format(alias)


def _compared(value: Composable, path: Path, group: Group) -> tuple[Composed, Composed | None]:
    """The key of a value, and the spelling of a text."""
    if group.period is not None:
        return first_day(value, group.period), None
    if group.width is not None:
        return SQL("(floor(({0})::numeric / {1}) * {1})").format(value, Literal(Decimal(str(group.width)))), None
    if group.borders:
        borders = Literal([Decimal(str(each)) for each in group.borders])
        return SQL("width_bucket(({})::numeric, {}::numeric[])").format(value, borders), None
    kind, folds = path.kind, isinstance(path.end, Field) and path.end.folds
    return key_of(value, kind, folds=folds), display_of(value, kind) if kind == "text" else None


def _operand(base: Base, keys: list[Key], numbers: Numbers, name: str, pointer: str) -> Operand:
    """The operand for a name in `having` or `order`: a group's field, or an aggregate."""
    for key in keys:
        if key.group.field == name:
            kind: Kind = "date" if key.group.period else "number" if key.group.is_bucketed else key.kind
            return Operand(SQL("h.{}").format(key.name), kind, name)
    number = numbers.by_name(name, pointer)
    if number is None:
        names = [*(key.group.field for key in keys), *(number.column.name for number in numbers.all), "count"]
        raise unknown(pointer, "a query with groups", "group or aggregate", name, [*names, *base.scope.source.measures])
    return Operand(SQL("h.{}").format(number.name), number.kind, name)


def _order(
    base: Base, keys: list[Key], listed: list[Number], operand: NamedOperand
) -> tuple[list[tuple[Composable, SQL]], Composed]:
    """What was asked for, and the whole order: that, else periods first to last, the first aggregate highest first; then the
    groups' own values.
    """
    requested: list[tuple[Composable, SQL]] = []
    for place, order in enumerate(base.query.order):
        with base.building.collected():
            value = operand(order.by, f"{base.pointer}/order/{place}/by").value
            requested.append((value, SQL(f"{order.direction} nulls last")))
    terms: list[Composable] = [SQL("{} {}").format(*term) for term in requested]
    if not terms:
        limited = next((key.place for key in keys if key.group.limit is not None), None)
        outer = [] if limited is None else keys[: limited or 1] if len(keys) > 1 else []
        terms += [SQL("h.{} nulls last").format(name) for key in outer for name in key.names]
        terms += [SQL("h.{} nulls last").format(key.name) for key in keys if key.group.period or key.group.is_bucketed]
        terms += [SQL("h.{} desc nulls last").format(number.name) for number in listed[:1]]
    terms += [SQL("h.{} nulls last").format(name) for key in keys for name in key.names]
    return requested, SQL(", ").join(terms or [SQL("h.n")])


def _row_columns(keys: list[Key], numbers: Numbers) -> Composed:
    """The columns that are read from each row."""
    columns: list[Composable] = [SQL("{} as {}").format(key.k, key.name) for key in keys]
    columns += [SQL("{} as {}").format(key.i, key.names[1]) for key in keys if key.i is not None]
    columns += [SQL("{} as {}").format(key.y or key.x, _text(key)) for key in keys if key.x is not None]
    columns += [SQL("{} as {}").format(value, Identifier(f"a{at}")) for at, value in enumerate(numbers.columns)]
    return SQL(", ").join(columns)


def _firsts(keys: list[Key], numbers: Numbers) -> Composed:
    """The columns that say whether a row is the first of its group with some value."""
    by = SQL("").join(
        SQL("{}{}, ").format(name, SQL(' collate "C"' if key.x is not None or name != key.name else ""))
        for key in keys
        for name in key.names
    )
    firsts = [
        SQL(", row_number() over (partition by {}{}) = 1 as {}").format(by, of, name) for of, name in numbers.firsts
    ]
    return SQL("").join(firsts)


def _groups(base: Base, keys: list[Key], numbers: Numbers) -> list[Composed]:
    """`g`, and `f`, in which the empty steps of a period that is the only group are filled in."""
    groups = _of_parts(keys, numbers) if _in_parts(keys, numbers) else [_whole(keys, numbers)]
    if len(keys) != 1 or not (keys[0].group.period or keys[0].group.is_bucketed) or not numbers.all:
        return [*groups, SQL("f as (select * from g)").format()]
    filled = [SQL("coalesce(g.{0}, {1}) as {0}").format(each.name, each.of_none) for each in numbers.over_rows]
    return [
        *groups,
        _steps(base, keys[0], keys[0].group.period) if keys[0].group.period else _buckets(keys[0].group),
        SQL(
            "f as (select coalesce(g.k0, e.k0) as k0, coalesce(g.n, 0) as n, {} from g full join e on e.k0 = g.k0)"
        ).format(SQL(", ").join(filled)),
    ]


def _whole(keys: list[Key], numbers: Numbers) -> Composed:
    """`g` over the rows."""
    values = [SQL("{} as {}").format(number.sql, number.name) for number in numbers.over_rows]
    values += [
        SQL("{} as {}").format(number.unfinite, Identifier(f"w{number.place}"))
        for number in numbers.over_rows
        if number.unfinite is not None
    ]
    return _grouped_table("g", "r", [name for key in keys for name in key.names], values, "count(*)")


def _in_parts(keys: list[Key], numbers: Numbers) -> bool:
    """Whether rows are grouped by texts as they are spelt first, so that each different text is folded once, and by the other
    rows whose numbers count once.
    """
    is_added_up = all(number.parted is not None for number in numbers.over_rows) and len(numbers.once) < 2
    return (
        is_added_up and bool(numbers.once or any(key.folding for key in keys)) and not any(key.is_many for key in keys)
    )


def _of_parts(keys: list[Key], numbers: Numbers) -> list[Composed]:
    """`q`, the groups of texts as they are spelt, and `g`, the groups that these make."""
    once = [Identifier(name) for name in numbers.once]
    others = [name for key in keys for name in key.names[1:]]
    by = [*(_text(key) if key.folding else key.name for key in keys), *others, *once]
    key_columns = [SQL("{} as {}").format(key.folding[0] if key.folding else key.name, key.name) for key in keys]
    parts, added, whole = list[Composable](), list[Composable](), list[Composable]()
    for number in numbers.over_rows:
        for prefix, parted in (("v", number.parted), ("w", number.unfinite_parted)):
            if parted is None:
                continue
            names = [Identifier(f"{prefix}{number.place}_{at}") for at, _ in enumerate(parted.parts)]
            parts += [SQL("{} as {}").format(*each) for each in zip(parted.parts, names, strict=True)]
            added += [SQL("{} as {}").format(*each) for each in zip(parted.added(names), names, strict=True)]
            whole.append(SQL("{} as {}").format(parted.sql(names), Identifier(f"{prefix}{number.place}")))
    tables = [_grouped_table("q", "b", by, parts, "count(*)")]
    if once:
        tables.append(_grouped_table("q1", "q", [*key_columns, *others, *once], added, "sum(n)"))
        return [
            *tables,
            _grouped_table("g", "q1", [*(key.name for key in keys), *others], whole, "coalesce(sum(n), 0)::bigint"),
        ]
    return [*tables, _grouped_table("g", "q", [*key_columns, *others], whole, "coalesce(sum(n), 0)::bigint")]


def _grouped_table(
    name: LiteralString, of: LiteralString, by: Sequence[Composable], numbers: Sequence[Composable], n: LiteralString
) -> Composed:
    """The groups `by` the first columns, with their numbers and how many rows they have."""
    places = SQL(", ").join(Literal(place) for place in range(1, len(by) + 1))
    grouped = SQL(" group by {}").format(places) if by else SQL("")
    columns = SQL(", ").join([*by, *numbers, SQL("{} as n").format(SQL(n))])
    return SQL("{} as (select {} from {}{})").format(SQL(name), columns, SQL(of), grouped)


def _text(key: Key) -> Identifier:
    return Identifier(f"x{key.place}")


def _steps(base: Base, key: Key, period: Period) -> Composed:
    """`e`, the steps of a period: from `a` to `b`, the first and the last with rows, or from `c` to `d`, the days asked for too,
    where these are not too many.
    """
    first, last = _days(base, key)
    last = min(last, base.building.today) if last else None
    ends = (first_day(SQL("{}::date").format(Literal(day)), period) for day in (first, last))
    return SQL(
        "e as (select s::date as k0 from"
        " (select *, d < c + {most} as fits from (select min(k0) as a, max(k0) as b, least(min(k0), {first}) as c,"
        " greatest(max(k0), {last}) as d from g where isfinite(k0)) ends) m,"
        " generate_series(case when fits then c else a end::timestamp,"
        " case when fits then d else least(b, a + {most}) end::timestamp, {step}) s where a is not null)"
    ).format(
        first=next(ends),
        last=next(ends),
        step=length_of(period),
        most=SQL("{} * {}").format(FILL_MAX, length_of(period)),
    )


def _buckets(group: Group) -> Composed:
    """`e`, the buckets between the first and the last with rows, or between the borders, where these are not too many."""
    if group.borders:
        return SQL("e as (select generate_series(1, {}) as k0)").format(Literal(len(group.borders) - 1))
    return SQL(
        "e as (select generate_series(a, least(b, a + {1} * {0}), {0}) as k0 from"
        " (select min(k0) as a, max(k0) as b from g where k0 < 'Infinity' and k0 > '-Infinity') ends)"
    ).format(Literal(Decimal(str(group.width))), FILL_MAX)


def _days(base: Base, key: Key) -> tuple[datetime.date | None, datetime.date | None]:
    """The first and the last day that conditions on the rows ask for, None where they leave that open."""
    firsts: list[datetime.date] = []
    lasts: list[datetime.date] = []
    for place, condition in enumerate(base.query.where):
        if not isinstance(condition, Comparison) or not _is_bound(condition, key):
            continue
        with base.building.collected():
            pointer = f"{base.pointer}/where/{place}"
            spans = [base.building.interval(value, key.kind, pointer) for value in condition.scalars]
            if spans and condition.op not in ("<", "<="):
                firsts.append(min(span.after if condition.op == ">" else span.first for span in spans))
            if spans and condition.op not in (">", ">="):
                lasts.append(max(span.before if condition.op == "<" else span.last for span in spans))
    return max(firsts, default=None), min(lasts, default=None)


_BOUNDS: frozenset[Operator] = frozenset(("=", "between", "<", "<=", ">", ">="))
"""The operators that set an end of a range of days."""


def _spellings(key: Key, *, in_parts: bool) -> Composed:
    """The most frequent spelling of each text. Each different text is folded once."""
    texts = SQL("select {} as k, {} as x, count(*) as n from b where {} is not null group by 1, 2").format(
        key.name, _text(key), key.name
    )
    if key.folding is not None:
        k, x = key.folding
        spelt = SQL("select {}, {} as n from {} group by 1").format(
            _text(key), SQL("sum(n)" if in_parts else "count(*)"), SQL("q" if in_parts else "b")
        )
        texts = SQL(
            "select k, x, sum(n) as n from (select {} as k, {} as x, n from ({}) e) e where k is not null group by 1, 2"
        ).format(k, x, spelt)
    return SQL("{} as (select distinct on (k) k, x from ({}) e order by k, n desc, x)").format(_spelling(key), texts)


def _spelling(key: Key) -> Identifier:
    return Identifier(f"s{key.place}")
