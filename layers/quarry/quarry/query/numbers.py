"""The numbers of a query with groups: aggregates over rows, and what is computed of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal
from pydantic import ValidationError

from quarry.query.conditions import all_of, by_row, key_of_name, many_values, of_merged, path_operand, row_key
from quarry.query.expressions import Parted, Scope, aggregated, filtered, in_parts, key_of
from quarry.query.paths import NUMERICAL, ROUNDED, Over, Path, defined, measure_by_name, resolve_over
from quarry.query.values import Computed, combined, invalid
from quarry.schema.algebra import Aggregate, Column, Period
from quarry.schema.source import Field, Kind
from quarry.spans.numbers import currency_code

WORDS = {
    "count_distinct": "different", "sum": "total", "avg": "average", "min": "lowest", "max": "highest",
    "stddev": "standard deviation of",
}  # fmt: skip
SIGNS = {"ratio": "/", "difference": "-", "change": "/", "product": "*", "sum": "+"}
_UNFINITE = SQL("array[{0} - {1}, {0}]")
"""How many of the values are not finite, and of how many, by the numbers of all and of finite ones."""
SHARES = frozenset(("share", "change", "percent_of_total"))
"""What is a part of 1, and said in percent."""


class Number(NamedTuple):
    """An aggregate: `sql` computes it over the columns that `Numbers` reads of each row, `column` shows it."""

    aggregate: Aggregate
    column: Column
    sql: Composed
    kind: Kind
    place: int
    unfinite: Composed | None = None
    """How many of the values are no finite numbers, and of how many, as an array."""
    is_rounded: bool = False
    """Whether its decimals may never end."""
    is_derived: bool = False
    """Whether it is computed of other numbers of its group, or of other groups."""
    currency_of: str | None = None
    defined_by: str | None = None
    """The function of a measure's definition."""
    parted: Parted | None = None
    unfinite_parted: Parted | None = None
    """The same over parts of the rows, where these add up."""

    @property
    def name(self) -> Identifier:
        """Its column."""
        return Identifier(f"v{self.place}")

    @property
    def of_none(self) -> Composable:
        """Its value over no rows."""
        return SQL("0") if (self.defined_by or self.aggregate.fn) in ("count", "count_distinct", "sum") else SQL("null")


class Numbers:
    """The aggregates over the rows of a scope. Those of a query come first; `order` and `having` may add others."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.all: list[Number] = []
        self.columns: list[Composable] = []
        """The columns that are read of each row."""
        self.period: tuple[int, Period] | None = None
        """The place of the key by whose periods groups follow each other."""
        self.keys: list[Identifier] = []
        """The columns that tell groups apart."""
        self.shown: Composable = SQL("true")
        """True of the groups that are shown, not of those before them, which `previous` alone reads."""
        self.back = 0
        """How many periods before its own a number is read of."""
        self.firsts: list[tuple[Composable, Identifier]] = []
        """The columns that say whether a row is the first of its group with what stands before the name."""
        self.once: set[str] = set()
        """The columns with the keys of other rows whose numbers count once."""

    @property
    def over_rows(self) -> list[Number]:
        """Those that are computed over rows."""
        return [number for number in self.all if not number.is_derived]

    @property
    def derived(self) -> list[Number]:
        """Those that are computed of others, each after these."""
        return [number for number in self.all if number.is_derived]

    def add(self, aggregate: Aggregate, pointer: str, *, is_hidden: bool = False) -> Number:
        """Add an aggregate, once; one that `is_hidden` has no name of its own. Raises InvalidInput."""
        existing = next((number for number in self.all if number.aggregate == aggregate), None)
        if existing is not None and (is_hidden or not existing.column.name.startswith("#")):
            return existing
        number = self._added(aggregate, pointer)
        if is_hidden:
            number = number._replace(column=replace(number.column, name=f"#{number.place}"))
        self.all.append(number)
        return number

    def _added(self, aggregate: Aggregate, pointer: str) -> Number:
        if aggregate.fn == "measure":
            return self._declared(aggregate, pointer)
        if aggregate.of:
            return self._derived(aggregate, pointer)
        only = None
        if aggregate.where:
            only = self._column(all_of(self.scope, aggregate.where, f"{pointer}/where", at_once=True))
        return self._share(aggregate, only) if aggregate.fn == "share" else self._number(aggregate, only, pointer)

    def _declared(self, aggregate: Aggregate, pointer: str) -> Number:
        """A measure that the source declares, by its definition and in its unit."""
        measure, definition = defined(aggregate, self.scope.source, pointer)
        number = self._added(definition, pointer)
        column = replace(number.column, name=self._name(aggregate), label=measure.label)
        kind = number.kind
        if measure.unit == "%":
            column = replace(column, is_share=True, unit=None)
        elif measure.unit is not None:
            is_money = measure.unit.isupper() and currency_code(measure.unit.lower()) is not None
            kind = "money" if kind == "number" and is_money else kind
            column = replace(column, unit=measure.unit, kind=kind)
        defined_by = number.defined_by or number.aggregate.fn
        return number._replace(
            aggregate=aggregate, column=column, kind=kind, place=len(self.all), defined_by=defined_by
        )

    def _derived(self, aggregate: Aggregate, pointer: str) -> Number:
        parts = [
            self.add(each, f"{pointer}/of/{place}", is_hidden=bool(each.where)) if isinstance(each, Aggregate) else each
            for place, each in enumerate(aggregate.of)
        ]
        if aggregate.is_paired:
            return self._paired(aggregate, parts, pointer)
        [part] = parts
        if not isinstance(part, Number) or part.kind not in ("number", "money"):
            raise invalid(f"{pointer}/of/0", f"{aggregate.fn} needs an aggregate that is a number")
        if aggregate.fn in ("running", "previous") and self.period is None:
            raise invalid(pointer, f"{aggregate.fn} goes from period to period: group a date by a `period`")
        own = (None, "number") if aggregate.fn in ("rank", "percent_of_total") else (part.column.unit, part.kind)
        column = Column(
            self._name(aggregate), f"{aggregate.fn.replace('_', ' ')} of {part.column.label}", own[1], own[0],
            aggregate.fn == "percent_of_total" or (part.column.is_share and aggregate.fn != "rank"),
        )  # fmt: skip
        return Number(
            aggregate, column, self._over_groups(aggregate, part), own[1], len(self.all), is_derived=True,
            is_rounded=aggregate.fn == "percent_of_total" or (part.is_rounded and aggregate.fn != "rank"),
            currency_of=part.currency_of if own[1] == "money" else None,
        )  # fmt: skip

    def _over_groups(self, aggregate: Aggregate, part: Number) -> Composed:
        """What is computed of the number of this group and of others. A period without rows is no previous one."""
        value = part.name
        if aggregate.fn == "rank":
            return SQL(
                "(case when {0} is not null then rank() over (partition by {1} order by {0} desc nulls last) end)"
            ).format(value, self.shown)
        if aggregate.fn == "percent_of_total":
            return SQL("({0}::numeric / nullif(sum({0}) filter (where {1}) over (), 0))").format(value, self.shown)
        assert self.period is not None
        place, period = self.period
        others = [name for name in self.keys if name != Identifier(f"k{place}")]
        by = SQL("partition by {} ").format(SQL(", ").join(others)) if others else SQL("").format()
        key = Identifier(f"k{place}")
        if aggregate.fn == "running":
            return SQL("(sum({}) filter (where {}) over ({}order by {} rows unbounded preceding))").format(
                value, self.shown, by, key
            )
        self.back += aggregate.steps
        back = length_of(period, aggregate.steps)
        return SQL(
            "(case when isfinite({2}) then max(case when n > 0 then {0} end) over"
            " ({1}order by {2} range between {3} preceding and {3} preceding) end)"
        ).format(value, by, key, back)

    def _paired(self, aggregate: Aggregate, parts: Sequence[Number | float], pointer: str) -> Number:
        """What is computed of two numbers. A ratio to nothing, or of a period without rows, is null."""
        one, two = (_measured(each, place) for place, each in enumerate(parts))
        sign = SIGNS[aggregate.fn]
        value = combined("-" if aggregate.fn == "change" else sign, one, two, f"{pointer}/of")
        if aggregate.fn == "change":
            value = combined("/", value, two, f"{pointer}/of")
        values = [each.name if isinstance(each, Number) else Literal(Decimal(str(each))) for each in parts]
        sql = SQL(value.template).format(*values)
        # periods that are filled in have no ratio
        if sign == "/":
            sql = SQL("(case when n > 0 then {} end)").format(sql)
        is_share = (
            aggregate.fn == "change"
            or _is_part(aggregate)
            or (sign in "+-" and all(each.column.is_share for each in parts if isinstance(each, Number)))
        )
        name = self._name(aggregate)
        label = aggregate.own_name.replace("_", " ") if aggregate.own_name else value.label
        return Number(
            aggregate, Column(name, label, value.kind, value.currency or value.unit, is_share), sql, value.kind, len(self.all),
            is_rounded=sign == "/" or any(isinstance(each, Number) and each.is_rounded for each in parts), is_derived=True,
            currency_of=value.currency_of,
        )  # fmt: skip

    def by_name(self, name: str, pointer: str) -> Number | None:
        """The aggregate of a name. One that the query does not list is added."""
        for number in self.all:
            if number.column.name == name:
                return number
        try:
            aggregate = Aggregate.model_validate(name)
        except ValidationError:
            return None
        if aggregate.fn == "measure" and measure_by_name(name, self.scope.source.measures) is None:
            return None
        return self.add(aggregate, pointer)

    def _column(self, value: Composable) -> Composed:
        if value not in self.columns:
            self.columns.append(value)
        return SQL("{}").format(Identifier(f"a{self.columns.index(value)}"))

    def _share(self, aggregate: Aggregate, only: Composable | None) -> Number:
        sql = SQL("(count(*) filter (where {}))::numeric / nullif(count(*), 0)").format(only or SQL("true"))
        column = Column(self._name(aggregate), "share", "number", is_share=True)
        parts = (aggregated("count", None, "number", only or SQL("true")), aggregated("count", None, "number"))
        parted = Parted(parts, "sum", SQL("({} / nullif({}, 0))").format)
        return Number(aggregate, column, sql, "number", len(self.all), is_rounded=True, parted=parted)

    def _number(self, aggregate: Aggregate, only: Composable | None, pointer: str) -> Number:
        function: Over = aggregate.fn  # type: ignore[assignment]
        if aggregate.field is None:
            column = Column(self._name(aggregate), "count", "number")
            sql, parted = aggregated("count", None, "number", only), in_parts("count", None, "number", only)
            return Number(aggregate, column, sql, "number", len(self.all), parted=parted)
        path = resolve_over(
            function, aggregate.field, self.scope.source, self.scope.building.schema, f"{pointer}/field"
        )
        sql, unfinite, parted, unfinite_parted = (
            (self._of_many(aggregate, function, path, only, pointer), None, None, None)
            if path.is_many
            else self._of_one(aggregate, function, path, only, pointer)
        )
        distinct_path = path._replace(over=function)
        label = f"{WORDS.get(function, function)} {path.label}"
        return Number(
            aggregate,
            Column(self._name(aggregate), label, distinct_path.kind, distinct_path.unit),
            sql,
            distinct_path.kind,
            len(self.all),
            unfinite,
            is_rounded=function in ROUNDED or (path.is_rounded and function not in ("count", "count_distinct")),
            currency_of=distinct_path.currency_of,
            parted=parted,
            unfinite_parted=unfinite_parted,
        )

    def _of_one(
        self, aggregate: Aggregate, function: Over, path: Path, only: Composable | None, pointer: str
    ) -> tuple[Composed, Composed | None, Parted | None, Parted | None]:
        """Over a value of each row; of numbers also how many are left out because they are not finite. Both over parts too."""
        operand = path_operand(self.scope, path, f"{pointer}/field")
        row_value: Composable = operand.value
        if function == "count_distinct" and path.names_rows:
            row_value = key_of_name(self.scope, path)
        elif function in NUMERICAL:
            row_value = SQL("({})::numeric").format(row_value)
        value = self._column(row_value)
        every = only
        is_once = function in NUMERICAL and path.over is None and path.repeats
        if is_once:
            only = self._once(row_key(self.scope.reach(path.steps)), only)
        if operand.kind not in ("number", "money") or function in ("count", "count_distinct"):
            parted = None if is_once else in_parts(function, value, operand.kind, only)
            return aggregated(function, value, operand.kind, only), None, parted, None
        finite, among = self._column(is_finite(row_value)), only or SQL("true")
        counts = (
            SQL("count({}) filter (where {})").format(value, among),
            SQL("count(*) filter (where {} and {})").format(among, finite),
        )
        unfinite = _UNFINITE.format(*counts)
        only = SQL("{} and {}").format(among, finite) if only else finite
        sql = aggregated(function, value, operand.kind, only, aggregate.fraction)
        if is_once:
            return sql, unfinite, *_of_one_row_each(aggregate, value, every, finite)
        parted = in_parts(function, value, operand.kind, only)
        return sql, unfinite, parted, parted and Parted(counts, "sum", _UNFINITE.format)

    def _once(self, key: Composable, only: Composable | None) -> Composed:
        """Whether a row is the first of those, in its group, that lead to the row with this key and meet `only`."""
        part = SQL(", {} is true").format(only) if only else SQL("")
        key_column = self._column(key)
        self.once.add(f"a{self.columns.index(key)}")
        by = SQL('{} collate "C"{}').format(key_column, part)
        existing = next((name for other, name in self.firsts if other == by), None)
        name = existing or Identifier(f"u{len(self.firsts)}")
        if existing is None:
            self.firsts.append((by, name))
        return SQL("{} and {}").format(name, only) if only else SQL("{}").format(name)

    def _of_many(
        self, aggregate: Aggregate, function: Over, path: Path, only: Composable | None, pointer: str
    ) -> Composed:
        """Over the values of the related rows of all rows."""
        if function == "count_distinct":
            return self._distinct_of_many(path, only, pointer)
        if function in NUMERICAL and path.repeats:
            return self._of_shared(aggregate, path, only, pointer)
        if function in ROUNDED and function != "avg":
            return self._of_all(aggregate, path, only, pointer)
        parts: tuple[Over, ...] = ("sum", "count") if function == "avg" else (function,)
        kind = path._replace(over=function).kind
        sums = [
            aggregated(
                part if part in ("min", "max") else "sum",
                self._column(
                    path_operand(self.scope, path._replace(text=f"{part}({path.text})", over=part), pointer).value
                ),
                kind,
                only,
            )
            for part in parts
        ]
        return sums[0] if len(sums) == 1 else SQL("{} / nullif({}, 0)").format(*sums)

    def _of_all(self, aggregate: Aggregate, path: Path, only: Composable | None, pointer: str) -> Composed:
        """Over all the values of related rows together."""
        rows, value = many_values(self.scope, path, pointer, at_once=True)
        of_row = rows.of_row(SQL("jsonb_agg({})").format(value))
        return SQL(
            "(select {} from jsonb_array_elements(jsonb_agg({}){}) r (v), jsonb_array_elements_text(nullif(r.v, 'null')) e (v))"
        ).format(
            aggregated(aggregate.fn, SQL("e.v"), "number", is_finite(SQL("e.v")), aggregate.fraction),
            self._column(of_row),
            filtered(only),
        )

    def _of_shared(self, aggregate: Aggregate, path: Path, only: Composable | None, pointer: str) -> Composed:
        """Over the numbers of related rows that several rows have in common, each once."""
        if path.is_array or (isinstance(path.end, Field) and path.end.is_array):
            raise invalid(f"{pointer}/field", f"{path.text} has several values a row: ask its own source")
        rows, value = many_values(self.scope, path, pointer, at_once=True)
        of_row = self._column(rows.of_row(by_row(rows.scope, value)))
        return of_merged(aggregate.fn, SQL("jsonb_agg({}){}").format(of_row, filtered(only)), aggregate.fraction)

    def _distinct_of_many(self, path: Path, only: Composable | None, pointer: str) -> Composed:
        rows, value = many_values(self.scope, path, pointer, at_once=True)
        keys = rows.of_row(SQL("jsonb_agg(distinct {})").format(key_of(value, path.kind)))
        of_row = self._column(SQL("coalesce({}, '[]')").format(keys))
        return SQL(
            "(select count(distinct e.v) from jsonb_array_elements(jsonb_agg({}){}) r (v), jsonb_array_elements_text(r.v) e (v))"
        ).format(of_row, filtered(only))

    def _name(self, aggregate: Aggregate) -> str:
        """Its name; a second one of this name is `count#2`."""
        same = sum(number.aggregate.name == aggregate.name for number in self.all)
        return f"{aggregate.name}#{same + 1}" if same else aggregate.name


_STEPS: dict[Period, tuple[int, str]] = {
    "day": (1, "days"), "week": (7, "days"), "month": (1, "months"), "quarter": (3, "months"), "year": (12, "months"),
}  # fmt: skip


def length_of(period: Period, steps: int = 1) -> Composed:
    """The length of this number of steps of a period."""
    number, unit = _STEPS[period]
    return SQL("interval {}").format(Literal(f"{steps * number} {unit}"))


def _of_one_row_each(
    aggregate: Aggregate, value: Composable, only: Composable | None, finite: Composable
) -> tuple[Parted, Parted]:
    """An aggregate over the values of other rows, each of which is a part, and how many of them are not finite."""
    finite_only = SQL("{} and {}").format(only, finite) if only else finite
    values = (aggregated("min", value, "number", only), aggregated("min", value, "number", finite_only))

    def computed(_: Composable, value: Composable) -> Composed:
        return aggregated(aggregate.fn, value, "number", None, aggregate.fraction)

    def unfinite(every: Composable, value: Composable) -> Composed:
        return _UNFINITE.format(*(SQL("count({})").format(each) for each in (every, value)))

    return Parted(values, "min", computed, is_once=True), Parted(values, "min", unfinite, is_once=True)


def is_finite(value: Composable) -> Composed:
    """Whether it is a finite number: only these have a scale. Postgres takes NaN for the greatest number."""
    return SQL("(scale(({})::numeric) is not null)").format(value)


_PARTED = ("count", "count_distinct", "sum")


def _is_part(ratio: Aggregate) -> bool:
    """Whether a ratio is a part of a whole: of some of the rows to the same of all of them."""
    if ratio.fn != "ratio" or len(ratio.operands) != len(ratio.of):
        return False
    part, whole = ratio.operands
    is_same = (part.fn, part.field) == (whole.fn, whole.field) and part.fn in _PARTED
    return is_same and len(part.where) > len(whole.where) and all(each in part.where for each in whole.where)


def _measured(part: Number | float, place: int) -> Computed:
    """A number as arithmetic knows it, by its place among the two."""
    template = f"{{{place}}}"
    if not isinstance(part, Number):
        return Computed(template, "number", str(part), is_constant=True)
    is_money = part.kind == "money"
    unit, label = part.column.unit, part.column.label
    return Computed(
        template, "number" if part.kind == "year" else part.kind, label, unit=None if is_money else unit,
        currency=unit if is_money else None, currency_of=part.currency_of,
    )  # fmt: skip
