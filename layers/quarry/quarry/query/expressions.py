"""Expressions as SQL over the rows that one FROM clause reads, with the joins that they need. A value, or any of the values of
related rows, is compared with scalars or with another query; values are compared, grouped and aggregated by case, spaces,
periods and precision alike. Pure.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

from psycopg.sql import SQL, Composable, Composed, Literal, Placeholder

from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.text import piece_pattern
from quarry.query.paths import NUMERIC, Path, Step, resolve
from quarry.query.values import Interval, interval_of, invalid, number_of, text_of, truth_of
from quarry.schema.algebra import PIECES, Comparison, Operator, Period, Query, Scalar
from quarry.schema.source import NO_VALUE, Kind, Schema, Source

if TYPE_CHECKING:
    from quarry.query.conditions import Reader

TRUE = SQL("true")


class Values(NamedTuple):
    """A query that a condition compares with, as a subquery of one column. `is_single`: it never has more than one row."""

    sql: Composed
    kind: Kind
    is_single: bool


@dataclass
class Building:
    """What all parts of one statement share: its parameters, the names of its rows, and the errors that were found."""

    schema: Schema
    today: datetime.date
    values_of: Callable[[Query, str], Values]
    parameters: dict[str, Any] = field(default_factory=dict)
    errors: list[FieldError] = field(default_factory=list)
    predicates: int = 0
    """The depth of predicates around the current expression."""
    joins: bool = True
    """Whether other rows may be joined to those of the statement; else they are read in subqueries of one row."""
    reads_others: bool = False
    """Whether a subquery reads other rows."""
    _aliases: int = 0

    def parameter(self, value: object) -> Composable:
        """A placeholder for a value."""
        return Placeholder(self.keep(value))

    def keep(self, value: object) -> LiteralString:
        """The name of the parameter that has a value."""
        name: LiteralString = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return name

    def text(self, value: str) -> LiteralString:
        """SQL of a text that is given, as a function of a source takes it."""
        return f"%({self.keep(value)})s"

    def once(self, expression: Composable) -> Composable:
        """An expression over parameters alone. A plan that is kept for any parameters would evaluate it for each row."""
        return SQL("(select {})").format(expression)

    def interval(self, value: Scalar, kind: Kind, pointer: str) -> Interval:
        """The days or the moment that a value names. Raises InvalidInput."""
        return interval_of(value, kind, self.today, pointer, self.schema.calendar.fiscal_year_start)

    def alias(self) -> LiteralString:
        """A name for rows that no other rows of the statement have."""
        self._aliases += 1
        return f"j{self._aliases}"

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collects errors that the block raises, to raise them together with those of other parts."""
        try:
            yield
        except InvalidInput as error:
            self.errors.extend(error.errors)


class Scope:
    """Rows that expressions are read from, by `alias`, with one LEFT JOIN for each reference that they follow."""

    def __init__(
        self, building: Building, source: Source, alias: LiteralString, table: Composable | None = None
    ) -> None:
        self.building = building
        self.source = source
        self.alias = alias
        self._tables: list[Composable] = [table or _table(source, alias)]
        self._reached: dict[tuple[str, str], tuple[LiteralString, Source]] = {}
        self._expressions: dict[str, Composable] = {}

    @property
    def tables(self) -> Composed:
        """The FROM clause, which grows with the expressions."""
        return SQL(" ").join(self._tables)

    @property
    def joins(self) -> bool:
        """Whether other rows are joined."""
        return len(self._tables) > 1

    def resolve(self, path: str, pointer: str) -> Path:
        """What a path means for these rows. Raises InvalidInput."""
        return resolve(path, self.source, self.building.schema, pointer)

    def reach(self, steps: Sequence[Step]) -> Scope:
        """The scope as seen from the rows that references lead to. Those that the caller may not see read as null."""
        scope = copy(self)
        for step in steps:
            name = (scope.alias, step.link.name)
            if name not in self._reached:
                self._reached[name] = self._join(scope.alias, step, "left join"), step.to
            scope.alias, scope.source = self._reached[name]
        return scope

    def follow(self, step: Step) -> Scope:
        """The scope as seen from all rows that a step leads to: it has one row for each of them."""
        scope = copy(self)
        scope.alias, scope.source = self._join(self.alias, step, "join"), step.to
        return scope

    def add(self, table: Composable) -> None:
        """Join what has no link."""
        self._tables.append(table)

    def cached(self, name: str, make: Callable[[], Composable]) -> Composable:
        """An expression over the row `alias`, made once."""
        name = f"{self.alias} {name}"
        if name not in self._expressions:
            self._expressions[name] = make()
        return self._expressions[name]

    def _join(self, alias: LiteralString, step: Step, how: LiteralString) -> LiteralString:
        to = self.building.alias()
        self.add(SQL("{} {} on {}").format(SQL(how), _table(step.to, to), joined(alias, step, to)))
        return to


def _table(source: Source, alias: LiteralString) -> Composed:
    return SQL("{} {}").format(SQL(source.rows), SQL(alias))


def joined(alias: LiteralString, step: Step, to: LiteralString) -> Composed:
    """True of a row and one that a step leads to, which the caller may see."""
    return SQL("({}) and ({})").format(SQL(step.link.on(alias, to)), SQL(step.to.guard(to)))


class Related(NamedTuple):
    """The related rows of one row, read in a subquery. `scope` is seen from where the path ends. With an `owner` they are read
    for all rows at once, of which that is the alias, and joined to the row of `outer`.
    """

    scope: Scope
    on: Composable
    outer: Scope | None = None
    owner: LiteralString | None = None

    def select(self, what: Composable, condition: Composable = TRUE) -> Composed:
        """`select …` of the related rows that meet a condition."""
        return SQL("select {} from {} where {} and {}").format(what, self._tables, self.on, condition)

    def any(self, condition: Composable) -> Composed:
        """Whether a related row meets a condition. Alone, or as one of several conditions that must all hold, the planner makes a
        join of EXISTS; within OR and NOT it would run it for each row, so that it is joined here. Where nothing is joined and
        no index finds the rows, it looks the row up among all owners, which it reads once: IS TRUE keeps it from a nested loop.
        """
        if self.owner is None:
            return SQL("exists ({})").format(self.select(SQL(""), condition))
        if not self.scope.building.joins:
            return SQL("({} in ({}) is true)").format(self.outer_key, self.select(self.owner_key, condition))
        return SQL("{}.k is not null").format(self.joined(None, condition))

    def joined(self, value: Composable | None, condition: Composable = TRUE) -> Composable:
        """The alias of a join with the owners that have related rows: `k` is their key, `v` an aggregate of these rows."""
        assert self.outer is not None
        alias = SQL(self.outer.building.alias())
        values = SQL("{} as k{}").format(self.owner_key, SQL("") if value is None else SQL(", {} as v").format(value))
        self.outer.add(
            SQL("left join ({} group by 1) {} on {}.k = {}").format(
                self.select(values, condition), alias, alias, self.outer_key
            )
        )
        return alias

    def of_row(self, aggregate: Composable) -> Composed:
        """An aggregate over the related rows of each row; null where there are none, unless it is of none as well."""
        if self.owner is None:
            return SQL("({})").format(self.select(aggregate))
        return SQL("{}.v").format(self.joined(aggregate))

    @property
    def owner_key(self) -> SQL:
        """The key of the owner; null where related rows are read of one row."""
        return self._key(self.owner)

    @property
    def outer_key(self) -> SQL:
        """The key of the row that they are joined to."""
        return self._key(None if self.outer is None else self.outer.alias)

    def _key(self, alias: LiteralString | None) -> SQL:
        return SQL("null" if self.outer is None or alias is None else self.outer.source.key(alias))

    @property
    def _tables(self) -> Composed:
        if self.owner is None or self.outer is None:
            return self.scope.tables
        return SQL("{}, {}").format(_table(self.outer.source, self.owner), self.scope.tables)


def are_indexed(steps: Sequence[Step]) -> bool:
    """Whether indexes lead along all these steps."""
    return all(step.link.is_indexed for step in steps)


def related(outer: Scope, steps: Sequence[Step], *, at_once: bool = False) -> Related:
    """The rows that `steps` lead to from the row of a scope; references before the first of several rows are joined to it.
    `at_once` reads them for all rows, where these have a key.
    """
    building = outer.building
    building.reads_others = True
    place = next((place for place, step in enumerate(steps) if step.link.is_many), len(steps) - 1)
    outer = outer.reach(steps[: place if building.joins else 0])
    reads_all = at_once if building.joins else not are_indexed(steps)
    owner = building.alias() if reads_all and outer.source.has_key else None
    first, *others = steps[place if building.joins else 0 :]
    scope = Scope(building, first.to, building.alias())
    on = joined(outer.alias if owner is None else owner, first, scope.alias)
    for step in others:
        scope = scope.follow(step) if step.link.is_many else scope.reach([step])
    return Related(scope, on, outer, owner)


def elements(building: Building, array: Composable) -> Related:
    """The elements of an array of one row, as rows with the column `v`."""
    alias = building.alias()
    return Related(
        Scope(
            building, Source("elements", "elements", (), "", NO_VALUE, NO_VALUE, {}), alias, element_table(array, alias)
        ),
        TRUE,
    )


def element_table(array: Composable, alias: LiteralString) -> Composed:
    """The elements of an array as a table with the column `v`."""
    return SQL("unnest({}) {} (v)").format(array, SQL(alias))


ROW = "t"
"""The alias of the rows of every query's source."""


class Base(NamedTuple):
    """A query's rows. `tables` and `where` count them; the scope may join more tables without changing the number."""

    query: Query
    pointer: str
    source: Source
    scope: Scope
    tables: Composed
    joins: bool
    """Whether `tables` are several."""
    fixed: Sequence[Composable]
    """What is true of its rows besides its conditions."""
    met: Sequence[Composable]
    """What is true where each of its conditions is met."""

    @property
    def where(self) -> Composed:
        """True of its rows."""
        return SQL(" and ").join([*self.fixed, *self.met])

    @property
    def row_count(self) -> Composed:
        """`select count(*) …` of the rows."""
        return SQL("select count(*) from {} where {}").format(self.tables, self.where)

    @property
    def building(self) -> Building:
        return self.scope.building


def folded(text: Composable) -> Composed:
    """Text in the form that is compared. An index on `lower(btrim(column))` serves it."""
    return SQL("lower(btrim(({})::text))").format(text)


def key_of(value: Composable, kind: Kind, *, folds: bool = False) -> Composed:
    """A value as groups and distinct counts compare it; blank text is null. `folds`: without regard to accents too."""
    if folds and kind == "text":
        return SQL("folded_value({})").format(value)
    return _unless_blank(value, folded(value)) if kind == "text" else SQL("({})").format(value)


def display_of(value: Composable, kind: Kind) -> Composed:
    """A value as a group shows it; blank text is null."""
    return _unless_blank(value, SQL("btrim(({})::text)").format(value)) if kind == "text" else SQL("({})").format(value)


def _unless_blank(value: Composable, condition: Composable) -> Composed:
    return SQL(r"(case when btrim(({})::text, E' \t\n\r\f\v') <> '' then {} end)").format(value, condition)


def ordered(value: Composable, kind: Kind) -> Composed:
    """A value in the form that rows are ordered by."""
    return folded(value) if kind == "text" else SQL("({})").format(value)


def first_day(value: Composable, period: Period) -> Composed:
    """The first day of the period that a date is in. The day of a moment is that in the time zone of the session, as where
    Postgres reads a date that moments are compared with.
    """
    return SQL("date_trunc({}, ({})::timestamp)::date").format(Literal(period), value)


def filtered(only: Composable | None) -> Composed:
    """What limits an aggregate to the rows for which `only` holds."""
    return SQL("").format() if only is None else SQL(" filter (where {})").format(only)


def aggregated(
    function: str, value: Composable | None, kind: Kind, only: Composable | None = None, fraction: float = 0.5
) -> Composed:
    """An aggregate over the rows for which `only` holds. No rows have a sum of 0. `fraction` says which percentile."""
    only_rows = filtered(only)
    if value is None:
        return SQL("count(*){}").format(only_rows)
    if function == "count":
        return SQL("count({}){}").format(display_of(value, kind), only_rows)
    if function == "count_distinct":
        return SQL("count(distinct {}){}").format(key_of(value, kind), only_rows)
    if function == "sum":
        return SQL("coalesce(sum(({})::numeric){}, 0)").format(value, only_rows)
    if function in ("avg", "stddev"):
        return SQL("{}(({})::numeric){}").format(SQL("avg" if function == "avg" else "stddev_samp"), value, only_rows)
    if function in ("median", "percentile"):
        # of numbers with a fraction in between, which only double precision has
        return SQL("(percentile_cont({}) within group (order by ({})::float8){})::numeric").format(
            Literal(fraction), value, only_rows
        )
    return SQL("{}({}){}").format(SQL("min" if function == "min" else "max"), display_of(value, kind), only_rows)


class Parted(NamedTuple):
    """An aggregate that can be computed in parts: the aggregates of each part, the function that adds them up, and what turns
    the sums into the whole. Where it `is_once`, a part is the value of one other row, and the whole is computed of these.
    """

    parts: tuple[Composed, ...]
    over: LiteralString
    whole: Callable[..., Composed]
    is_once: bool = False

    def added(self, names: Sequence[Composable]) -> list[Composed]:
        """The parts of several parts, by the names of their columns."""
        return [SQL("{}({})").format(SQL(self.over), name) for name in names]

    def sql(self, names: Sequence[Composable]) -> Composed:
        """The whole, of the columns with the parts."""
        return self.whole(*(names if self.is_once else self.added(names)))


_IN_PARTS: Mapping[str, tuple[tuple[str, ...], LiteralString, Callable[..., Composed]]] = {
    "count": (("count",), "sum", SQL("coalesce({}, 0)::bigint").format),
    "sum": (("sum",), "sum", SQL("coalesce({}, 0)").format),
    "avg": (("sum", "count"), "sum", SQL("({} / nullif({}, 0))").format),
    "min": (("min",), "min", SQL("{}").format),
    "max": (("max",), "max", SQL("{}").format),
}


def in_parts(function: str, value: Composable | None, kind: Kind, only: Composable | None = None) -> Parted | None:
    """The same aggregate over parts of the rows; None for one that parts do not add up to."""
    if function not in _IN_PARTS:
        return None
    parts, over, whole = _IN_PARTS[function]
    return Parted(tuple(aggregated(each, value, kind, only) for each in parts), over, whole)


DATES: frozenset[Kind] = frozenset({"date", "datetime"})
_POSITIVE: dict[Operator, Operator] = {"!=": "=", "is_null": "not_null"}

Holds = Callable[[Sequence[str], Building], Composable]
"""Whether a row holds one of some texts."""


class Operand(NamedTuple):
    """What a condition compares: one value a row, or, with `many`, the value of each of these related rows."""

    value: Composable
    kind: Kind
    name: str
    many: Related | None = None
    is_array: bool = False
    """Whether the values are elements of an array."""
    holds: Holds | None = None
    """How the values of the comparison that it was read for are compared, if they are spelt as in the data. An array is compared
    as a whole."""


def compared(operand: Operand, other: Operand | None, comparison: Comparison, reader: Reader, pointer: str) -> Composed:
    """True of the rows whose value, or one of whose values, compares so. `!=` and `is_null` deny that any does. `other` is the
    field that it is compared with.
    """
    op = _POSITIVE.get(comparison.op, comparison.op)
    is_denied = op != comparison.op
    if comparison.query is not None and op == "=" and operand.many is None and (is_denied or reader.at_once):
        return _with_many(operand, comparison.query, is_denied, reader, f"{pointer}/value")
    if other is None:
        met = _met(reader.building, operand, comparison.model_copy(update={"op": op}), pointer)
    else:
        met = _with_field(operand, op, other, pointer)
    return _of_rows(operand, met, is_denied=is_denied)


def holds_any(operand: Operand, comparison: Comparison, building: Building) -> Composed:
    """True of the rows that hold, or for `!=` do not hold, one of the values, which are spelt as in the data."""
    assert operand.holds is not None
    met = SQL("{}").format(operand.holds([str(value) for value in comparison.scalars], building))
    return _of_rows(operand, met, is_denied=comparison.op == "!=")


def _of_rows(operand: Operand, met: Composed, *, is_denied: bool) -> Composed:
    """True of the rows whose value, or one of whose values, meets a condition; where it `is_denied`, of the others."""
    if operand.many is None:
        return SQL("({}) is not true").format(met) if is_denied else met
    met = operand.many.any(met)
    # of NOT EXISTS the planner makes a join, of IS NOT TRUE it does not
    return SQL("not {}").format(met) if is_denied else met


def _with_many(operand: Operand, query: Query, is_denied: bool, reader: Reader, pointer: str) -> Composed:
    """A value among those of another query, or not among them: joined, since IN may be run for each row within NOT and OR."""
    value, others = _with_values(reader.building, operand, query, pointer)
    if reader.at_once and reader.scope is not None:
        alias = SQL(reader.building.alias())
        reader.scope.add(
            SQL("left join (select distinct v from ({}) d (v)) {} on {}.v = {}").format(others.sql, alias, alias, value)
        )
        return SQL("{}.v is {}").format(alias, SQL("null" if is_denied else "not null"))
    return SQL("{} (select from ({}) d (v) where d.v = {})").format(
        SQL("not exists" if is_denied else "exists"), others.sql, value
    )


def _met(building: Building, operand: Operand, comparison: Comparison, pointer: str) -> Composed:
    """True of one value that compares so."""
    op: str = comparison.op
    if op == "not_null":
        return SQL("{} is not null").format(key_of(operand.value, operand.kind))
    if op in PIECES:
        if operand.kind != "text" and not (operand.is_array and op == "contains"):
            raise invalid(
                f"{pointer}/op",
                f"{operand.name} is {operand.kind}: `{op}` looks in text{' and in arrays' if op == 'contains' else ''}",
            )
        if op != "contains" and comparison.query is not None:
            raise invalid(f"{pointer}/value", f"`{op}` takes a text, not a query")
        op = "=" if operand.is_array and op == "contains" else op
    elif op != "=" and operand.kind == "boolean":
        raise invalid(f"{pointer}/op", f"{operand.name} is true or false: compare it by = or !=")
    if comparison.query is not None:
        return _with_query(building, operand, op, comparison.query, pointer)
    scalars = [
        (value, f"{pointer}/values/{place}" if comparison.values else f"{pointer}/value")
        for place, value in enumerate(comparison.scalars)
    ]
    if operand.kind in DATES:
        return _with_dates(building, operand, op, scalars)
    if op in PIECES:
        return _any(_piece(building, operand, op, text_of(*each)) for each in scalars)
    return _with_plain(building, operand, op, scalars, pointer)


def _piece(building: Building, operand: Operand, op: str, text: str) -> Composed:
    """True of a text that holds a piece, begins or ends with it; of these without regard to outer spaces."""
    pattern = piece_pattern(text)
    if op == "contains":
        return SQL("({})::text ilike {}").format(operand.value, building.parameter(pattern))
    pattern = pattern.removeprefix("%") if op == "starts_with" else pattern.removesuffix("%")
    return SQL("btrim(({})::text) ilike {}").format(operand.value, building.parameter(pattern))


def _any(conditions: Iterable[Composable]) -> Composed:
    return SQL("({})").format(SQL(" or ").join(conditions))


def _with_plain(
    building: Building, operand: Operand, op: str, scalars: Sequence[tuple[Scalar, str]], pointer: str
) -> Composed:
    """Numbers, texts and truths, by Postgres' own operators."""
    value, values = operand.value, [_plain(building, operand.kind, *each) for each in scalars]
    if operand.kind == "text":
        if op != "=" and any(isinstance(scalar, (int, float)) for scalar, _ in scalars):
            raise invalid(f"{pointer}/op", f"{operand.name} is text, which is not more or less than a number")
        value = folded(value)
    if op == "=":
        return SQL("{} in ({})").format(value, SQL(", ").join(values))
    if op == "between":
        return SQL("{} between {} and {}").format(value, *values)
    return SQL("{} {} {}").format(value, SQL(op), values[0])


def _plain(building: Building, kind: Kind, value: Scalar, pointer: str) -> Composable:
    if kind in NUMERIC:
        return building.parameter(number_of(value, pointer))
    if kind == "boolean":
        return building.parameter(truth_of(value, pointer))
    return folded(building.parameter(text_of(value, pointer)))


def _with_dates(building: Building, operand: Operand, op: str, scalars: Sequence[tuple[Scalar, str]]) -> Composed:
    """Dates by the days that are named. Their parameters have no type, so that Postgres reads each as its column is: of moments
    in the time zone of the session.
    """
    spans = [building.interval(value, operand.kind, pointer) for value, pointer in scalars]
    value = operand.value

    def at(comparator: LiteralString, moment: str) -> Composed:
        return SQL("{} {} {}").format(value, SQL(comparator), building.parameter(moment))

    def until(span: Interval) -> Composed:
        return at("<=", span.start) if span.end is None else at("<", span.end)

    match op:
        case "=":
            return _any(SQL("({} and {})").format(at(">=", span.start), until(span)) for span in spans)
        case "between":
            return SQL("({} and {})").format(at(">=", spans[0].start), until(spans[1]))
        case "<=":
            return until(spans[0])
        case ">":
            return at(">", spans[0].start) if spans[0].end is None else at(">=", spans[0].end)
        case _:
            return at("<" if op == "<" else ">=", spans[0].start)


def _with_query(building: Building, operand: Operand, op: str, query: Query, pointer: str) -> Composed:
    """A value among those of another query, or compared with its only one."""
    value, others = _with_values(building, operand, query, f"{pointer}/value")
    if op == "=":
        return SQL("{} in ({})").format(value, others.sql)
    if op not in _COMPARATORS:
        raise invalid(f"{pointer}/op", f"{op} takes no query")
    if not others.is_single:
        raise invalid(f"{pointer}/value", f"{op} compares with one value: aggregate the query, or limit it to 1")
    return SQL("{} {} ({})").format(value, SQL(op), others.sql)


def _with_values(building: Building, operand: Operand, query: Query, pointer: str) -> tuple[Composable, Values]:
    """A value in the form that the values of another query are compared in, and these."""
    others = building.values_of(query, pointer)
    _check_alike(operand, others.kind, pointer)
    return folded(operand.value) if operand.kind == "text" else operand.value, others


def _with_field(operand: Operand, op: str, other: Operand, pointer: str) -> Composed:
    """A value compared with another of the same row; a moment with a day by its own day."""
    if other.many is not None:
        raise invalid(
            f"{pointer}/value/field", f"{other.name} may have several values a row: ask min(…) or max(…) of it"
        )
    if op not in _COMPARATORS:
        raise invalid(f"{pointer}/op", f"{op} compares with no other field")
    _check_alike(operand, other.kind, f"{pointer}/value")
    one, two = (
        folded(each.value)
        if each.kind == "text"
        else first_day(each.value, "day")
        if operand.kind != other.kind and each.kind == "datetime"
        else each.value
        for each in (operand, other)
    )
    return SQL("{} {} {}").format(one, SQL(op), two)


_COMPARATORS = ("=", "<", "<=", ">", ">=")


def _check_alike(operand: Operand, kind: Kind, pointer: str) -> None:
    if _family(kind) != _family(operand.kind):
        raise invalid(pointer, f"{operand.name} is {operand.kind}, and what it is compared with is {kind}")


def _family(kind: Kind) -> str:
    return "number" if kind in NUMERIC else "date" if kind in DATES else kind
